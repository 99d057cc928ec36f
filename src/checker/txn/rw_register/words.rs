//! The transactions of an anomaly by short names, and a line for each.

use super::versions::Registers;
use crate::checker::Anomaly;
use crate::checker::txn::explain::{anomaly, txn_text};
use crate::checker::txn::table::NONE;

/// Transactions that get a line.
const NAMED: usize = 12;

/// The transactions of one anomaly, called `T1`, `T2`, ... in the order in which they are named.
pub(crate) struct Cast<'r, 't> {
    registers: &'r Registers<'t>,
    members: Vec<u32>,
    /// The keys that matter; of other keys nothing is shown, unless none matters.
    keys: Vec<u32>,
}

impl<'r, 't> Cast<'r, 't> {
    pub fn of(registers: &'r Registers<'t>) -> Cast<'r, 't> {
        Cast { registers, members: Vec::new(), keys: Vec::new() }
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

    /// This key matters.
    pub fn about(&mut self, key: u32) {
        self.keys.push(key);
    }

    /// An anomaly with a line for each transaction named, and then the reasons.
    pub fn anomaly(self, kind: &str, summary: String, reasons: Vec<String>) -> Anomaly {
        let table = self.registers.table;
        let mut told = anomaly(table, kind, &self.members, summary);
        for (place, txn) in self.members.iter().enumerate().take(NAMED) {
            told.details.push(format!("T{} = {}", place + 1, txn_text(table, *txn, &self.keys)));
        }
        if self.members.len() > NAMED {
            told.details.push(format!("... and {} more transactions", self.members.len() - NAMED));
        }
        told.details.extend(reasons);
        told
    }
}
