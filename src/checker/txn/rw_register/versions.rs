//! The versions that transactions read and wrote.
//!
//! A version is a key with a value. Every value of a key is written once in a history that can be
//! judged, so that a version has one writer and a read names it.

use rustc_hash::FxHashMap;

use crate::checker::txn::table::{MicroOp, Outcome, Table};

/// A read or write of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access(u32);

const WRITE: u32 = 1 << 31;

impl Access {
    pub fn is_write(self) -> bool {
        self.0 & WRITE != 0
    }

    pub fn version(self) -> u32 {
        self.0 & !WRITE
    }
}

/// One value of one key, by the table's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub key: u32,
    pub value: u32,
    pub writer: Writer,
}

/// Who wrote a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// Nobody in this history.
    Nobody,
    One(u32),
    /// Only transactions that failed; the first of them.
    Failed(u32),
    /// Several that may have: its reads say nothing.
    Several,
}

/// A table's transactions as accesses to versions.
#[derive(Debug)]
pub(crate) struct Registers<'t> {
    pub table: &'t Table,
    pub versions: Vec<Version>,
    accesses: Vec<Access>,
    ends: Vec<u32>,
}

impl<'t> Registers<'t> {
    /// Linear.
    pub fn of(table: &'t Table) -> Registers<'t> {
        let (versions, accesses, ends) = (Vec::new(), Vec::new(), Vec::with_capacity(table.len()));
        let mut registers = Registers { table, versions, accesses, ends };
        let mut known: FxHashMap<u64, u32> = FxHashMap::default();
        for (txn, of_txn) in table.txns() {
            for micro_op in table.micro_ops(txn) {
                registers.add(txn, of_txn.outcome, *micro_op, &mut known);
            }
            registers.ends.push(registers.accesses.len() as u32);
        }
        registers
    }

    fn add(
        &mut self,
        txn: u32,
        outcome: Outcome,
        micro_op: MicroOp,
        known: &mut FxHashMap<u64, u32>,
    ) {
        let (key, value, bit) = match micro_op {
            MicroOp::Write { key, value } => (key, value, WRITE),
            MicroOp::Read { key, value } => (key, value, 0),
            MicroOp::ReadList { .. } | MicroOp::Asked { .. } => return,
        };
        let next = self.versions.len() as u32;
        let version = *known.entry(u64::from(key) << 32 | u64::from(value)).or_insert(next);
        if version == next {
            self.versions.push(Version { key, value, writer: Writer::Nobody });
        }
        self.accesses.push(Access(version | bit));
        if bit == WRITE {
            let writer = &mut self.versions[version as usize].writer;
            *writer = writer.and(txn, outcome);
        }
    }

    /// What a transaction did whose result is known, in the order of its program.
    pub fn accesses(&self, txn: u32) -> &[Access] {
        let start = match txn {
            0 => 0,
            _ => self.ends[txn as usize - 1],
        };
        &self.accesses[start as usize..self.ends[txn as usize] as usize]
    }

    pub fn key_of(&self, access: Access) -> u32 {
        self.versions[access.version() as usize].key
    }

    pub fn key(&self, version: u32) -> u32 {
        self.versions[version as usize].key
    }

    pub fn value_text(&self, version: u32) -> std::borrow::Cow<'_, str> {
        self.table.value_text(self.versions[version as usize].value)
    }

    /// `x = 3`.
    pub fn told(&self, version: u32) -> String {
        let Version { key, value, .. } = self.versions[version as usize];
        format!("{} = {}", self.table.key_text(key), self.table.value_text(value))
    }

    /// How many bytes it will take, roughly.
    pub fn expected_bytes(table: &Table) -> usize {
        let micro_ops: usize = table.txns().map(|(txn, _)| table.micro_ops(txn).len()).sum();
        table.len() * 4 + micro_ops * 28
    }
}

impl Writer {
    fn and(self, txn: u32, outcome: Outcome) -> Writer {
        match (self, outcome) {
            (Writer::Nobody, Outcome::Fail) => Writer::Failed(txn),
            (known, Outcome::Fail) => known,
            (Writer::Nobody | Writer::Failed(_), _) => Writer::One(txn),
            (Writer::One(_) | Writer::Several, _) => Writer::Several,
        }
    }
}
