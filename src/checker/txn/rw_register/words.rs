//! Transactions in words, for people.

use super::versions::Registers;
use crate::checker::Anomaly;
use crate::checker::txn::table::{MicroOp, NONE};
use crate::op::{Nanos, SECOND};

/// Micro-operations of a transaction that are shown.
const SHOWN: usize = 8;

/// Transactions that are named in one anomaly.
const NAMED: usize = 12;

/// The transactions of one anomaly, called `T1`, `T2`, ... in the order in which they are named.
pub(crate) struct Cast<'r, 't> {
    registers: &'r Registers<'t>,
    members: Vec<u32>,
}

impl<'r, 't> Cast<'r, 't> {
    pub fn of(registers: &'r Registers<'t>) -> Cast<'r, 't> {
        Cast { registers, members: Vec::new() }
    }

    pub fn name(&mut self, txn: u32) -> String {
        if txn == NONE {
            return "the initial state".to_owned();
        }
        let place = self.members.iter().position(|member| *member == txn);
        let place = place.unwrap_or_else(|| {
            self.members.push(txn);
            self.members.len() - 1
        });
        format!("T{}", place + 1)
    }

    /// An anomaly with a line for each transaction named, those on these keys first, then the reasons.
    pub fn anomaly(self, kind: &str, summary: String, reasons: Vec<String>) -> Anomaly {
        let table = self.registers.table;
        let mut details: Vec<String> = Vec::new();
        for (place, txn) in self.members.iter().enumerate().take(NAMED) {
            details.push(format!("T{} = {}", place + 1, self.line(*txn)));
        }
        if self.members.len() > NAMED {
            details.push(format!("... and {} more transactions", self.members.len() - NAMED));
        }
        details.extend(reasons);
        let members = || self.members.iter().map(|txn| table.txn(*txn));
        let mut ops: Vec<u64> = members().map(|txn| txn.event().index).collect();
        ops.sort_unstable();
        Anomaly {
            kind: kind.to_owned(),
            summary,
            details,
            key: None,
            nodes: Vec::new(),
            ops,
            from: members().map(|txn| txn.event().time).min().unwrap_or(0),
            to: members().map(|txn| txn.completed.unwrap_or(txn.event()).time).max().unwrap_or(0),
        }
    }

    /// `process 3, 2.100 s to 2.130 s: r x = 1, w y = 2`.
    fn line(&self, txn: u32) -> String {
        let table = self.registers.table;
        let known = table.txn(txn);
        let micro_ops = table.micro_ops(txn);
        let shown: Vec<String> =
            micro_ops.iter().take(SHOWN).map(|micro_op| self.micro_op(*micro_op)).collect();
        let more = match micro_ops.len() > SHOWN {
            true => format!(", ... {} more", micro_ops.len() - SHOWN),
            false => String::new(),
        };
        let when = match (known.invoked, known.completed) {
            (Some(invoked), Some(completed)) => {
                format!("{} to {}", seconds(invoked.time), seconds(completed.time))
            }
            (Some(invoked), None) => format!("from {}, never completed", seconds(invoked.time)),
            (None, _) => format!("event {}", known.event().index),
        };
        let shown = shown.join(", ");
        format!("process {}, {when}: {shown}{more}", known.process)
    }

    fn micro_op(&self, micro_op: MicroOp) -> String {
        let table = self.registers.table;
        let key = table.key_text(micro_op.key());
        match micro_op {
            MicroOp::Write { value, .. } => format!("w {key} = {}", table.value_text(value)),
            MicroOp::Read { value, .. } => format!("r {key} = {}", table.value_text(value)),
            MicroOp::ReadList { .. } | MicroOp::Asked { .. } => format!("r {key}"),
        }
    }
}

pub(crate) fn seconds(time: Nanos) -> String {
    format!("{:.3} s", time as f64 / SECOND as f64)
}
