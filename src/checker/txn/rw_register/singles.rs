//! What is wrong without any cycle, in words: single reads, lost and dirty updates, cyclic versions.

use super::direct::{Direct, Kind};
use super::footprint::Footprints;
use super::versions::{Registers, Writer};
use super::words::Cast;
use crate::checker::Anomaly;

pub(crate) fn explain_direct(registers: &Registers, direct: &Direct, name: &str) -> Anomaly {
    let mut cast = Cast::of(registers);
    let reader = cast.name(direct.reader);
    let process = registers.table.txn(direct.reader).process;
    let (read, key) = (registers.told(direct.version), registers.key(direct.version));
    let before = || registers.value_text(direct.other);
    let what = match direct.kind {
        Kind::NotOwnWrite => format!("though it had itself written {} there before", before()),
        Kind::NotRepeatable => {
            format!("though it had read {} there before and wrote nothing between", before())
        }
        Kind::Aborted => {
            format!("which only {} wrote, and that failed", cast.name(direct.writer))
        }
        Kind::Intermediate => {
            format!("which {} wrote and then overwrote itself", cast.name(direct.writer))
        }
        Kind::Future => "which it wrote itself, but only later".to_owned(),
        Kind::Garbage => {
            "which nobody wrote, and another value is said to have been there at first".to_owned()
        }
        Kind::LateInProcess | Kind::LateInRealTime => {
            let before = cast.name(direct.writer);
            let key = registers.table.key_text(key);
            format!(
                "which nobody wrote, and {before} had met another value of {key} and was over before"
            )
        }
        Kind::Unwritten => {
            let other = registers.told(direct.other);
            format!(
                "and {other} was read too: nobody wrote either, and only one can have been there at first"
            )
        }
    };
    let summary = format!("process {process} read {read} ({reader}), {what}");
    let anomaly = cast.anomaly(name, summary, Vec::new());
    Anomaly { key: Some(registers.table.key_text(key).into_owned()), ..anomaly }
}

/// Transactions that read the same version of a key and both replaced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostUpdate {
    pub version: u32,
    pub txns: Vec<u32>,
}

/// Ok transactions only, by version. Linear.
pub(crate) fn lost_updates(registers: &Registers, prints: &Footprints) -> Vec<LostUpdate> {
    let mut updates: Vec<(u32, u32)> = Vec::new();
    let mut written = super::footprint::OwnWrites::of(registers);
    for (txn, _) in registers.table.txns().filter(|(_, known)| known.is_ok()) {
        for version in prints.writes.of(txn) {
            written.put(txn, registers.key(*version), 0);
        }
        let reads = prints.reads.of(txn).iter();
        let replaced = reads.filter(|v| written.get(txn, registers.key(**v)).is_some());
        updates.extend(replaced.map(|version| (*version, txn)));
    }
    updates.sort_unstable();
    updates.dedup();
    let groups = updates.chunk_by(|one, other| one.0 == other.0);
    let several = groups.filter(|group| {
        let ambiguous = registers.versions[group[0].0 as usize].writer == Writer::Several;
        group.len() > 1 && !ambiguous
    });
    several
        .map(|group| LostUpdate {
            version: group[0].0,
            txns: group.iter().map(|(_, txn)| *txn).collect(),
        })
        .collect()
}

pub(crate) fn explain_lost(registers: &Registers, lost: &LostUpdate) -> Anomaly {
    let mut cast = Cast::of(registers);
    let names: Vec<String> = lost.txns.iter().take(8).map(|txn| cast.name(*txn)).collect();
    let key = registers.table.key_text(registers.key(lost.version));
    let summary = format!(
        "{} transactions read {} and each replaced it: all updates but one were lost",
        lost.txns.len(),
        registers.told(lost.version)
    );
    let reason = format!("{} all wrote {key} without having seen each other", names.join(", "));
    let anomaly = cast.anomaly("lost-update", summary, vec![reason]);
    Anomaly { key: Some(key.into_owned()), ..anomaly }
}

/// Reads of failed writes by a transaction that then wrote the key itself.
pub(crate) fn dirty_updates<'d>(
    registers: &Registers,
    prints: &Footprints,
    direct: &'d [Direct],
) -> Vec<&'d Direct> {
    let aborted = direct.iter().filter(|direct| direct.kind == Kind::Aborted);
    let wrote = |direct: &&Direct| {
        let key = registers.key(direct.version);
        prints.writes.of(direct.reader).iter().any(|version| registers.key(*version) == key)
    };
    aborted.filter(wrote).collect()
}

pub(crate) fn explain_dirty(registers: &Registers, direct: &Direct) -> Anomaly {
    let mut cast = Cast::of(registers);
    let (reader, writer) = (cast.name(direct.reader), cast.name(direct.writer));
    let read = registers.told(direct.version);
    let summary = format!(
        "{reader} read {read}, which {writer} wrote and which failed, and built a committed write on it"
    );
    let key = registers.table.key_text(registers.key(direct.version)).into_owned();
    Anomaly { key: Some(key), ..cast.anomaly("dirty-update", summary, Vec::new()) }
}
