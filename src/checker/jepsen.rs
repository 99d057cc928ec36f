//! The checkers that users of Jepsen expect, each a model by name.
//!
//! All take in one event after the other and keep only what may still matter; a violation that
//! nothing later can undo is told at once. What Jepsen defines is judged as Jepsen judges it: the
//! anomalies bear its names.

mod bank;
mod counter;
mod elements;
mod long_fork;
mod precedence;
mod sequential;
mod set;
mod set_full;
mod streaming;
mod tally;
#[cfg(test)]
mod tests;

use crate::checker::ModelKind;

pub const BANK: ModelKind = ModelKind {
    name: "bank",
    what: "read {account balance ...}, transfer: every read sums to the same total, and no balance is negative",
    checkers: bank::checkers,
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

pub const LONG_FORK: ModelKind = ModelKind {
    name: "long-fork",
    what: "[w k v], [r k v] ...: no two reads of the same keys saw writes in opposite orders",
    checkers: streaming::checkers::<long_fork::LongFork>,
};

pub const SEQUENTIAL: ModelKind = ModelKind {
    name: "sequential",
    what: "add, read [key [last .. first]]: who sees one process's later insert sees its earlier ones",
    checkers: streaming::checkers::<sequential::Sequential>,
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
