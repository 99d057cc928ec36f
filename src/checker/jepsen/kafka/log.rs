//! The log of each key as far as it was told: which messages at which offset.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Entry, Kafka, Op, Task};
use crate::op::Kind;

/// A message of a key.
pub(super) type Message = (u32, u32);

/// Which operation sent a message.
#[derive(Clone, Copy)]
pub(super) struct Writer {
    pub op: u32,
    pub kind: Kind,
    /// Whether it surely took effect.
    pub committed: bool,
}

/// One key's log: places in order, holes left out, each with the messages told to be there.
#[derive(Default)]
pub(super) struct Log {
    /// By offset, then in the order in which they were told.
    pub places: Vec<(i64, Vec<u32>)>,
    /// The place of each message; the last where it has several, and nothing where another one took it.
    pub place_of: FxHashMap<u32, u32>,
}

#[derive(Default)]
pub(super) struct Logs {
    /// By the number of the key.
    pub logs: Vec<Log>,
    pub writers: FxHashMap<Message, Writer>,
    /// What `ok` operations polled.
    pub polled: FxHashSet<Message>,
}

impl Logs {
    pub fn of(kafka: &Kafka) -> Logs {
        let mut logs = Logs::default();
        logs.logs.resize_with(kafka.keys.len(), Log::default);
        let ok = kafka.transfers().filter(|op| op.kind == Kind::Ok);
        logs.polled = ok.flat_map(|op| kafka.polls(op)).map(|e| (e.key, e.message)).collect();
        let mut told: Vec<(u32, i64, u32, u32)> = Vec::new();
        for (number, op) in (0_u32..).zip(&kafka.ops) {
            if op.task == Task::Messages {
                logs.take(kafka, number, op, &mut told);
            }
        }
        logs.order(told);
        logs
    }

    fn take(&mut self, kafka: &Kafka, number: u32, op: &Op, told: &mut Vec<(u32, i64, u32, u32)>) {
        let sends = kafka.sends(op);
        let seen = || sends.iter().any(|send| self.polled.contains(&(send.key, send.message)));
        let committed = op.kind == Kind::Ok || (op.kind == Kind::Info && seen());
        for send in sends {
            let writer = Writer { op: number, kind: op.kind, committed };
            self.writers.insert((send.key, send.message), writer);
        }
        let sure: &[Entry] = if committed { sends } else { &[] };
        for entry in sure.iter().chain(kafka.polls(op)) {
            if let Some(offset) = entry.offset {
                // Of several messages at one offset, the first that was told goes first.
                told.push((entry.key, offset, told.len() as u32, entry.message));
            }
        }
    }

    fn order(&mut self, mut told: Vec<(u32, i64, u32, u32)>) {
        told.sort_unstable();
        for run in told.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            let mut messages: Vec<u32> = Vec::with_capacity(1);
            for (.., message) in run {
                if !messages.contains(message) {
                    messages.push(*message);
                }
            }
            let log = &mut self.logs[run[0].0 as usize];
            log.place_of.insert(messages[0], log.places.len() as u32);
            log.places.push((run[0].1, messages));
        }
    }

    /// How far the second message is behind the first in the log; 1 if that is not known.
    pub fn distance(&self, key: u32, first: u32, second: u32) -> i64 {
        let place = |message| self.logs[key as usize].place_of.get(message).copied();
        match (place(&first), place(&second)) {
            (Some(first), Some(second)) => i64::from(second) - i64::from(first),
            _ => 1,
        }
    }
}
