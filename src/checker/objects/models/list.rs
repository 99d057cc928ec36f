//! A list that is appended to and read as a whole.

use crate::checker::ModelOptions;
use crate::checker::objects::atom::{Atom, listed};
use crate::checker::objects::object::Object;
use crate::checker::objects::rope::{Piece, Rope};
use crate::checker::objects::seen::Seen;
use crate::history::Datum;
use crate::op::Value;

/// A list that only grows, at its end.
#[derive(Clone, Debug)]
pub struct List {
    init: Piece<Atom>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Append(Piece<Atom>),
    Read(Piece<Atom>),
}

impl List {
    pub fn new(options: &ModelOptions) -> Result<List, String> {
        let init = Datum::Json(options.initial()).to_value();
        let items = items(&init).ok_or_else(|| {
            format!("a list cannot hold `{init}` at first: expected a list of elements, or nothing")
        })?;
        Ok(List { init: Piece::new(items) })
    }
}

/// The elements; nil is an empty list.
fn items(value: &Value) -> Option<Vec<Atom>> {
    match value {
        Value::Nil => Some(Vec::new()),
        other => Atom::list(other),
    }
}

impl Object for List {
    type State = Rope<Atom>;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "list"
    }

    fn init(&self) -> Rope<Atom> {
        Rope::of(&self.init)
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        match (seen.f(), seen.answer()) {
            ("append" | "add", _) => {
                Ok(Some(Operation::Append(Piece::new(vec![Atom::of(seen.asked())]))))
            }
            ("read" | "get", None) => Ok(None),
            ("read" | "get", Some(answer)) => {
                let items = items(answer).ok_or_else(|| seen.unreadable("a list"))?;
                Ok(Some(Operation::Read(Piece::new(items))))
            }
            _ => Err(seen.foreign("append, read")),
        }
    }

    fn step(&self, state: &Rope<Atom>, operation: &Operation) -> Option<Rope<Atom>> {
        match operation {
            Operation::Append(item) => Some(state.with(item)),
            Operation::Read(seen) => state.is(seen).then(|| state.clone()),
        }
    }

    fn describe(&self, operation: &Operation) -> String {
        match operation {
            Operation::Append(item) => format!("append of {}", item.elements()[0]),
            Operation::Read(seen) => format!("read of {}", listed(seen.elements())),
        }
    }

    fn describe_state(&self, state: &Rope<Atom>) -> String {
        format!("the list is {}", listed(&state.to_vec()))
    }

    fn observes(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Read(_))
    }

    /// What nobody read might as well not have been appended: whoever read the list read it before.
    fn may_tell(&self, by: &Operation, open: &Operation) -> bool {
        match (by, open) {
            (Operation::Read(seen), Operation::Append(item)) => {
                seen.elements().contains(&item.elements()[0])
            }
            _ => false,
        }
    }

    fn resets(&self, _operation: &Operation) -> bool {
        false
    }

    /// What is there stays the beginning.
    fn hopeless(&self, state: &Rope<Atom>, wanted: &Operation) -> bool {
        matches!(wanted, Operation::Read(seen) if !state.begins(seen.elements()))
    }

    fn weight(&self, _state: &Rope<Atom>) -> usize {
        size_of::<Rope<Atom>>() + Rope::<Atom>::LINK
    }
}
