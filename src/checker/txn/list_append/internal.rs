//! Transactions that contradict themselves.

use super::versions::Versions;
use crate::checker::txn::explain::{anomaly, list_text, txn_text};
use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::table::{ListRead, MicroOp, Table};

/// Micro-operations that are compared with each other before anything is kept of them.
const SHORT: usize = 32;

/// What a transaction must see of a key next: its last read of it, and what it appended since.
struct Expected {
    key: u32,
    read: Option<ListRead>,
    appended: Vec<u32>,
}

/// `internal`: an ok transaction read something else than it had read before and appended since.
/// `future-read`: it read what it appended only later.
pub fn check(table: &Table, versions: &Versions, judgement: &mut Judgement) {
    let mut expected: Vec<Expected> = Vec::new();
    for (id, txn) in table.txns() {
        if !txn.is_ok() || !may_repeat(table.micro_ops(id)) {
            continue;
        }
        expected.clear();
        if let Some((key, read)) = first_contradiction(table, id, &mut expected) {
            judgement.tell("internal", || {
                let seen = list_text(table, table.lists.seen(read));
                let key = table.key_text(key);
                let what = txn_text(table, id, &[]);
                let told = format!("a transaction read {seen} of key {key}, which is not what it had read and appended before: {what}");
                crate::checker::Anomaly { key: Some(key.into_owned()), ..anomaly(table, "internal", &[id], told) }
            });
        }
        if let Some((key, value)) = future_read(table, versions, id) {
            judgement.tell("future-read", || {
                let (key, value) = (table.key_text(key), table.value_text(value));
                let what = txn_text(table, id, &[]);
                let told = format!(
                    "a transaction read {value} of key {key} before it appended it: {what}"
                );
                crate::checker::Anomaly {
                    key: Some(key.into_owned()),
                    ..anomaly(table, "future-read", &[id], told)
                }
            });
        }
    }
}

/// Whether a transaction may have done two things with one key; of a long one that is taken for granted.
fn may_repeat(ops: &[MicroOp]) -> bool {
    let repeats = |at: usize| ops[..at].iter().any(|earlier| earlier.key() == ops[at].key());
    ops.len() > SHORT || (1..ops.len()).any(repeats)
}

fn first_contradiction(
    table: &Table,
    id: u32,
    expected: &mut Vec<Expected>,
) -> Option<(u32, ListRead)> {
    for op in table.micro_ops(id) {
        let key = op.key();
        let place = expected.iter().position(|expected| expected.key == key);
        match (*op, place) {
            (MicroOp::Write { value, .. }, Some(place)) => expected[place].appended.push(value),
            (MicroOp::Write { value, .. }, None) => {
                expected.push(Expected { key, read: None, appended: vec![value] });
            }
            (MicroOp::ReadList { read, .. }, Some(place)) => {
                if !fits(table, &expected[place], read) {
                    return Some((key, read));
                }
                expected[place].read = Some(read);
                expected[place].appended.clear();
            }
            (MicroOp::ReadList { read, .. }, None) => {
                expected.push(Expected { key, read: Some(read), appended: Vec::new() });
            }
            _ => {}
        }
    }
    None
}

fn fits(table: &Table, expected: &Expected, read: ListRead) -> bool {
    let seen = table.lists.seen(read);
    let Some(before) = seen.len().checked_sub(expected.appended.len()) else { return false };
    if seen[before..] != expected.appended[..] {
        return false;
    }
    let Some(earlier) = expected.read else { return true };
    let same = earlier.branch == read.branch && earlier.length as usize == before;
    same || table.lists.seen(earlier) == &seen[..before]
}

fn future_read(table: &Table, versions: &Versions, id: u32) -> Option<(u32, u32)> {
    let ops = table.micro_ops(id);
    for (position, op) in ops.iter().enumerate() {
        let MicroOp::Write { key, value } = *op else { continue };
        let saw = |op: &MicroOp| match *op {
            MicroOp::ReadList { key: other, read } if other == key => {
                saw(table, versions, key, read, value)
            }
            _ => false,
        };
        if ops[..position].iter().any(saw) {
            return Some((key, value));
        }
    }
    None
}

fn saw(table: &Table, versions: &Versions, key: u32, read: ListRead, value: u32) -> bool {
    if read.branch == table.lists.longest(key)
        && versions.place(key, value).is_none_or(|place| place >= read.length)
    {
        return false;
    }
    table.lists.seen(read).contains(&value)
}
