//! The end of a run: wait until no slot is on its way, read every key where it lives, and then what each
//! node has of all keys.

use std::collections::{BTreeMap, VecDeque};

use super::Kvrocks;
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::{Call, ClusterTopology, Event, Kind, MILLISECOND, Manage, Nanos, Process, SECOND};

/// So often the topology is looked at, at most, for migrations to end.
const MOST_LOOKS: u32 = 40;

const LOOK_EVERY: Nanos = 250 * MILLISECOND;

/// Tries of one final operation.
const ATTEMPTS: u32 = 8;

/// A refusal may pass: tries of one operation are so far apart.
const TRY_AGAIN: Nanos = 250 * MILLISECOND;

/// How long replicas have to catch up with what was last written.
const CATCH_UP: Nanos = SECOND;

/// Keys that one operation asks a node for.
const KEYS_PER_DUMP: usize = 64;

pub struct Drain {
    workload: Kvrocks,
    looks_left: u32,
    stage: Stage,
    /// Not before this time.
    due: Nanos,
    left: VecDeque<Final>,
    offered: Option<Final>,
    under_way: BTreeMap<Process, Final>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Settle,
    Read,
    Dump,
}

/// One final operation.
#[derive(Clone, Debug)]
struct Final {
    call: Call,
    to: Whom,
    attempts_left: u32,
    due: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whom {
    /// Operators in turn: only the one at the leader is answered.
    Operator(usize),
    /// Any client that finds the master of a key.
    Finder,
    Node(usize),
}

impl Drain {
    pub fn new(workload: Kvrocks) -> Drain {
        Drain {
            workload,
            looks_left: MOST_LOOKS,
            stage: Stage::Settle,
            due: 0,
            left: VecDeque::new(),
            offered: None,
            under_way: BTreeMap::new(),
        }
    }

    /// A free thread that can do this.
    fn thread(&self, ctx: &Context, to: Whom) -> Option<usize> {
        let nodes = ctx.threads.nodes();
        let is_free = |thread: &usize| ctx.threads.is_free(*thread);
        match to {
            Whom::Operator(turn) => {
                let operators = ctx.operators();
                let thread = operators.start + turn % operators.len().max(1);
                Some(thread).filter(|thread| operators.contains(thread) && is_free(thread))
            }
            Whom::Node(node) => ctx.pick(To::Node(node)),
            Whom::Finder => {
                let finds = |thread: &usize| self.workload.kind(*thread, nodes).finds_its_way();
                match ctx.range().any(|thread| finds(&thread)) {
                    true => ctx.range().filter(finds).find(is_free),
                    // Clients that follow nobody: one of them may be at the right node.
                    false => ctx.pick(To::Any),
                }
            }
        }
    }

    /// Goes on to the next stage that has anything to do; false after the last.
    fn advance(&mut self, ctx: &Context) -> bool {
        let last_keys = || -> Vec<Call> {
            let keys = self.workload.keys().last();
            keys.into_iter().map(|key| self.workload.whole_read(key)).collect()
        };
        let one = |call, to| Final { call, to, attempts_left: ATTEMPTS, due: 0 };
        match self.stage {
            Stage::Settle => {
                self.stage = Stage::Read;
                self.left = last_keys().into_iter().map(|read| one(read, Whom::Finder)).collect();
            }
            Stage::Read => {
                self.stage = Stage::Dump;
                self.due = ctx.time.saturating_add(CATCH_UP);
                let reads = last_keys();
                let nodes = ctx.threads.nodes().min(ctx.threads.concurrency());
                let parts = (0..nodes).flat_map(|node| {
                    let dump = move |part: &[Call]| {
                        one(Call::Dump { reads: part.to_vec() }, Whom::Node(node))
                    };
                    reads.chunks(KEYS_PER_DUMP).map(dump).collect::<Vec<_>>()
                });
                self.left = parts.collect();
            }
            Stage::Dump => return false,
        }
        true
    }

    /// The first that is due and that somebody is free for.
    fn take(&mut self, ctx: &Context) -> Option<(Final, usize)> {
        let position = (0..self.left.len()).find(|position| {
            let one = &self.left[*position];
            one.due <= ctx.time && self.thread(ctx, one.to).is_some()
        })?;
        let one = self.left.remove(position)?;
        let thread = self.thread(ctx, one.to)?;
        Some((one, thread))
    }

