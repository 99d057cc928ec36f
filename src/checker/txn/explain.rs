//! Transactions and cycles in words, of bounded size whatever they hold.

mod cycle;
mod shortcut;
#[cfg(test)]
mod tests;

pub use cycle::{cycle_anomaly, cycle_txn, omitted, outline};

use crate::checker::Anomaly;
use crate::checker::moment::seconds;
use crate::checker::txn::table::{MicroOp, Moment, NONE, Outcome, Table, Txn};
use crate::op::{MILLISECOND, SECOND};

/// How many micro-operations of a transaction, and elements of a list, are shown.
const SHOWN: usize = 8;
const ELEMENTS: usize = 4;

/// An inference: it can say why one transaction depends on another.
pub trait Justify {
    /// On an edge of this kind (`rel::WW`, `rel::WR` or `rel::RW`) between two transactions, each with the
    /// name by which it is called.
    fn justify(&self, from: (u32, &str), to: (u32, &str), kind: u8) -> Reason;
}

/// Why one transaction depends on another.
pub struct Reason {
    /// The key by which it does, and what was overwritten with, read or missed there.
    pub about: Option<(u32, String)>,
    /// One sentence.
    pub text: String,
}

/// ` and completed 40 ms earlier`, if the one was over so long before the other began.
pub fn earlier(table: &Table, one: u32, other: u32) -> String {
    let ended = table.txn(one).completed.filter(|_| table.txn(one).is_ok());
    let (Some(ended), Some(began)) = (ended, table.txn(other).invoked) else {
        return String::new();
    };
    match began.time.saturating_sub(ended.time) {
        0 => String::new(),
        short @ 1..MILLISECOND => format!(" and completed {} µs earlier", short.div_ceil(1_000)),
        some @ MILLISECOND..SECOND => format!(" and completed {} ms earlier", some / MILLISECOND),
        long => format!(" and completed {} earlier", seconds(long)),
    }
}

/// False of a transaction of a history without times, where all are 0.
fn is_timed(txn: &Txn) -> bool {
    [txn.invoked, txn.completed].iter().flatten().any(|moment| moment.time > 0)
}

/// A list, but of a long one only its end: `[1 2 3]`, `[.. 7 8 9 10]`.
pub fn list_text(table: &Table, elements: &[u32]) -> String {
    let start = elements.len().saturating_sub(ELEMENTS);
    let mut text = String::from(if start > 0 { "[.. " } else { "[" });
    for (position, element) in elements[start..].iter().enumerate() {
        if position > 0 {
            text.push(' ');
        }
        text += &table.value_text(*element);
    }
    text + "]"
}

/// Who did it and when, and what it did to these keys; of all keys if there are none.
pub fn txn_text(table: &Table, id: u32, keys: &[u32]) -> String {
    let txn = table.txn(id);
    let did = doings(table, id, keys).join(", ");
    format!("process {}'s {{{did}}}{}", txn.process, when(txn))
}

/// What a transaction did to these keys, one by one; to all keys if there are none. What is left out is `..`.
fn doings(table: &Table, id: u32, keys: &[u32]) -> Vec<String> {
    let wanted = |op: &&MicroOp| keys.is_empty() || keys.contains(&op.key());
    let all = table.micro_ops(id);
    let mut parts: Vec<String> =
        all.iter().filter(wanted).take(SHOWN).map(|op| micro_op_text(table, *op)).collect();
    if parts.len() < all.len() {
        parts.push("..".to_owned());
    }
    parts
}

fn when(txn: &Txn) -> String {
    let place = |at: Moment| match is_timed(txn) {
        false => format!("index {}", at.index),
        true => format!("{} (index {})", seconds(at.time), at.index),
    };
    let ended = match (txn.outcome, txn.completed) {
        (Outcome::Ok, Some(at)) => format!("ok at {}", place(at)),
        (Outcome::Fail, Some(at)) => format!("failed at {}", place(at)),
        (_, Some(at)) => format!("indeterminate at {}", place(at)),
        (_, None) => "never completed".to_owned(),
    };
    match txn.invoked {
        Some(at) => format!(", invoked at {}, {ended}", place(at)),
        None => format!(", {ended}"),
    }
}

fn micro_op_text(table: &Table, op: MicroOp) -> String {
    let key = table.key_text(op.key());
    match op {
        MicroOp::Write { value, .. } if table.holds_lists() => {
            format!("append {key} {}", table.value_text(value))
        }
        MicroOp::Write { value, .. } => format!("w {key} {}", table.value_text(value)),
        MicroOp::Read { value, .. } => format!("r {key} {}", table.value_text(value)),
        MicroOp::ReadList { read, .. } => {
            format!("r {key} {}", list_text(table, table.lists.seen(read)))
        }
        MicroOp::Asked { .. } => format!("r {key} ?"),
    }
}

/// An anomaly about these transactions: its times and operations are theirs.
pub fn anomaly(table: &Table, kind: &str, ids: &[u32], summary: String) -> Anomaly {
    let txns = || ids.iter().map(|id| table.txn(*id));
    let mut events: Vec<Moment> = txns().map(Txn::event).collect();
    events.sort_by_key(|moment| moment.index);
    events.dedup();
    let ends = txns().filter_map(|txn| txn.completed).map(|moment| moment.time).max();
    let from = events.iter().map(|moment| moment.time).min().unwrap_or(0);
    Anomaly {
        kind: kind.to_owned(),
        summary,
        details: Vec::new(),
        key: None,
        nodes: Vec::new(),
        ops: events.iter().map(|moment| moment.index).collect(),
        from,
        to: ends.unwrap_or(from).max(from),
        faults: None,
        cycle: None,
    }
}

/// The lists that a transaction read of a key.
pub fn lists_read(table: &Table, id: u32, key: u32) -> impl Iterator<Item = &[u32]> {
    table.micro_ops(id).iter().filter_map(move |op| match op {
        MicroOp::ReadList { key: other, read } if *other == key => Some(table.lists.seen(*read)),
        _ => None,
    })
}

/// What a transaction wrote to a key, in order.
pub fn written(table: &Table, id: u32, key: u32) -> impl Iterator<Item = u32> {
    table.micro_ops(id).iter().filter_map(move |op| match op {
        MicroOp::Write { key: other, value } if *other == key && *value != NONE => Some(*value),
        _ => None,
    })
}
