//! The sources of version orders, each as edges between versions of one key.

use rustc_hash::FxHashMap;

use super::footprint::Footprints;
use super::initial::InitialVersions;
use super::touches::Touches;
use super::version_order::{Source, VersionEdge};
use super::versions::Registers;
use crate::checker::txn::table::{NONE, Outcome};

/// What was there at first comes before all else.
pub(crate) fn initial(registers: &Registers, initial: &InitialVersions) -> Vec<VersionEdge> {
    let mut first = vec![NONE; registers.table.keys.len()];
    for version in 0..registers.versions.len() as u32 {
        if initial.is(version) {
            first[registers.key(version) as usize] = version;
        }
    }
    let mut edges = Vec::new();
    for to in 0..registers.versions.len() as u32 {
        let from = first[registers.key(to) as usize];
        if from != NONE && !initial.is(to) && may_be(registers, to) {
            edges.push(VersionEdge { from, to, source: Source::Initial });
        }
    }
    edges
}

/// Whether somebody may have written a version so that it counts.
fn may_be(registers: &Registers, version: u32) -> bool {
    !matches!(registers.versions[version as usize].writer, super::versions::Writer::Failed(_))
}

/// What a transaction wrote follows what it read before of the key.
pub(crate) fn writes_follow_reads(registers: &Registers, touches: &Touches) -> Vec<VersionEdge> {
    let mut edges = Vec::new();
    for key in 0..touches.keys() {
        for touch in touches.of_key(key) {
            let is_ok = registers.table.txn(touch.txn).is_ok();
            if is_ok && touch.first != touch.last {
                let (from, to) = (touch.first, touch.last);
                edges.push(VersionEdge { from, to, source: Source::WritesFollowReads });
            }
        }
    }
    edges
}

/// Each process meets the versions of a key in their order.
pub(crate) fn sequential(registers: &Registers, touches: &Touches) -> Vec<VersionEdge> {
    let mut edges = Vec::new();
    let mut met: FxHashMap<u32, u32> = FxHashMap::default();
    for key in 0..touches.keys() {
        met.clear();
        for touch in touches.of_key(key) {
            let txn = registers.table.txn(touch.txn);
            let former = met.get(&txn.process).copied();
            if let Some(from) = former.filter(|from| *from != touch.first) {
                edges.push(VersionEdge { from, to: touch.first, source: Source::Sequential });
            }
            // An indeterminate one may act late.
            if txn.outcome == Outcome::Ok {
                met.insert(txn.process, touch.last);
            }
        }
    }
    edges
}

/// The order of writers as it was stated: the place of each transaction, `u64::MAX` where none was.
pub(crate) fn stated(
    registers: &Registers,
    prints: &Footprints,
    places: &[u64],
) -> Vec<VersionEdge> {
    let mut writes: Vec<(u32, u64, u32)> = Vec::new();
    for (txn, known) in registers.table.txns() {
        let place = places[txn as usize];
        if known.outcome == Outcome::Fail || place == u64::MAX {
            continue;
        }
        let versions = prints.writes.of(txn).iter();
        writes.extend(versions.map(|version| (registers.key(*version), place, *version)));
    }
    writes.sort_unstable();
    let pairs = writes.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1);
    pairs
        .map(|pair| VersionEdge { from: pair[0].2, to: pair[1].2, source: Source::Stated })
        .collect()
}
