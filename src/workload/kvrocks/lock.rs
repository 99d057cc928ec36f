//! Locks that expire: taken with a fencing token, used to store something under that token, given back.
//!
//! Whoever holds one uses it for no longer than it lasts, counted from before it was asked for. So two
//! holders at once are the servers' fault: one of them let a lock expire too soon, or lost it.

use std::collections::BTreeMap;

use super::Kvrocks;
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::{Call, Event, Key, Kind, Nanos, Process, Value};
use crate::rng::Rng;

/// How likely a holder gives its lock back next, rather than use it.
const RELEASES: f64 = 0.3;

pub struct Lock {
    workload: Kvrocks,
    rng: Rng,
    /// By thread; a thread that is not here holds nothing.
    claims: BTreeMap<usize, Claim>,
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    key: i64,
    owner: i64,
    until: Nanos,
    /// Absent while it is being asked for.
    token: Option<i64>,
}

impl Lock {
    pub fn new(workload: Kvrocks, rng: Rng) -> Lock {
        Lock { workload, rng, claims: BTreeMap::new() }
    }

    fn call(&mut self, thread: usize, now: Nanos) -> Call {
        let claim = self.claims.get(&thread).copied();
        if let Some(Claim { key, owner, until, token: Some(token) }) = claim
            && now < until
        {
            return match self.rng.chance(RELEASES) {
                true => Call::Release { key, owner },
                false => Call::Store { key, token, value: self.workload.keys().fresh_value() },
            };
        }
        let ttl = self.workload.options.lock.ttl;
        let place = self.rng.below(self.workload.options.keys.into()) as usize;
        let mut keys = self.workload.keys();
        let (key, owner) = (keys.active(place).key, keys.fresh_value());
        keys.issue(place, u32::MAX);
        let until = now.saturating_add(ttl.nanos());
        self.claims.insert(thread, Claim { key, owner, until, token: None });
        Call::Acquire { key, owner, ttl_ms: u64::try_from(ttl.0.as_millis()).unwrap_or(u64::MAX) }
    }
}

impl Generator for Lock {
    fn next(&mut self, ctx: &Context) -> Next {
        match ctx.pick(To::Any) {
            Some(thread) => {
                let what = What::Call(self.call(thread, ctx.time));
                Next::Do { what, to: To::Thread(thread) }
            }
            None => Next::WAIT,
        }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        let Process::Client(process) = event.process else { return };
        let thread = ctx.threads.thread_of(process);
        let Some(claim) = self.claims.get_mut(&thread) else { return };
        if event.kind == Kind::Invoke || event.key != Some(Key::Int(claim.key)) {
            return;
        }
        match (&*event.f, event.kind, &event.value) {
            ("acquire", Kind::Ok, Value::Int(token)) => claim.token = Some(*token),
            // Of an operation whose fate is unknown nothing is used any more.
            ("acquire" | "release", ..) | (_, Kind::Info, _) => {
                self.claims.remove(&thread);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::workload;
    use super::*;
    use crate::generator::{Asked, Reply, Simulated, Threads, limit, simulate};
    use crate::op::{MILLISECOND, Outcome};
    use crate::workload::Workload;

    /// Locks that never expire, each held by one owner.
    fn run(latency: Nanos) -> Simulated {
        let (mut holders, mut tokens) = (BTreeMap::new(), 0);
        let world = move |asked: &Asked| {
            let What::Call(call) = asked.what else { return None };
            let outcome = match call {
                Call::Acquire { key, owner, .. } => {
                    tokens += 1;
                    match holders.entry(*key) {
                        std::collections::btree_map::Entry::Vacant(free) => {
                            free.insert(*owner);
                            Outcome::Ok(Value::Int(tokens))
                        }
                        _ => Outcome::Fail("held".into()),
                    }
                }
                Call::Release { key, owner } if holders.get(key) == Some(owner) => {
                    holders.remove(key);
                    Outcome::Ok(call.value())
                }
                Call::Store { .. } => Outcome::Ok(call.value()),
                _ => Outcome::Fail("no".into()),
            };
            Some(Reply { after: latency, outcome })
        };
        let workload = workload("{data: lock, keys: 2, lock: {ttl: 1s}}");
        let mut source = limit(2000, workload.source(Rng::from_seed(1)));
        simulate(&mut source, Threads::new(8, 4), world)
    }

    #[test]
    fn holders_store_with_their_token_and_give_back_what_they_hold() {
        let run = run(10 * MILLISECOND);
        let mut tokens: BTreeMap<Process, Value> = BTreeMap::new();
        let (mut stores, mut releases) = (0, 0);
        for event in &run.events {
            match (&*event.f, event.kind) {
                ("acquire", Kind::Ok) => {
                    tokens.insert(event.process, event.value.clone());
                }
                ("store", Kind::Invoke) => {
                    let Value::Pair(token, _) = event.value else { panic!("{event:?}") };
                    assert_eq!(tokens.get(&event.process), Some(&Value::Int(token)));
                    stores += 1;
                }
                ("release", Kind::Ok) => {
                    assert!(tokens.remove(&event.process).is_some());
                    releases += 1;
                }
                ("release", Kind::Fail) => panic!("gave back what it had not: {event:?}"),
                _ => {}
            }
        }
        assert!(stores > 200 && releases > 100, "{stores} stores, {releases} releases");
    }

    #[test]
    fn nobody_uses_a_lock_for_longer_than_it_lasts() {
        let run = run(400 * MILLISECOND);
        let mut asked: BTreeMap<Process, Nanos> = BTreeMap::new();
        for event in run.events.iter().filter(|event| event.kind == Kind::Invoke) {
            match &*event.f {
                "acquire" => {
                    asked.insert(event.process, event.time);
                }
                _ => {
                    let age = event.time - asked[&event.process];
                    assert!(age < 1000 * MILLISECOND, "{event:?}");
                }
            }
        }
    }
}
