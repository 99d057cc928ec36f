//! What a transaction was to see and did not, as a cycle and in words.

use super::knot::Knot;
use crate::checker::txn::cycles::{Cycle, CycleStep};
use crate::checker::txn::explain::{Justify, Reason, list_text, lists_read, written};
use crate::checker::txn::graph::rel;
use crate::checker::txn::list_append::versions::Versions;
use crate::checker::txn::table::{MicroOp, Table};

/// A transaction, and the way to it from one of which it missed an append.
#[derive(Clone, Debug)]
pub struct Missed {
    way: Vec<CycleStep>,
    causal: bool,
}

impl Missed {
    /// The reader read from the writer, or came after it in its session.
    pub fn directly(knot: &Knot, reader: u32, writer: u32, kind: u8) -> Missed {
        let id = |member: u32| knot.members[member as usize];
        let step = CycleStep { from: id(writer), to: id(reader), kind };
        Missed { way: vec![step], causal: false }
    }

    /// The writer happened before the reader by these steps.
    pub fn causally(way: Vec<CycleStep>) -> Missed {
        Missed { way, causal: true }
    }

    /// The way, and back by what was missed.
    pub fn into_cycle(self) -> Cycle {
        let by_process = self.way.iter().any(|step| step.kind == rel::PROCESS);
        let name = match (self.causal, by_process) {
            (false, false) => "fractured-read",
            (false, true) => "fractured-read-process",
            (true, false) => "causality-violation",
            (true, true) => "causality-violation-process",
        };
        let mut steps = self.way;
        if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
            steps.push(CycleStep { from: last.to, to: first.from, kind: rel::RW });
        }
        Cycle { name, steps }
    }
}

/// Any element that a list holds shows who appended it, and any that it lacks, who is missed.
pub struct Reasons<'a> {
    pub table: &'a Table,
    pub versions: &'a Versions,
}

impl Justify for Reasons<'_> {
    fn justify(&self, from: (u32, &str), to: (u32, &str), kind: u8) -> Reason {
        let why = match kind {
            rel::RW => self.lacked(from, to),
            _ => self.held(from, to),
        };
        why.unwrap_or_else(|| Reason {
            about: None,
            text: format!("{} comes after {}", to.1, from.1),
        })
    }
}

impl Reasons<'_> {
    fn keys(&self, id: u32) -> Vec<u32> {
        let reads = |op: &MicroOp| matches!(op, MicroOp::ReadList { .. });
        let ops = self.table.micro_ops(id).iter().filter(|op| reads(op));
        let mut keys: Vec<u32> = ops.map(|op| op.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn held(&self, from: (u32, &str), to: (u32, &str)) -> Option<Reason> {
        self.keys(to.0).into_iter().find_map(|key| {
            let appended: Vec<u32> = written(self.table, from.0, key).collect();
            lists_read(self.table, to.0, key).find_map(|list| {
                let value = list.iter().rev().find(|value| appended.contains(value))?;
                Some(self.reason(
                    key,
                    *value,
                    format!(
                        "{} read {} of key {}, which holds {} that {} had appended",
                        to.1,
                        list_text(self.table, list),
                        self.table.key_text(key),
                        self.table.value_text(*value),
                        from.1
                    ),
                ))
            })
        })
    }

    fn lacked(&self, from: (u32, &str), to: (u32, &str)) -> Option<Reason> {
        self.keys(from.0).into_iter().find_map(|key| {
            let appended: Vec<u32> = written(self.table, to.0, key).collect();
            lists_read(self.table, from.0, key).find_map(|list| {
                let value = appended.iter().find(|value| self.comes_later(key, **value, list))?;
                Some(self.reason(
                    key,
                    *value,
                    format!(
                        "{} read {} of key {}, which lacks {} that {} appended",
                        from.1,
                        list_text(self.table, list),
                        self.table.key_text(key),
                        self.table.value_text(*value),
                        to.1
                    ),
                ))
            })
        })
    }

    fn reason(&self, key: u32, value: u32, text: String) -> Reason {
        Reason { about: Some((key, self.table.value_text(value).into_owned())), text }
    }

    /// Whether a value has its place after all that a read saw.
    fn comes_later(&self, key: u32, value: u32, list: &[u32]) -> bool {
        let Some(place) = self.versions.place(key, value) else { return true };
        let last = list.last().map(|last| self.versions.place(key, *last));
        match last {
            Some(Some(last)) => last < place,
            Some(None) => false,
            None => true,
        }
    }
}
