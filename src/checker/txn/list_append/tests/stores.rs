//! Stores that keep a promise by construction: what they let happen must be judged so, at any size.

use serde_json::json;

use super::{asking, judge, seeds};
use crate::checker::Verdict;
use crate::op::{Event, Kind, Process, Value};
use crate::rng::Rng;

/// How transactions are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Each acts at one moment.
    Strict,
    /// Each reads as of its beginning, and is undone if what it writes was written since.
    Snapshot,
    /// Each read sees what was last committed; what it writes is locked until its end.
    Committed,
}

struct Running {
    ops: Vec<(bool, usize, u64)>,
    snapshot: Vec<Vec<u64>>,
}

struct Store {
    promise: Promise,
    lists: Vec<Vec<u64>>,
    next: Vec<u64>,
    /// By key: the process that may write it.
    locks: Vec<Option<usize>>,
    running: Vec<Option<Running>>,
    events: Vec<Event>,
}

/// A history of so many transactions.
pub fn history(promise: Promise, rng: &mut Rng, txns: usize) -> Vec<Event> {
    let (keys, processes) = (2 + rng.below(6) as usize, 2 + rng.below(6) as usize);
    let mut store = Store {
        promise,
        lists: vec![Vec::new(); keys],
        next: vec![1; keys],
        locks: vec![None; keys],
        running: (0..processes).map(|_| None).collect(),
        events: Vec::new(),
    };
    let mut begun = 0;
    while begun < txns || store.running.iter().any(Option::is_some) {
        let process = rng.below(processes as u64) as usize;
        match store.running[process].take() {
            Some(running) => store.finish(rng, process, running),
            None if begun < txns => {
                store.begin(rng, process);
                begun += 1;
            }
            None => {}
        }
    }
    store.events
}

impl Store {
    fn begin(&mut self, rng: &mut Rng, process: usize) {
        let mut running = Running { ops: Vec::new(), snapshot: self.lists.clone() };
        for _ in 0..1 + rng.below(4) {
            let key = rng.below(self.lists.len() as u64) as usize;
            let writes = rng.chance(0.5);
            if writes && self.promise == Promise::Committed {
                if self.locks[key].is_some_and(|owner| owner != process) {
                    continue;
                }
                self.locks[key] = Some(process);
            }
            running.ops.push((writes, key, self.next[key]));
            self.next[key] += writes as u64;
        }
        let asked = running.ops.iter().map(|(writes, key, value)| match writes {
            true => json!(["append", key, value]),
            false => json!(["r", key, null]),
        });
        let asked = asked.collect();
        self.event(process, Kind::Invoke, asked);
        self.running[process] = Some(running);
    }

    fn finish(&mut self, rng: &mut Rng, process: usize, running: Running) {
        for lock in self.locks.iter_mut().filter(|lock| **lock == Some(process)) {
            *lock = None;
        }
        let conflict = |(writes, key, _): &(bool, usize, u64)| {
            *writes && running.snapshot[*key].len() != self.lists[*key].len()
        };
        let conflicts = self.promise == Promise::Snapshot && running.ops.iter().any(conflict);
        let lost = rng.chance(0.1);
        let mut lists = match self.promise {
            Promise::Snapshot => running.snapshot.clone(),
            _ => self.lists.clone(),
        };
        let mut seen = Vec::new();
        for (position, (writes, key, value)) in running.ops.iter().enumerate() {
            // Of read committed, a read of what the transaction has not written sees an older moment.
            let early = self.promise == Promise::Committed && position == 0;
            let list = if early { &running.snapshot[*key] } else { &lists[*key] };
            seen.push(if *writes {
                json!(["append", key, value])
            } else {
                json!(["r", key, list])
            });
            if *writes {
                lists[*key].push(*value);
            }
        }
        let acts = !conflicts && (!lost || rng.chance(0.5));
        if acts {
            for (_, key, _) in running.ops.iter().filter(|(writes, ..)| *writes) {
                self.lists[*key].clone_from(&lists[*key]);
            }
        }
        let kind = match (conflicts, lost) {
            (_, true) => Kind::Info,
            (true, false) => Kind::Fail,
            (false, false) => Kind::Ok,
        };
        self.event(process, kind, seen);
    }

    fn event(&mut self, process: usize, kind: Kind, ops: Vec<serde_json::Value>) {
        let index = self.events.len() as u64;
        self.events.push(Event {
            index,
            time: index * 1_000_000,
            value: Value::Json(Box::new(serde_json::Value::Array(ops))),
            ..Event::new(kind, Process::Client(process as u32), "txn")
        });
    }
}

#[test]
fn what_keeps_a_promise_is_never_accused() {
    for seed in 0..seeds(60) {
        let mut rng = Rng::from_seed(seed);
        let txns = [4, 30, 300][seed as usize % 3];
        for (promise, models) in [
            (Promise::Strict, &["strict-serializable", "strong-session-serializable"][..]),
            (Promise::Snapshot, &["strong-snapshot-isolation", "snapshot-isolation"]),
            (Promise::Committed, &["read-committed", "strong-read-committed"]),
        ] {
            let events = history(promise, &mut rng, txns);
            for model in models {
                let finding = judge(&events, &asking(&[model], &[]));
                assert_ne!(
                    finding.verdict,
                    Verdict::Invalid,
                    "seed {seed}, {model}: {}",
                    finding.why
                );
            }
        }
    }
}

#[test]
fn what_keeps_less_is_caught() {
    let mut caught = [0; 2];
    for seed in 0..20 {
        let mut rng = Rng::from_seed(seed);
        for (position, promise) in [Promise::Snapshot, Promise::Committed].into_iter().enumerate() {
            let events = history(promise, &mut rng, 300);
            let finding = judge(&events, &asking(&["serializable"], &[]));
            caught[position] += (finding.verdict == Verdict::Invalid) as u32;
        }
    }
    assert!(caught[0] > 10 && caught[1] > 18, "{caught:?}");
}
