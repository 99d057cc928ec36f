//! Small random histories, and whether a serial order explains them, by trying all.

use super::*;
use crate::rng::Rng;

/// A transaction of a small history: what it did, and when, in places of a sequence of events.
#[derive(Clone, Debug)]
pub(super) struct Small {
    pub process: u32,
    pub invoke: usize,
    pub complete: usize,
    pub kind: EventKind,
    /// Whether it writes, the key, the value; 0 is nil.
    pub accesses: Vec<(bool, usize, i64)>,
}

pub(super) const KEYS: usize = 3;

/// Transactions of a serial store; then some reads are changed to values that were written somewhere.
pub(super) fn random(rng: &mut Rng, changes: bool) -> Vec<Small> {
    let count = 2 + rng.below(4) as usize;
    let processes = 1 + rng.below(3) as usize;
    let mut free = vec![0_usize; processes];
    let (mut store, mut written) = ([0_i64; KEYS], [0_i64; KEYS]);
    let mut small: Vec<Small> = Vec::new();
    for at in 0..count {
        let process = rng.below(processes as u64) as usize;
        // It takes effect at `100 * at + 50`, and its events lie around that.
        let effect = 100 * at + 50;
        let invoke = free[process].max(effect.saturating_sub(rng.below(200) as usize));
        let complete = effect + 1 + rng.below(200) as usize;
        if invoke >= effect {
            continue;
        }
        let accesses = (0..1 + rng.below(3)).map(|_| {
            let key = rng.below(KEYS as u64) as usize;
            let write = rng.below(2) == 0;
            if write {
                written[key] += 1;
                store[key] = written[key];
            }
            (write, key, store[key])
        });
        let accesses: Vec<_> = accesses.collect();
        let kind = if rng.below(10) == 0 { EventKind::Info } else { EventKind::Ok };
        free[process] = if kind == EventKind::Info { usize::MAX / 2 } else { complete };
        small.push(Small { process: process as u32, invoke, complete, kind, accesses });
    }
    if changes {
        for (write, key, value) in small.iter_mut().flat_map(|txn| &mut txn.accesses) {
            if !*write && rng.below(4) == 0 {
                *value = rng.below(written[*key] as u64 + 1) as i64;
            }
        }
    }
    small
}

/// As events, in the order of their places.
pub(super) fn events(small: &[Small]) -> History {
    let mut events: Vec<(usize, usize, Event)> = Vec::new();
    for (at, txn) in small.iter().enumerate() {
        let value = |seen: bool| -> serde_json::Value {
            let micro_op = |(write, key, value): &(bool, usize, i64)| {
                let value = (*value != 0 && (*write || seen)).then_some(*value);
                serde_json::json!([if *write { "w" } else { "r" }, key, value])
            };
            txn.accesses.iter().map(micro_op).collect()
        };
        let event = |kind, value| Event {
            value: crate::op::Value::Json(Box::new(value)),
            ..Event::new(kind, Process::Client(txn.process), "txn")
        };
        events.push((txn.invoke, at, event(EventKind::Invoke, value(false))));
        events.push((txn.complete, at, event(txn.kind, value(true))));
    }
    events.sort_by_key(|(place, at, _)| (*place, *at));
    let numbered = events.into_iter().zip(0..).map(|((place, _, event), index)| Event {
        index,
        time: place as u64 * 1_000_000,
        ..event
    });
    History::new(numbered.collect())
}

/// Which orders between transactions an explanation must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    RealTime,
}

/// Whether a serial order of all that is ok, and of some that is indeterminate, explains every read.
pub(super) fn is_serializable(small: &[Small], keep: Keep) -> bool {
    place_next(small, keep, &mut vec![false; small.len()], &mut [0; KEYS])
}

fn place_next(small: &[Small], keep: Keep, done: &mut [bool], store: &mut [i64; KEYS]) -> bool {
    let is_over = |at: usize| done[at] || small[at].kind == EventKind::Info;
    if (0..small.len()).all(is_over) {
        return true;
    }
    for at in 0..small.len() {
        let waits = |other: usize| {
            // Events at one place stand in the order of the transactions.
            let over = (small[other].complete, other) < (small[at].invoke, at);
            small[other].kind == EventKind::Ok && over && keep == Keep::RealTime
        };
        if done[at] || (0..small.len()).any(|other| !done[other] && waits(other)) {
            continue;
        }
        let mut after = *store;
        if !apply(&small[at], &mut after) {
            continue;
        }
        done[at] = true;
        if place_next(small, keep, done, &mut after) {
            return true;
        }
        done[at] = false;
    }
    false
}

fn apply(txn: &Small, store: &mut [i64; KEYS]) -> bool {
    txn.accesses.iter().all(|(write, key, value)| {
        if *write {
            store[*key] = *value;
        }
        // What an indeterminate one read is not known.
        txn.kind == EventKind::Info || store[*key] == *value
    })
}

#[test]
fn whatever_is_called_invalid_has_no_serial_order() {
    let rounds = match std::env::var("STORMGLASS_SEEDS") {
        Ok(_) => 100_000,
        Err(_) => 2_000,
    };
    let trusted = serde_json::json!({
        "linearizable_keys": true, "sequential_keys": true, "wfr_keys": true
    });
    let (mut valid, mut caught, mut missed) = (0, 0, 0);
    for seed in 0..rounds {
        let small = random(&mut Rng::from_seed(seed), !seed.is_multiple_of(4));
        let strict = is_serializable(&small, Keep::RealTime);
        assert!(strict || !seed.is_multiple_of(4), "seed {seed}: the store is serial: {small:?}");
        let finding = find(&events(&small), &options(trusted.clone()));
        let is_invalid = finding.verdict == Verdict::Invalid;
        assert!(!(strict && is_invalid), "seed {seed}: {finding:#?}\n{small:?}");
        valid += usize::from(strict);
        caught += usize::from(!strict && is_invalid);
        missed += usize::from(!strict && !is_invalid);
    }
    assert!(valid > rounds as usize / 4 && caught > rounds as usize / 10, "{valid} {caught}");
    assert!(missed * 50 < caught, "{caught} were caught and {missed} missed");
}
