//! Sets that grow by unique elements, and counters that grow by one, each with reads of the whole.

use super::{DataKind, Kvrocks};
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::Call;
use crate::rng::Rng;

pub struct Elements {
    workload: Kvrocks,
    rng: Rng,
}

impl Elements {
    pub fn new(workload: Kvrocks, rng: Rng) -> Elements {
        Elements { workload, rng }
    }

    fn call(&mut self) -> Call {
        let options = &self.workload.options;
        let (reads, writes) = (u64::from(options.mix.read), u64::from(options.mix.write));
        let place = self.rng.below(options.keys.into()) as usize;
        let is_read = self.rng.below(reads + writes) < reads;
        let mut keys = self.workload.keys();
        let key = keys.active(place).key;
        let call = match (is_read, options.data) {
            (true, _) => self.workload.whole_read(key),
            (false, DataKind::Counter) => Call::Increment { key },
            (false, _) => Call::Add { key, value: keys.fresh_value() },
        };
        keys.issue(place, options.ops_per_key);
        call
    }
}

impl Generator for Elements {
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
    fn every_element_is_added_once_and_keys_are_retired() {
        let calls = calls(&workload("{data: set, keys: 3, ops_per_key: 50}"), 3000);
        let added: Vec<i64> = calls
            .iter()
            .filter_map(|call| match call {
                Call::Add { value, .. } => Some(*value),
                _ => None,
            })
            .collect();
        assert!((1100..1500).contains(&added.len()), "{} of 3000 by 35 of 80", added.len());
        assert!(added.is_sorted_by(|one, other| one < other));
        let keys: BTreeSet<_> = calls.iter().filter_map(Call::key).collect();
        assert!((59..=63).contains(&keys.len()), "{} keys of 50 operations", keys.len());
    }

    #[test]
    fn counters_are_read_and_incremented() {
        let calls = calls(&workload("{data: counter}"), 1000);
        let kinds: BTreeSet<&str> = calls.iter().map(Call::f).collect();
        assert_eq!(kinds, BTreeSet::from(["incr", "read", "stale-read"]));
    }
}
