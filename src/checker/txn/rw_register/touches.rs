//! Who touched each key, seen from outside: the first version that a transaction saw or wrote of it, and
//! the last.

use super::footprint::Footprints;
use super::versions::Registers;
use crate::checker::txn::table::NONE;

/// A transaction's dealings with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub txn: u32,
    /// What it read first of others, or else wrote last.
    pub first: u32,
    /// What it wrote last, or else read first.
    pub last: u32,
}

/// By key, in the order of the transactions.
#[derive(Debug)]
pub(crate) struct Touches {
    starts: Vec<u32>,
    touches: Vec<Touch>,
}

impl Touches {
    /// Of ok transactions and of the writes of indeterminate ones. Linear.
    pub fn of(registers: &Registers, prints: &Footprints) -> Touches {
        let mut by_txn: Vec<(u32, Touch)> = Vec::new();
        let mut place = vec![(NONE, 0_usize); registers.table.keys.len()];
        for (txn, known) in registers.table.txns() {
            if known.outcome == crate::checker::txn::table::Outcome::Fail {
                continue;
            }
            for version in prints.reads.of(txn) {
                let key = registers.key(*version);
                if place[key as usize].0 != txn {
                    place[key as usize] = (txn, by_txn.len());
                    by_txn.push((key, Touch { txn, first: *version, last: *version }));
                }
            }
            for version in prints.writes.of(txn) {
                let key = registers.key(*version);
                match place[key as usize] {
                    (owner, at) if owner == txn => by_txn[at].1.last = *version,
                    _ => by_txn.push((key, Touch { txn, first: *version, last: *version })),
                }
            }
        }
        Touches::sorted(registers.table.keys.len(), &by_txn)
    }

    fn sorted(keys: usize, by_txn: &[(u32, Touch)]) -> Touches {
        let mut starts = vec![0_u32; keys + 1];
        for (key, _) in by_txn {
            starts[*key as usize + 1] += 1;
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut touches = vec![Touch { txn: NONE, first: NONE, last: NONE }; by_txn.len()];
        for (key, touch) in by_txn {
            touches[next[*key as usize] as usize] = *touch;
            next[*key as usize] += 1;
        }
        Touches { starts, touches }
    }

    pub fn of_key(&self, key: u32) -> &[Touch] {
        let (start, end) = (self.starts[key as usize], self.starts[key as usize + 1]);
        &self.touches[start as usize..end as usize]
    }

    pub fn keys(&self) -> u32 {
        self.starts.len() as u32 - 1
    }
}
