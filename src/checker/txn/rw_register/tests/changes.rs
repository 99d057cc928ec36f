//! Changes of a history that must not change its verdict, or only in one direction.

use super::random::{Small, events, random};
use super::*;
use crate::rng::Rng;

fn trusted() -> ModelOptions {
    options(serde_json::json!({"linearizable_keys": true, "wfr_keys": true}))
}

fn verdict(small: &[Small]) -> Verdict {
    find(&events(small), &trusted()).verdict
}

#[test]
fn other_names_of_keys_values_and_processes_and_later_times_change_nothing() {
    for seed in 0..400 {
        let small = random(&mut Rng::from_seed(seed), true);
        let mut renamed = small.clone();
        for txn in &mut renamed {
            txn.process = 7 - txn.process;
            txn.invoke += 1_000;
            txn.complete += 1_000;
            for (_, key, value) in &mut txn.accesses {
                *key = (*key + 1) % super::random::KEYS;
                *value *= 17;
            }
        }
        assert_eq!(verdict(&small), verdict(&renamed), "seed {seed}: {small:?}");
    }
}

#[test]
fn longer_transactions_are_no_worse() {
    for seed in 0..400 {
        let small = random(&mut Rng::from_seed(seed), true);
        let mut longer = small.clone();
        let at = Rng::from_seed(seed).below(longer.len().max(1) as u64) as usize;
        let Some(txn) = longer.get_mut(at) else { continue };
        txn.complete += 10_000;
        // A process of its own, so that it does not overlap with what the process does next.
        txn.process = 50;
        if verdict(&small) != Verdict::Invalid {
            assert_ne!(verdict(&longer), Verdict::Invalid, "seed {seed}: {small:?}");
        }
    }
}

#[test]
fn an_indeterminate_write_that_nobody_saw_changes_nothing() {
    for seed in 0..400 {
        let small = random(&mut Rng::from_seed(seed), true);
        let mut more = small.clone();
        let accesses = vec![(true, 0, 1_000), (true, 1, 1_000)];
        more.push(Small { process: 60, invoke: 0, complete: 99, kind: EventKind::Info, accesses });
        let (before, after) = (verdict(&small), verdict(&more));
        assert_eq!(before == Verdict::Invalid, after == Verdict::Invalid, "seed {seed}: {small:?}");
    }
}
