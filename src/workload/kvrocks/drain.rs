//! The end of a run: wait until no slot is on its way, read every key where it lives, and then what each
//! node has of all keys, until the nodes of a shard agree.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value as Json;

use super::Kvrocks;
use crate::generator::{Context, Generator, Next, To, What};
use crate::op::{
    Call, ClusterTopology, Event, Kind, MILLISECOND, Manage, Nanos, Process, SECOND, Value,
};

/// So often the topology is looked at, at most, for migrations to end.
const MOST_LOOKS: u32 = 160;

const LOOK_EVERY: Nanos = 250 * MILLISECOND;

/// Tries of one final operation that nobody else can do better.
const ATTEMPTS: u32 = 8;

/// For so long a key is asked for whose slot is refused to clients that follow: what is stuck shall be seen
/// to be stuck, not just late.
const PATIENCE: Nanos = 40 * SECOND;

/// A refusal may pass: tries of one operation are so far apart.
const TRY_AGAIN: Nanos = 250 * MILLISECOND;

/// How long replicas have to catch up with what was last written.
const CATCH_UP: Nanos = SECOND;

/// Nodes of a shard that do not agree are asked again, so often and for so long.
const AGREE_EVERY: Nanos = 500 * MILLISECOND;
const AGREE_WITHIN: Nanos = 8 * SECOND;

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
    /// When the dumps began, and what each node told in the last round of them.
    dumping_since: Nanos,
    told: BTreeMap<usize, BTreeMap<String, Json>>,
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
    /// Not tried again after this time.
    until: Nanos,
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
            dumping_since: 0,
            told: BTreeMap::new(),
        }
    }

    /// A free thread that can do this.
    fn thread(&self, ctx: &Context, to: Whom) -> Option<usize> {
        let is_free = |thread: &usize| ctx.threads.is_free(*thread);
        match to {
            Whom::Operator(turn) => {
                let operators = ctx.operators();
                let thread = operators.start + turn % operators.len().max(1);
                Some(thread).filter(|thread| operators.contains(thread) && is_free(thread))
            }
            Whom::Node(node) => ctx.pick(To::Node(node)),
            Whom::Finder => match self.finders(ctx).next() {
                Some(_) => self.finders(ctx).find(is_free),
                // Clients that follow nobody: one of them may be at the right node.
                None => ctx.pick(To::Any),
            },
        }
    }

    /// Goes on to the next stage that has anything to do; false after the last.
    fn advance(&mut self, ctx: &Context) -> bool {
        match self.stage {
            Stage::Settle => {
                self.stage = Stage::Read;
                let until = ctx.time.saturating_add(PATIENCE);
                let attempts_left =
                    if self.finders(ctx).next().is_some() { u32::MAX } else { ATTEMPTS };
                let read = |call| Final { call, to: Whom::Finder, attempts_left, until, due: 0 };
                self.left = self.last_keys().into_iter().map(read).collect();
            }
            Stage::Read => {
                self.stage = Stage::Dump;
                self.due = ctx.time.saturating_add(CATCH_UP);
                self.dumping_since = self.due;
                self.dump(ctx);
            }
            Stage::Dump if self.is_agreed() || ctx.time >= self.dumping_since + AGREE_WITHIN => {
                return false;
            }
            Stage::Dump => {
                self.due = ctx.time.saturating_add(AGREE_EVERY);
                self.dump(ctx);
            }
        }
        true
    }

    fn last_keys(&self) -> Vec<Call> {
        let keys = self.workload.keys().last();
        keys.into_iter().map(|key| self.workload.whole_read(key)).collect()
    }

    /// Threads of clients that find the master of a key.
    fn finders(&self, ctx: &Context) -> impl Iterator<Item = usize> {
        let nodes = ctx.threads.nodes();
        ctx.range().filter(move |thread| self.workload.kind(*thread, nodes).finds_its_way())
    }

    /// Another round of dumps.
    fn dump(&mut self, ctx: &Context) {
        self.told.clear();
        let reads = self.last_keys();
        let nodes = ctx.threads.nodes().min(ctx.threads.concurrency());
        let parts = (0..nodes).flat_map(|node| {
            let (attempts_left, until, due) = (ATTEMPTS, Nanos::MAX, 0);
            let dump = move |part: &[Call]| {
                let call = Call::Dump { reads: part.to_vec() };
                Final { call, to: Whom::Node(node), attempts_left, until, due }
            };
            reads.chunks(KEYS_PER_DUMP).map(dump).collect::<Vec<_>>()
        });
        self.left = parts.collect();
    }

    /// What nodes of a shard told in the last round is the same, as far as several told of it.
    fn is_agreed(&self) -> bool {
        let mut held: BTreeMap<(usize, &str), &Json> = BTreeMap::new();
        let replicas = self.workload.options().replicas.max(1);
        let mut told = self.told.iter().flat_map(|(node, keys)| {
            keys.iter().map(move |(key, value)| ((node / replicas, key.as_str()), value))
        });
        told.all(|(place, value)| *held.entry(place).or_insert(value) == value)
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
            let (due, until) = (ctx.time.saturating_add(LOOK_EVERY), Nanos::MAX);
            let to = Whom::Operator(self.looks_left as usize);
            self.left.push_back(Final { call, to, attempts_left: 1, until, due });
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
        if let (Whom::Node(node), Kind::Ok, Value::Json(json)) = (one.to, event.kind, &event.value)
        {
            let keys = json.as_object().into_iter().flatten();
            let keys = keys.map(|(key, value)| (key.clone(), value.clone()));
            self.told.entry(node).or_default().extend(keys);
        }
        one.attempts_left = one.attempts_left.saturating_sub(1);
        if event.kind != Kind::Ok && one.attempts_left > 0 && event.time < one.until {
            one.due = event.time.saturating_add(TRY_AGAIN);
            self.left.push_back(one);
        }
    }
}

#[cfg(test)]
mod tests;
