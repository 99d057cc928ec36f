//! Updates that rest on what was aborted, or that take no notice of each other.

use super::versions::Versions;
use crate::checker::Anomaly;
use crate::checker::txn::explain::{anomaly, list_text, txn_text};
use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::table::{ListRead, MicroOp, NONE, Outcome, Table};

/// `dirty-update`: a committed transaction appended to what an aborted one had left.
pub fn dirty(table: &Table, versions: &Versions, judgement: &mut Judgement) {
    for key in 0..table.keys.len() as u32 {
        let mut aborted: Option<u32> = None;
        for writer in versions.writers(key).iter().filter(|writer| **writer != NONE) {
            match (table.txn(*writer).outcome, aborted) {
                (Outcome::Fail, None) => aborted = Some(*writer),
                (Outcome::Ok, Some(failed)) => {
                    judgement.tell("dirty-update", || dirty_update(table, key, failed, *writer));
                    aborted = None;
                }
                // Of an indeterminate one nobody knows.
                _ => {}
            }
        }
    }
}

fn dirty_update(table: &Table, key: u32, failed: u32, writer: u32) -> Anomaly {
    let key_text = table.key_text(key).into_owned();
    let told = format!(
        "a committed transaction appended to key {key_text} after one that had failed: {}; the one that failed: {}",
        txn_text(table, writer, &[key]),
        txn_text(table, failed, &[key])
    );
    Anomaly { key: Some(key_text), ..anomaly(table, "dirty-update", &[failed, writer], told) }
}

/// `incompatible-order`: reads saw what one transaction appended to a key in another order.
pub fn reordered(table: &Table, versions: &Versions, judgement: &mut Judgement) {
    for (id, _) in table.txns().filter(|(_, txn)| txn.outcome != Outcome::Fail) {
        let ops = table.micro_ops(id);
        for (position, op) in ops.iter().enumerate() {
            let MicroOp::Write { key, value: later } = *op else { continue };
            let before = ops[..position].iter().filter_map(|op| match *op {
                MicroOp::Write { key: other, value } if other == key => Some(value),
                _ => None,
            });
            let overtaken = |earlier: &u32| {
                let (earlier, later) = (versions.place(key, *earlier), versions.place(key, later));
                later.is_some() && earlier > later
            };
            for earlier in before.filter(overtaken).take(1) {
                judgement
                    .tell("incompatible-order", || wrong_order(table, id, key, (earlier, later)));
            }
        }
    }
}

fn wrong_order(table: &Table, id: u32, key: u32, (earlier, later): (u32, u32)) -> Anomaly {
    let key_text = table.key_text(key).into_owned();
    let told = format!(
        "reads of key {key_text} saw {} before {}, which a transaction appended in the other order: {}",
        table.value_text(later),
        table.value_text(earlier),
        txn_text(table, id, &[key])
    );
    Anomaly { key: Some(key_text), ..anomaly(table, "incompatible-order", &[id], told) }
}

/// An ok transaction that read a key and then appended to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Update {
    key: u32,
    branch: u32,
    length: u32,
    txn: u32,
}

/// `lost-update`: several committed transactions read the same of a key and then appended to it.
pub fn lost(table: &Table, judgement: &mut Judgement) {
    let mut updates: Vec<Update> = Vec::new();
    for (id, _) in table.txns().filter(|(_, txn)| txn.is_ok()) {
        updates_of(table, id, &mut updates);
    }
    updates.sort_unstable();
    let same = |one: &Update, other: &Update| {
        (one.key, one.branch, one.length) == (other.key, other.branch, other.length)
    };
    for group in updates.chunk_by(same).filter(|group| group.len() > 1) {
        judgement.tell("lost-update", || lost_update(table, group));
    }
}

fn updates_of(table: &Table, id: u32, updates: &mut Vec<Update>) {
    let ops = table.micro_ops(id);
    for (position, op) in ops.iter().enumerate() {
        let MicroOp::Write { key, .. } = *op else { continue };
        let before = ops[..position].iter().filter(|other| other.key() == key);
        let mut before = before.peekable();
        // The first that it did with this key was a read, and this is its first append.
        let Some(MicroOp::ReadList { read, .. }) = before.peek().copied() else { continue };
        if before.all(|other| !matches!(other, MicroOp::Write { .. })) {
            let ListRead { branch, length } = table.lists.canonical(key, *read);
            updates.push(Update { key, branch, length, txn: id });
        }
    }
}

fn lost_update(table: &Table, group: &[Update]) -> Anomaly {
    let Update { key, branch, length, .. } = group[0];
    let key_text = table.key_text(key).into_owned();
    let seen = list_text(table, table.lists.seen(ListRead { branch, length }));
    let ids: Vec<u32> = group.iter().take(8).map(|update| update.txn).collect();
    let told = format!(
        "{} committed transactions read {seen} of key {key_text} and then appended to it",
        group.len()
    );
    let details = ids.iter().map(|id| txn_text(table, *id, &[key])).collect();
    Anomaly { key: Some(key_text), details, ..anomaly(table, "lost-update", &ids, told) }
}
