//! The checkers that users of Jepsen expect, each a model by name.
//!
//! All take in one event after the other and keep only what may still matter; a violation that
//! nothing later can undo is told at once. What Jepsen defines is judged as Jepsen judges it: the
//! anomalies bear its names. Besides, there are general forms that it lacks: epochs, staleness, progress.

mod adya;
mod bank;
mod causal;
mod counter;
mod dirty_read;
mod elements;
mod epochs;
mod errors;
mod kafka;
mod levels;
mod log_pattern;
mod long_fork;
mod monotonic;
mod monotonic_inserts;
mod parts;
mod precedence;
mod progress;
mod promise;
mod sequential;
mod session;
mod set;
mod set_full;
mod staleness;
mod stats;
mod streaming;
mod tally;
#[cfg(test)]
mod tests;
mod total_queue;
mod unique_ids;
mod unordered_queue;

pub use log_pattern::{CRASHES, LogPattern};

use crate::checker::{Availability, ModelKind};

pub const ADYA_G2: ModelKind = ModelKind {
    name: "adya-g2",
    what: "insert [key [a b]]: of two inserts that each look for the other, one succeeds",
    checkers: streaming::checkers::<adya::AdyaG2>,
};

pub const AVAILABILITY: ModelKind = ModelKind {
    name: "availability",
    what: "any: the longest time without an ok, and what part was answered, by node, key and fault; never a verdict",
    checkers: |_| Ok(vec![Box::new(Availability)]),
};

pub const BANK: ModelKind = ModelKind {
    name: "bank",
    what: "read {account balance ...}, transfer: every read sums to the same total, and no balance is negative; --anomalies wrong-total: that may be",
    checkers: bank::checkers,
};

pub const CAUSAL: ModelKind = ModelKind {
    name: "causal",
    what: "read-init, write of 1, 2, ..., read: each step of a key sees the one before",
    checkers: streaming::checkers::<causal::Causal>,
};

pub const CAUSAL_REVERSE: ModelKind = ModelKind {
    name: "causal-reverse",
    what: "write, read [value ...]: who sees a write sees every write that had completed before it began",
    checkers: streaming::checkers::<precedence::CausalReverse>,
};

pub const COMMENTS: ModelKind = ModelKind {
    name: "comments",
    what: "write, read [value ...]: who sees a write sees every write that had completed before it began",
    checkers: streaming::checkers::<precedence::Comments>,
};

pub const COUNTER: ModelKind = ModelKind {
    name: "counter",
    what: "add, read: every read is within what the adds so far can have made of the counter",
    checkers: streaming::checkers::<counter::Counter>,
};

pub const DIRTY_READ: ModelKind = ModelKind {
    name: "dirty-read",
    what: "write, read, strong-read [value ...]: what was written or read is in every strong read",
    checkers: streaming::checkers::<dirty_read::DirtyRead>,
};

pub const EPOCHS: ModelKind = ModelKind {
    name: "epochs",
    what: "claim, observe [epoch leader]: one leader in each epoch, and epochs only grow; --consistency linearizable: those observed, too",
    checkers: epochs::checkers,
};

pub const ERRORS: ModelKind = ModelKind {
    name: "errors",
    what: "any: which errors came, and how often; never a verdict",
    checkers: streaming::checkers::<errors::Errors>,
};

pub const KAFKA: ModelKind = ModelKind {
    name: "kafka",
    what: "send, poll, txn, assign, subscribe: what is sent is polled, once, in the order of its log",
    checkers: streaming::checkers::<kafka::Kafka>,
};

pub const LONG_FORK: ModelKind = ModelKind {
    name: "long-fork",
    what: "[w k v], [r k v] ...: no two reads of the same keys saw writes in opposite orders",
    checkers: streaming::checkers::<long_fork::LongFork>,
};

pub const MONOTONIC: ModelKind = ModelKind {
    name: "monotonic",
    what: "any answer of a number or {key number ...}: numbers only grow, in one order for all",
    checkers: streaming::checkers::<monotonic::Monotonic>,
};

pub const MONOTONIC_INSERTS: ModelKind = ModelKind {
    name: "monotonic-inserts",
    what: "add, read [{val sts ...} ...]: every row is there once, and val and sts grow (CockroachDB's `monotonic`); --consistency linearizable: val for all, not for each proc",
    checkers: monotonic_inserts::checkers,
};

pub const PROGRESS: ModelKind = ModelKind {
    name: "progress",
    what: "any: how long processes waited for an answer after the last fault; --consistency progress-within:MS: at most, while no fault is in force",
    checkers: progress::checkers,
};

pub const SEQUENTIAL: ModelKind = ModelKind {
    name: "sequential",
    what: "add, read [key [last .. first]]: who sees one process's later insert sees its earlier ones",
    checkers: streaming::checkers::<sequential::Sequential>,
};

pub const SESSION: ModelKind = ModelKind {
    name: "session",
    what: "read, write, txn, values unique: read your writes, monotonic reads and writes, writes follow reads",
    checkers: streaming::checkers::<session::Session>,
};

pub const SET: ModelKind = ModelKind {
    name: "set",
    what: "add, read: the last read has every element that was added, and none that was not",
    checkers: streaming::checkers::<set::Set>,
};

pub const SET_FULL: ModelKind = ModelKind {
    name: "set-full",
    what: "add, read: no element vanishes for good; --consistency linearizable: nor for a while",
    checkers: set_full::checkers,
};

pub const STALENESS: ModelKind = ModelKind {
    name: "staleness",
    what: "read, write, values unique: how stale reads were; --consistency bounded-staleness:MS: at most",
    checkers: staleness::checkers,
};

pub const STATS: ModelKind = ModelKind {
    name: "stats",
    what: "any: how operations ended, by name; of each name one is ok",
    checkers: streaming::checkers::<stats::Stats>,
};

pub const TOTAL_QUEUE: ModelKind = ModelKind {
    name: "total-queue",
    what: "enqueue, dequeue, drain: what went in comes out, and nothing else does",
    checkers: streaming::checkers::<total_queue::TotalQueue>,
};

pub const UNIQUE_IDS: ModelKind = ModelKind {
    name: "unique-ids",
    what: "generate: every id is handed out once",
    checkers: streaming::checkers::<unique_ids::UniqueIds>,
};

pub const UNORDERED_QUEUE: ModelKind = ModelKind {
    name: "queue",
    what: "enqueue, dequeue: what comes out was put in, in whatever order (Jepsen's `queue`)",
    checkers: streaming::checkers::<unordered_queue::UnorderedQueue>,
};
