//! Transactions of appends to and reads of lists, all lists of one transaction in one slot.

use super::Kvrocks;
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::{Call, MicroOp};
use crate::rng::Rng;

/// Parts of a transaction at most.
const MOST_PARTS: u64 = 4;

pub struct Append {
    workload: Kvrocks,
    rng: Rng,
}

impl Append {
    pub fn new(workload: Kvrocks, rng: Rng) -> Append {
        Append { workload, rng }
    }

    /// The first part's key settles the slot, and so which other keys may take part.
    fn call(&mut self) -> Call {
        let options = &self.workload.options;
        let (reads, writes) = (u64::from(options.mix.read), u64::from(options.mix.write));
        let first = self.rng.below(options.keys.into()) as usize;
        let parts = self.rng.between(1, MOST_PARTS);
        let mut keys = self.workload.keys();
        let slot_of = |place: usize, keys: &crate::workload::keys::Keys| {
            self.workload.space.slot(keys.active(place).key)
        };
        let slot = slot_of(first, &keys);
        let together: Vec<usize> =
            (0..keys.count()).filter(|place| slot_of(*place, &keys) == slot).collect();
        let mut places = Vec::new();
        let mut ops = Vec::new();
        for _ in 0..parts {
            let place = self.rng.pick(&together).copied().unwrap_or(first);
            let key = keys.active(place).key;
            places.push(place);
            ops.push(match self.rng.below(reads + writes) < reads {
                true => MicroOp::Read { key },
                false => MicroOp::Append { key, value: keys.fresh_value() },
            });
        }
        places.sort_unstable();
        places.dedup();
        for place in places {
            keys.issue(place, options.ops_per_key);
        }
        Call::Txn { ops }
    }
}

impl Generator for Append {
    fn next(&mut self, ctx: &Context) -> Next {
        match ctx.pick(To::Any) {
            Some(_) => Next::Do { what: What::Call(self.call()), to: To::Any },
            None => Next::WAIT,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{calls, workload};
    use super::*;

    #[test]
    fn a_transaction_stays_within_one_slot_and_touches_several_lists() {
        for yaml in ["{data: append}", "{data: append, slots: {count: 2}}"] {
            let workload = workload(yaml);
            let mut values = BTreeSet::new();
            let mut several = 0;
            for call in calls(&workload, 2000) {
                let ops = match call {
                    Call::Txn { ops } => ops,
                    Call::Stale(read) => match *read {
                        Call::Txn { ops } => ops,
                        other => panic!("{other:?}"),
                    },
                    other => panic!("{other:?}"),
                };
                assert!((1..=MOST_PARTS as usize).contains(&ops.len()));
                let keys: BTreeSet<i64> = ops.iter().map(MicroOp::key).collect();
                let slots: BTreeSet<u16> =
                    keys.iter().map(|key| workload.space().slot(*key)).collect();
                assert_eq!(slots.len(), 1, "{ops:?}");
                several += usize::from(keys.len() > 1);
                for op in ops {
                    if let MicroOp::Append { value, .. } = op {
                        assert!(values.insert(value), "{value} is appended twice");
                    }
                }
            }
            assert!(several > 400, "{yaml}: {several} transactions of several lists");
        }
    }
}
