//! Logs of messages: what was sent is polled, once, in one order. As Jepsen's `kafka`, by its names.
//!
//! Operations are lists of `[send key message]`, answered `[send key [offset message]]`, and
//! `[poll]`, answered `[poll {key [[offset message] ...]}]`; `assign` and `subscribe` set the keys that a
//! process polls. Messages are unique within a key.
//!
//! Of each key the order of its messages is that of the offsets told by polls, and by sends that
//! surely took effect: they were acknowledged, or a message of theirs was polled. All is judged
//! against these orders at the end, which takes about 50 bytes for each message told of.
//!
//! As in Jepsen, `int-send-skip` and G0 are no violations unless they are asked for by their names, and
//! with `subscribe` neither are `poll-skip` and `nonmonotonic-poll`, for assignments change at any
//! time. A history does not say when they change, so with `subscribe` what a single operation polls out
//! of order leaves the verdict open.

mod cycles;
mod lag;
mod log;
mod losses;
mod order;
mod parse;

use rustc_hash::FxHashMap;

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, at};
use crate::checker::Shows;
use crate::op::Kind;
use lag::Lag;
use log::Logs;
use parse::{Part, Parts};

/// One message told of, sent or polled.
#[derive(Clone, Copy)]
struct Entry {
    key: u32,
    message: u32,
    /// Where it is in the log, if that was told.
    offset: Option<i64>,
}

/// What a completed operation was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Messages,
    /// Its entries are the keys that are polled from now on.
    Assign,
}

/// A completed operation; one that never completed is `info`.
#[derive(Clone, Copy)]
struct Op {
    task: Task,
    kind: Kind,
    done: Moment,
    /// Where its entries are, sends before polls.
    sends: u32,
    polls: u32,
    end: u32,
}

#[derive(Clone, Default)]
pub(super) struct Kafka {
    keys: Elements,
    messages: Elements,
    ops: Vec<Op>,
    entries: Vec<Entry>,
    /// What each process is about to send.
    asked: FxHashMap<u32, (Moment, Vec<Entry>)>,
    subscribes: bool,
    lag: Lag,
}

impl Kafka {
    fn sends(&self, op: &Op) -> &[Entry] {
        &self.entries[op.sends as usize..op.polls as usize]
    }

    fn polls(&self, op: &Op) -> &[Entry] {
        &self.entries[op.polls as usize..op.end as usize]
    }

    fn message(&self, entry: &Entry) -> String {
        format!("{} of key {}", self.messages.name(entry.message), self.keys.name(entry.key))
    }

    /// `process 3 at 2.100 s`.
    fn who(op: &Op) -> String {
        format!("process {} at {}", op.done.process, at(op.done))
    }

    fn number(&mut self, parts: &Parts) -> (Vec<Entry>, Vec<Entry>) {
        let (mut sends, mut polls) = (Vec::new(), Vec::new());
        for Part { polled, key, message, offset } in parts.all.iter().copied() {
            let (key, message) = (self.keys.number(key), self.messages.number(message));
            let of = if polled { &mut polls } else { &mut sends };
            of.push(Entry { key, message, offset });
        }
        (sends, polls)
    }

    fn push(&mut self, task: Task, kind: Kind, done: Moment, sends: &[Entry], polls: &[Entry]) {
        let start = self.entries.len() as u32;
        self.entries.extend_from_slice(sends);
        self.entries.extend_from_slice(polls);
        let middle = start + sends.len() as u32;
        let end = self.entries.len() as u32;
        self.ops.push(Op { task, kind, done, sends: start, polls: middle, end });
    }

    fn messages(&mut self, step: &Step, tally: &mut Tally) {
        let parts = match parse::parts(step.value) {
            Ok(parts) => parts,
            Err(expected) => {
                let (index, found) = (step.event.index, step.value.to_text());
                tally.broken(|| format!("event {index}: {found:.60}, expected {expected}"));
                return;
            }
        };
        let (mut sends, polls) = self.number(&parts);
        if step.kind() == Kind::Invoke {
            self.asked.insert(step.process, (step.now(), sends));
            return;
        }
        let asked = self.asked.remove(&step.process);
        if step.value.is_nil() {
            sends = asked.map_or(Vec::new(), |(_, sends)| sends);
        }
        if step.kind() == Kind::Ok {
            tally.count("sent", sends.len() as u64);
            tally.count("polled", polls.len() as u64);
        }
        if step.kind() != Kind::Fail {
            self.lag.take(step, &sends, &polls);
        }
        if step.kind() == Kind::Ok && step.f != "send" {
            self.lag.tell(self, step, tally);
        }
        self.push(Task::Messages, step.kind(), step.now(), &sends, &polls);
    }

    fn assign(&mut self, step: &Step) {
        self.subscribes |= step.f == "subscribe";
        if !matches!(step.kind(), Kind::Ok | Kind::Info) {
            return;
        }
        let keys = step.value.items().into_iter().flatten();
        let entry = |key| Entry { key, message: 0, offset: None };
        let entries: Vec<Entry> = keys.map(|key| entry(self.keys.number(key))).collect();
        if step.kind() == Kind::Ok {
            self.lag.assign(step.process, step.f == "subscribe", &entries);
        }
        self.push(Task::Assign, step.kind(), step.now(), &entries, &[]);
    }

    /// What was still open may have happened.
    fn close(&mut self) {
        let mut open: Vec<(Moment, Vec<Entry>)> =
            self.asked.drain().map(|(_, open)| open).collect();
        open.sort_unstable_by_key(|(begun, _)| begun.index);
        for (begun, sends) in open {
            self.push(Task::Messages, Kind::Info, begun, &sends, &[]);
        }
    }

    /// Operations on messages.
    fn transfers(&self) -> impl Iterator<Item = &Op> {
        self.ops.iter().filter(|op| op.task == Task::Messages)
    }
}

impl Workload for Kafka {
    const NAME: &'static str = "kafka";
    const OPS: &'static [&'static str] = &[];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match step.f {
            "send" | "poll" | "txn" => self.messages(step, tally),
            "assign" | "subscribe" => self.assign(step),
            // `crash`, `debug-topic-partitions` and the like say nothing of the logs.
            _ => {}
        }
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        self.close();
        let logs = Logs::of(self);
        losses::judge(self, &logs, tally);
        order::judge(self, &logs, tally);
        cycles::judge(self, &logs, tally);
        let is_told = |op: &Op| op.kind == Kind::Ok && op.end > op.sends;
        if !self.transfers().any(is_told) {
            tally.open(|| {
                "no message was acknowledged or polled, so there is nothing to judge".to_owned()
            });
        }
    }

    fn bytes(&self) -> usize {
        self.keys.bytes()
            + self.messages.bytes()
            + self.lag.bytes()
            + self.ops.capacity() * size_of::<Op>()
            // The logs are made at the end, of much the same size.
            + self.entries.capacity() * size_of::<Entry>() * 3
    }
}
