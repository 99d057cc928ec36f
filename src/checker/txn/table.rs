//! The transactions of a history in flat arrays, taken in event by event.
//!
//! A transaction costs some 45 bytes and 16 for each of its micro-operations, whatever lists were read.

mod intern;
mod lists;
mod take;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use intern::{Interner, Keys};
pub use lists::{ListRead, Lists};

use crate::checker::in_flight::InFlight;
use crate::op::Nanos;

/// No transaction, no value, no branch.
pub const NONE: u32 = u32::MAX;

/// What the micro-operations of a workload act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `["append", k, v]` and `["r", k, [v ...]]`.
    Lists,
    /// `["w", k, v]` and `["r", k, v]`.
    Registers,
}

/// One part of a transaction. Keys and values are numbers of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MicroOp {
    /// Of a register, or an append to a list.
    Write {
        key: u32,
        value: u32,
    },
    /// Of a register; [`NONE`] where it was empty (`nil`).
    Read {
        key: u32,
        value: u32,
    },
    ReadList {
        key: u32,
        read: ListRead,
    },
    /// A read whose result nobody knows.
    Asked {
        key: u32,
    },
}

impl MicroOp {
    pub fn key(self) -> u32 {
        match self {
            MicroOp::Write { key, .. }
            | MicroOp::Read { key, .. }
            | MicroOp::ReadList { key, .. }
            | MicroOp::Asked { key } => key,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    /// It may have taken effect, or may yet; also one without completion.
    Info,
    /// It surely had no effect.
    Fail,
}

/// When something happened: the event's index in the history, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub index: u64,
    pub time: Nanos,
}

/// All of a transaction but its micro-operations.
#[derive(Clone, Copy, Debug)]
pub struct Txn {
    pub process: u32,
    pub outcome: Outcome,
    /// Absent in histories of completions only: then it is nowhere told when the transaction began.
    pub invoked: Option<Moment>,
    pub completed: Option<Moment>,
    first: u32,
    last: u32,
}

impl Txn {
    /// The event by which a reader finds it: its invocation, or its completion if that is all there is.
    pub fn event(&self) -> Moment {
        self.invoked.or(self.completed).unwrap_or(Moment { index: 0, time: 0 })
    }

    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }
}

/// An event of a transaction, in the order of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Invoke(u32),
    Complete(u32),
}

/// The transactions of a history, numbered by the order of their first events.
#[derive(Debug)]
pub struct Table {
    shape: Shape,
    txns: Vec<Txn>,
    micro_ops: Vec<MicroOp>,
    steps: Vec<u32>,
    /// By process: its transaction under way.
    open: InFlight,
    pub keys: Keys,
    pub values: Interner,
    pub lists: Lists,
    refused: Option<String>,
    /// The index of a transaction that may have had effect, of which nobody knows which.
    blind: Option<u64>,
    /// Reused for each list that is read.
    list: Vec<u32>,
}

impl Table {
    pub fn new(shape: Shape) -> Table {
        Table {
            shape,
            txns: Vec::new(),
            micro_ops: Vec::new(),
            steps: Vec::new(),
            open: InFlight::default(),
            keys: Keys::default(),
            values: Interner::default(),
            lists: Lists::default(),
            refused: None,
            blind: None,
            list: Vec::new(),
        }
    }

    pub fn holds_lists(&self) -> bool {
        self.shape == Shape::Lists
    }

    pub fn len(&self) -> usize {
        self.txns.len()
    }

    pub fn txn(&self, id: u32) -> &Txn {
        &self.txns[id as usize]
    }

    pub fn micro_ops(&self, id: u32) -> &[MicroOp] {
        let txn = self.txn(id);
        &self.micro_ops[txn.first as usize..txn.last as usize]
    }

    /// How many writes there are in all.
    pub fn writes(&self) -> usize {
        self.micro_ops.iter().filter(|op| matches!(op, MicroOp::Write { .. })).count()
    }

    /// All transactions with their numbers, in order.
    pub fn txns(&self) -> impl Iterator<Item = (u32, &Txn)> {
        (0..).zip(&self.txns)
    }

    /// Their events, in the order of the history.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        self.steps.iter().map(|step| match step & 1 {
            0 => Step::Invoke(step >> 1),
            _ => Step::Complete(step >> 1),
        })
    }

    /// The index of a transaction that may have had effect though it is nowhere told what it was to do:
    /// what nobody wrote may then be its.
    pub fn blind(&self) -> Option<u64> {
        self.blind
    }

    /// Whether it is nowhere told when a transaction began.
    pub fn is_of_completions_alone(&self) -> bool {
        !self.txns.is_empty() && self.txns.iter().all(|txn| txn.invoked.is_none())
    }

    /// What it holds, in a few words.
    pub fn what(&self) -> String {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (txns, keys) = (self.txns.len(), self.keys.len());
        let ok = self.txns.iter().filter(|txn| txn.is_ok()).count();
        format!(
            "{txns} transaction{}, {ok} of them ok, on {keys} key{}",
            plural(txns),
            plural(keys)
        )
    }

    /// What stood in the history where a transaction was expected; nothing can be judged then.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    pub fn key_text(&self, key: u32) -> Cow<'_, str> {
        self.keys.text(key)
    }

    /// `nil` for [`NONE`].
    pub fn value_text(&self, value: u32) -> Cow<'_, str> {
        if value == NONE { Cow::Borrowed("nil") } else { self.values.text(value) }
    }

    /// How much memory it takes, roughly.
    pub fn bytes(&self) -> usize {
        self.txns.capacity() * size_of::<Txn>()
            + self.micro_ops.capacity() * size_of::<MicroOp>()
            + self.steps.capacity() * 4
            + self.keys.bytes()
            + self.values.bytes()
            + self.lists.bytes()
    }
}