    fn look(&mut self, ctx: &Context) {
        if self.looks_left > 0 && !ctx.operators().is_empty() {
            self.looks_left -= 1;
            let call = Call::Manage(Manage::Topology);
            let due = ctx.time.saturating_add(LOOK_EVERY);
            let to = Whom::Operator(self.looks_left as usize);
            self.left.push_back(Final { call, to, attempts_left: 1, due });
        }
    }
}

impl Generator for Drain {
    fn next(&mut self, ctx: &Context) -> Next {
        if self.stage == Stage::Settle && self.looks_left == MOST_LOOKS {
            self.look(ctx);
        }
        loop {
            if ctx.time < self.due {
                return Next::Wait { until: Some(self.due) };
            }
            if let Some((one, thread)) = self.take(ctx) {
                let what = What::Call(one.call.clone());
                self.offered = Some(one);
                return Next::Do { what, to: To::Thread(thread) };
            }
            if !self.left.is_empty() || !self.under_way.is_empty() {
                let later = self.left.iter().map(|one| one.due).filter(|due| *due > ctx.time);
                return Next::Wait { until: later.min() };
            }
            if !self.advance(ctx) {
                return Next::Done;
            }
        }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        if event.kind == Kind::Invoke {
            if let Some(one) = self.offered.take() {
                self.under_way.insert(event.process, one);
            }
            return;
        }
        let Some(mut one) = self.under_way.remove(&event.process) else { return };
        if matches!(one.to, Whom::Operator(_)) {
            let settled = ClusterTopology::of(&event.value)
                .is_some_and(|topology| event.kind == Kind::Ok && !topology.is_migrating());
            if !settled {
                self.look(ctx);
            }
            return;
        }
        one.attempts_left -= 1;
        if event.kind != Kind::Ok && one.attempts_left > 0 {
            one.due = event.time.saturating_add(TRY_AGAIN);
            self.left.push_back(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::tests::workload;
    use super::*;
    use crate::client::kvrocks::ClientKind;
    use crate::generator::{Asked, Reply, Simulated, Threads, limit, sequence, simulate};
    use crate::op::{Key, Outcome, Value};
    use crate::rng::Rng;
    use crate::workload::Workload;

    const OPERATIONS: usize = 100;

    fn topology(is_migrating: bool) -> Value {
        let slot = if is_migrating { json!("1") } else { json!(null) };
        let shard = json!({
            "nodes": [], "slot_ranges": [], "target_shard_index": 1, "migrating_slot": slot
        });
        Value::Json(Box::new(json!({ "version": 1, "shards": [shard] })))
    }

    /// A hundred operations, then the drain in this world; the drain's events.
    fn drained(yaml: &str, mut world: impl FnMut(&Asked) -> Outcome) -> Vec<Event> {
        let workload = workload(yaml);
        let work = limit(OPERATIONS as u64, workload.source(Rng::from_seed(1)));
        let mut all = sequence(vec![Box::new(work), workload.drain()]);
        let mut count = 0;
        let run: Simulated = simulate(&mut all, Threads::with_operators(24, 4, 2), |asked| {
            count += 1;
            let outcome = match count > OPERATIONS {
                false => Outcome::Ok(Value::Nil),
                true => world(asked),
            };
            Some(Reply { after: MILLISECOND, outcome })
        });
        assert!(!run.stuck);
        let begins = run.events.iter().filter(|event| event.kind == Kind::Invoke);
        let first = begins.clone().nth(OPERATIONS).expect("a drain").index;
        run.events[first as usize..].to_vec()
    }

    fn fine(asked: &Asked) -> Outcome {
        match asked.f {
            "topology" => Outcome::Ok(topology(false)),
            _ => Outcome::Ok(Value::Int(1)),
        }
    }

    fn invoked<'a>(events: &'a [Event], f: &'a str) -> impl Iterator<Item = &'a Event> {
        events.iter().filter(move |event| event.kind == Kind::Invoke && &*event.f == f)
    }

    #[test]
    fn every_key_is_read_by_somebody_who_finds_it_and_every_node_dumped() {
        let workload = workload("{}");
        let events = drained("{ops_per_key: 5}", fine);
        assert_eq!(invoked(&events, "topology").count(), 1);
        let keys: BTreeSet<&Key> =
            invoked(&events, "read").filter_map(|e| e.key.as_ref()).collect();
        assert!(keys.len() > 15, "{keys:?}");
        assert_eq!(invoked(&events, "read").count(), keys.len());
        for read in invoked(&events, "read") {
            let Process::Client(process) = read.process else { panic!("{read:?}") };
            assert_ne!(workload.kind(process as usize % 26, 4), ClientKind::Pinned);
        }
        let nodes: Vec<_> = invoked(&events, "dump").filter_map(|event| event.node).collect();
        assert_eq!(nodes.len(), 4);
        assert_eq!(nodes.iter().collect::<BTreeSet<_>>().len(), 4);
        let last_read = events.iter().rfind(|event| &*event.f == "read").expect("reads");
        let first_dump = invoked(&events, "dump").next().expect("dumps");
        assert_eq!(first_dump.time, last_read.time + CATCH_UP);
    }

    #[test]
    fn it_waits_for_migrations_to_end_but_not_for_ever() {
        let mut looks = 0;
        let events = drained("{}", |asked| match asked.f {
            "topology" => {
                looks += 1;
                Outcome::Ok(topology(looks < 5))
            }
            _ => fine(asked),
        });
        assert_eq!(invoked(&events, "topology").count(), 5);
        let stuck = drained("{}", |asked| match asked.f {
            "topology" => Outcome::Fail("307".into()),
            _ => fine(asked),
        });
        assert_eq!(invoked(&stuck, "topology").count(), MOST_LOOKS as usize);
        assert_eq!(invoked(&stuck, "dump").count(), 4);
    }

    #[test]
    fn what_is_refused_is_tried_again_and_given_up_in_the_end() {
        let sound = invoked(&drained("{}", fine), "read").count();
        let never = drained("{}", |asked| match asked.f {
            "read" => Outcome::Fail("TRYAGAIN".into()),
            _ => fine(asked),
        });
        assert_eq!(invoked(&never, "read").count(), sound * ATTEMPTS as usize);
        let pinned = drained("{clients: {pinned: 1}}", fine);
        assert_eq!(invoked(&pinned, "read").count(), sound, "even where nobody follows");
    }
}
