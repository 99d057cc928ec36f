//! What each transaction shows to the others: the versions that it read from them, and its last write
//! of each key.

use super::versions::{Access, Registers, Writer};
use crate::checker::txn::table::Outcome;

/// Slices of one array, one for each transaction.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Slices {
    pub fn of(&self, position: u32) -> &[u32] {
        let start = match position {
            0 => 0,
            _ => self.ends[position as usize - 1],
        };
        &self.items[start as usize..self.ends[position as usize] as usize]
    }

    pub fn push(&mut self, item: u32) {
        self.items.push(item);
    }

    /// Ends the slice of the next position.
    pub fn close(&mut self) {
        self.ends.push(self.items.len() as u32);
    }
}

/// Versions by transaction.
#[derive(Debug, Default)]
pub(crate) struct Footprints {
    /// Read of a key before the transaction wrote it, in order; a key may stand there several times.
    pub reads: Slices,
    /// The last write of each key.
    pub writes: Slices,
    /// Written, and overwritten by the same transaction.
    pub intermediate: Vec<bool>,
    /// Whether somebody who is ok read it from another.
    pub observed: Vec<bool>,
}

impl Footprints {
    pub fn of(registers: &Registers) -> Footprints {
        let mut prints = Footprints {
            intermediate: vec![false; registers.versions.len()],
            observed: vec![false; registers.versions.len()],
            ..Footprints::default()
        };
        let mut own = OwnWrites::of(registers);
        for txn in 0..registers.table.len() as u32 {
            prints.add(registers, txn, &mut own);
        }
        prints
    }

    fn add(&mut self, registers: &Registers, txn: u32, own: &mut OwnWrites) {
        let accesses = registers.accesses(txn);
        for (place, access) in accesses.iter().enumerate() {
            let (key, version) = (registers.key_of(*access), access.version());
            if access.is_write() {
                if let Some(former) = own.put(txn, key, place as u32) {
                    self.intermediate[accesses[former as usize].version() as usize] = true;
                }
            } else if own.get(txn, key).is_none() {
                self.reads.push(version);
                self.observed[version as usize] = true;
            }
        }
        self.reads.close();
        for (place, access) in accesses.iter().enumerate() {
            let is_last = own.get(txn, registers.key_of(*access)) == Some(place as u32);
            if access.is_write() && is_last {
                self.writes.push(access.version());
            }
        }
        self.writes.close();
    }

    /// Whether a transaction surely took effect: it is ok, or somebody read what it wrote.
    pub fn is_committed(&self, registers: &Registers, txn: u32) -> bool {
        match registers.table.txn(txn).outcome {
            Outcome::Ok => true,
            Outcome::Fail => false,
            Outcome::Info => registers.accesses(txn).iter().any(|access: &Access| {
                let version = access.version() as usize;
                self.observed[version] && registers.versions[version].writer == Writer::One(txn)
            }),
        }
    }
}

/// The place of a transaction's last write of each key, for one transaction after the other.
pub(crate) struct OwnWrites {
    by_key: Vec<(u32, u32)>,
}

impl OwnWrites {
    pub fn of(registers: &Registers) -> OwnWrites {
        OwnWrites { by_key: vec![(u32::MAX, 0); registers.table.keys.len()] }
    }

    pub fn get(&self, txn: u32, key: u32) -> Option<u32> {
        let (owner, place) = self.by_key[key as usize];
        (owner == txn).then_some(place)
    }

    /// The place before.
    pub fn put(&mut self, txn: u32, key: u32, place: u32) -> Option<u32> {
        let former = self.get(txn, key);
        self.by_key[key as usize] = (txn, place);
        former
    }
}
