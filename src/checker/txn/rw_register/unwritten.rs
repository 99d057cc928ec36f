//! Reads of what nobody wrote, where that cannot have been there at first.
//!
//! One unwritten value of a key may have been its first, unless it is said what that was. A first value is
//! gone once anybody met what was written over it: read later than that, in an order that the wanted
//! models keep, it is either stale or never was there.

use super::direct::{Direct, Kind};
use super::initial::InitialVersions;
use super::versions::{Access, Registers, Writer};
use crate::checker::txn::consistency::Orders;
use crate::checker::txn::table::{NONE, Step, Table};
use crate::history::Datum;
use rustc_hash::FxHashMap;

/// A number that no value of a table has.
const ABSENT: u32 = NONE - 1;

/// The number of a first value in a table, which may not hold it.
pub(super) fn number(table: &Table, initial: &serde_json::Value) -> u32 {
    if initial.is_null() {
        return NONE;
    }
    table.values.find(Datum::Json(initial)).unwrap_or(ABSENT)
}

/// Unwritten reads of another value than the first one. Linear.
pub(super) fn other(registers: &Registers, first: u32) -> Vec<Direct> {
    let mut found = Vec::new();
    for (txn, _) in registers.table.txns().filter(|(_, known)| known.is_ok()) {
        let reads = registers.accesses(txn).iter().filter(|access| !access.is_write());
        let known = |access: &&Access| registers.versions[access.version() as usize];
        let foreign = reads.filter(|access| {
            let version = known(access);
            version.writer == Writer::Nobody && version.value != first
        });
        let garbage = |access: &Access| direct(Kind::Garbage, txn, access.version(), NONE);
        found.extend(foreign.map(garbage));
    }
    found
}

fn direct(kind: Kind, reader: u32, version: u32, writer: u32) -> Direct {
    Direct { kind, reader, version, other: NONE, writer }
}

/// Unwritten reads of what might be a first value, and is read too late for one. Nil and its like are
/// left to the graph of dependencies. Linear.
pub(super) fn late(
    registers: &Registers,
    initial: &InitialVersions,
    orders: Orders,
) -> Vec<Direct> {
    let mut found = Vec::new();
    if !orders.realtime && !orders.process {
        return found;
    }
    let mut met = Met::new(registers, orders.realtime);
    for step in registers.table.steps() {
        match step {
            Step::Invoke(txn) => met.begin(txn),
            Step::Complete(txn) if registers.table.txn(txn).is_ok() => {
                for access in registers.accesses(txn) {
                    found.extend(met.judge(txn, access, initial));
                }
                met.end(txn);
            }
            Step::Complete(_) => {}
        }
    }
    found
}

/// By key, who was first over that had met a written value of it.
struct Met<'a> {
    registers: &'a Registers<'a>,
    realtime: bool,
    /// The transaction, and how many were over before it.
    by_key: Vec<(u32, u32)>,
    by_process: FxHashMap<(u32, u32), u32>,
    over: u32,
    /// How many were over when a transaction began.
    begun: Vec<u32>,
}

impl Met<'_> {
    fn new<'a>(registers: &'a Registers<'a>, realtime: bool) -> Met<'a> {
        Met {
            registers,
            realtime,
            by_key: vec![(NONE, NONE); registers.table.keys.len()],
            by_process: FxHashMap::default(),
            over: 0,
            // Of those whose beginning is nowhere told, nobody was surely before.
            begun: vec![0; registers.table.len()],
        }
    }

    fn begin(&mut self, txn: u32) {
        self.begun[txn as usize] = self.over;
    }

    fn end(&mut self, txn: u32) {
        let process = self.registers.table.txn(txn).process;
        for access in self.registers.accesses(txn) {
            let version = self.registers.versions[access.version() as usize];
            if matches!(version.writer, Writer::One(_) | Writer::Several) {
                let first = &mut self.by_key[version.key as usize];
                if first.0 == NONE {
                    *first = (txn, self.over);
                }
                self.by_process.entry((process, version.key)).or_insert(txn);
            }
        }
        self.over += 1;
    }

    fn judge(&self, txn: u32, access: &Access, initial: &InitialVersions) -> Option<Direct> {
        let version = self.registers.versions[access.version() as usize];
        if access.is_write() || version.writer != Writer::Nobody || initial.is(access.version()) {
            return None;
        }
        let process = self.registers.table.txn(txn).process;
        if let Some(before) = self.by_process.get(&(process, version.key)) {
            return Some(direct(Kind::LateInProcess, txn, access.version(), *before));
        }
        let (before, ended) = self.by_key[version.key as usize];
        let is_late = self.realtime && before != NONE && ended < self.begun[txn as usize];
        is_late.then(|| direct(Kind::LateInRealTime, txn, access.version(), before))
    }
}
