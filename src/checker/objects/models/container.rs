//! What queues and stacks have in common: values go in and come out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::checker::objects::atom::Atom;
use crate::checker::objects::search::Guide;
use crate::checker::objects::seen::{NEVER, Seen, Timed};

/// An operation on something that values are put into and taken out of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Put(Atom),
    Take(Taken),
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    Value(Atom),
    /// There was nothing to take.
    Empty,
    /// Nobody knows; there may have been nothing.
    Unknown,
}

/// What operations of a container are called.
pub(super) struct Names {
    pub put: &'static [&'static str],
    pub take: &'static [&'static str],
    pub expected: &'static str,
}

impl Names {
    /// The operation of a history. Taking nothing is an `ok` with nil.
    pub fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        if self.put.contains(&seen.f()) {
            return Ok(Some(Operation::Put(Atom::of(seen.asked()))));
        }
        if !self.take.contains(&seen.f()) {
            return Err(seen.foreign(self.expected));
        }
        Ok(Some(Operation::Take(match seen.answer().map(Atom::of) {
            None => Taken::Unknown,
            Some(Atom::Nil) => Taken::Empty,
            Some(value) => Taken::Value(value),
        })))
    }

    pub fn describe(&self, operation: &Operation) -> String {
        let (put, take) = (self.put[0], self.take[0]);
        match operation {
            Operation::Put(value) => format!("{put} of {value}"),
            Operation::Take(Taken::Value(value)) => format!("{take} of {value}"),
            Operation::Take(Taken::Empty) => format!("{take} that found nothing"),
            Operation::Take(Taken::Unknown) => take.to_owned(),
        }
    }
}

/// Where every value goes in once and comes out once, whoever takes the value that is next may as well do so at once: it stays
/// next until taken. And what goes in is tried in order of when it comes out, by `rank`.
pub(super) fn guide(operations: &[Timed<Operation>], rank: fn(u32) -> u32) -> Vec<Guide> {
    let mut taken: FxHashMap<&Atom, u32> = FxHashMap::default();
    let mut put: FxHashSet<&Atom> = FxHashSet::default();
    let mut is_unique = true;
    for timed in operations {
        is_unique &= match &timed.operation {
            Operation::Put(value) => put.insert(value),
            Operation::Take(Taken::Value(value)) => taken.insert(value, timed.complete).is_none(),
            Operation::Take(_) => true,
        };
    }
    let guide = |timed: &Timed<Operation>| match &timed.operation {
        Operation::Put(value) if is_unique => {
            Guide { is_eager: false, rank: rank(taken.get(value).copied().unwrap_or(NEVER)) }
        }
        operation => Guide {
            is_eager: operation.is_of_nothing()
                || is_unique && matches!(operation, Operation::Take(Taken::Value(_))),
            rank: timed.complete,
        },
    };
    operations.iter().map(guide).collect()
}

impl Operation {
    pub fn is_of_nothing(&self) -> bool {
        matches!(self, Operation::Take(Taken::Empty))
    }

    /// The value that went in or came out.
    pub fn value(&self) -> Option<&Atom> {
        match self {
            Operation::Put(value) | Operation::Take(Taken::Value(value)) => Some(value),
            Operation::Take(_) => None,
        }
    }

    /// All operations of one value can be left out of any order: what else went in comes out as before,
    /// and what was empty still is. A taking of unknown result that took it goes with it.
    pub fn clusters(&self) -> Vec<u64> {
        self.value().map(Atom::digest).into_iter().collect()
    }

    /// See `clusters`.
    pub fn without(&self, clusters: &[u64]) -> Option<Operation> {
        let is_chosen = |value: &Atom| clusters.binary_search(&value.digest()).is_ok();
        (!self.value().is_some_and(is_chosen)).then(|| self.clone())
    }

    /// Whether this can tell that `open` happened: only who took a value knows that it went in (else it
    /// may be left out, with the taking of unknown result that took it), and only who took something, or
    /// found nothing, knows what others took.
    pub fn may_tell(&self, open: &Operation) -> bool {
        match (self, open) {
            (Operation::Put(_), _) => false,
            (Operation::Take(taken), Operation::Put(value)) => match taken {
                Taken::Value(seen) => seen == value,
                Taken::Empty | Taken::Unknown => false,
            },
            (Operation::Take(_), Operation::Take(_)) => true,
        }
    }
}
