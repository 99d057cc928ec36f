//! Reads of what must not be seen: aborted, intermediate, twice, never written, in another order.

use rustc_hash::{FxHashMap, FxHashSet};

use super::versions::Versions;
use crate::checker::Anomaly;
use crate::checker::txn::explain::{anomaly, list_text, txn_text};
use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::table::{ListRead, MicroOp, NONE, Outcome, Table};

/// Something wrong with an element of a branch: reads that are longer than its place saw it.
#[derive(Clone, Copy, Debug)]
struct Flaw {
    place: u32,
    kind: &'static str,
}

/// All anomalies of single reads.
pub fn check(table: &Table, versions: &Versions, judgement: &mut Judgement) {
    let mut flaws = flaws(table, versions);
    if let Some(index) = table.blind() {
        forgive_garbage(index, &mut flaws, judgement);
    }
    let disputed = table.lists.disputed();
    let mut last = Vec::new();
    for (id, _) in table.txns().filter(|(_, txn)| txn.is_ok()) {
        for op in table.micro_ops(id) {
            let MicroOp::ReadList { key, read } = *op else { continue };
            if read.length == 0 {
                continue;
            }
            let flaws = flaws.get(&read.branch).into_iter().flatten();
            for flaw in flaws.filter(|flaw| flaw.place < read.length) {
                tell(table, versions, judgement, (id, key, read), *flaw);
            }
            intermediate(table, versions, judgement, (id, key, read));
            if disputed.binary_search(&key).is_ok() && !table.lists.agrees(key, read) {
                last.push((id, key, read));
            }
        }
    }
    for (id, key, read) in last {
        judgement.tell("incompatible-order", || disagreement(table, id, key, read));
    }
}

/// What nobody wrote may be of a transaction of which only the end is known.
fn forgive_garbage(index: u64, flaws: &mut FxHashMap<u32, Vec<Flaw>>, judgement: &mut Judgement) {
    let before: usize = flaws.values().map(Vec::len).sum();
    flaws.values_mut().for_each(|flaws| flaws.retain(|flaw| flaw.kind != "garbage-read"));
    if flaws.values().map(Vec::len).sum::<usize>() < before {
        judgement.doubt(format!(
            "elements were read that nobody appended, unless the indeterminate transaction at index {index} did, of which is not told what it was to do"
        ));
    }
}

/// By branch the first element of each kind of flaw.
fn flaws(table: &Table, versions: &Versions) -> FxHashMap<u32, Vec<Flaw>> {
    let mut seen = FxHashSet::default();
    let mut all = FxHashMap::default();
    for (branch, key, elements) in table.lists.branches() {
        let flaws = branch_flaws(table, versions, key, elements, &mut seen);
        if !flaws.is_empty() {
            all.insert(branch, flaws);
        }
    }
    all
}

fn branch_flaws(
    table: &Table,
    versions: &Versions,
    key: u32,
    elements: &[u32],
    seen: &mut FxHashSet<u32>,
) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = Vec::new();
    let order = versions.elements(key);
    // What a key's order holds, in order, it holds but once.
    let known = elements == order;
    seen.clear();
    for (place, element) in elements.iter().enumerate() {
        let twice = !known && !seen.insert(*element);
        let writer = if known {
            versions.writers(key)[place]
        } else {
            versions.writer(key, *element).unwrap_or(NONE)
        };
        let kind = match writer {
            _ if twice => "duplicate-elements",
            NONE => "garbage-read",
            writer if table.txn(writer).outcome == Outcome::Fail => "G1a",
            _ => continue,
        };
        if flaws.iter().all(|flaw| flaw.kind != kind) {
            flaws.push(Flaw { place: place as u32, kind });
        }
    }
    flaws
}

type Seen = (u32, u32, ListRead);

fn tell(
    table: &Table,
    versions: &Versions,
    judgement: &mut Judgement,
    (id, key, read): Seen,
    flaw: Flaw,
) {
    judgement.tell(flaw.kind, || {
        let element = table.lists.seen(read)[flaw.place as usize];
        let (key_text, value) = (table.key_text(key), table.value_text(element));
        let reader = txn_text(table, id, &[key]);
        let writer = versions.writer(key, element);
        let what = match (flaw.kind, writer) {
            ("G1a", Some(writer)) => {
                format!(
                    "{value} of key {key_text}, whose transaction had failed: {}",
                    txn_text(table, writer, &[key])
                )
            }
            ("duplicate-elements", _) => format!("{value} of key {key_text} twice"),
            _ => format!("{value} of key {key_text}, which nobody appended"),
        };
        let ids: Vec<u32> = [id].into_iter().chain(writer).collect();
        let told = format!("a transaction read {what}; the reader: {reader}");
        Anomaly { key: Some(key_text.into_owned()), ..anomaly(table, flaw.kind, &ids, told) }
    });
}

/// `G1b`: the last element that was read is not the last that its transaction appended.
fn intermediate(
    table: &Table,
    versions: &Versions,
    judgement: &mut Judgement,
    (id, key, read): Seen,
) {
    let last = || table.lists.seen(read).last();
    // By place if it has one, which needs no hashing.
    let place = versions.place_after(table, key, read).and_then(|after| after.checked_sub(1));
    let writer = match place {
        Some(place) => versions.went_on_at(key, place),
        None => last().and_then(|last| versions.went_on(key, *last)),
    };
    let Some(writer) = writer.filter(|writer| *writer != id) else { return };
    let Some(last) = last() else { return };
    judgement.tell("G1b", || {
        let (key_text, value) = (table.key_text(key), table.value_text(*last));
        let told = format!(
            "a transaction read {value} of key {key_text} as the last element, though the transaction that appended it appended more: {}; the reader: {}",
            txn_text(table, writer, &[key]),
            txn_text(table, id, &[key])
        );
        Anomaly { key: Some(key_text.into_owned()), ..anomaly(table, "G1b", &[writer, id], told) }
    });
}

fn disagreement(table: &Table, id: u32, key: u32, read: ListRead) -> Anomaly {
    let (seen, longest) = (table.lists.seen(read), table.lists.longest_of(key));
    let place = seen.iter().zip(longest).position(|(one, other)| one != other).unwrap_or(0);
    let end = (place + 2).min(seen.len());
    let told = format!(
        "reads of key {} disagree at position {}: one begins {}, the longest begins {}; the reader: {}",
        table.key_text(key),
        place,
        list_text(table, &seen[..end]),
        list_text(table, &longest[..(place + 2).min(longest.len())]),
        txn_text(table, id, &[key])
    );
    Anomaly {
        key: Some(table.key_text(key).into_owned()),
        ..anomaly(table, "incompatible-order", &[id], told)
    }
}
