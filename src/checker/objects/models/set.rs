//! A set that is added to, removed from, asked for a member and read as a whole.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::checker::ModelOptions;
use crate::checker::objects::atom::{Atom, listed};
use crate::checker::objects::fast::{self, Shortcut};
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::{Seen, Timed};
use crate::history::Datum;
use crate::op::Value;

/// A set. Elements are judged apart unless somebody read the whole set.
#[derive(Clone, Debug)]
pub struct Set {
    pub(in crate::checker::objects) init: BTreeSet<Atom>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The answer, if there was one, says whether it was not there before.
    Add(Atom, Option<bool>),
    /// The answer, if there was one, says whether it was there before.
    Remove(Atom, Option<bool>),
    Contains(Atom, bool),
    /// All that is there.
    Read(BTreeSet<Atom>),
}

impl Set {
    pub fn new(options: &ModelOptions) -> Result<Set, String> {
        let init = Datum::Json(options.initial()).to_value();
        let items = items(&init).ok_or_else(|| {
            format!("a set cannot hold `{init}` at first: expected a list of elements, or nothing")
        })?;
        Ok(Set { init: items })
    }
}

fn items(value: &Value) -> Option<BTreeSet<Atom>> {
    match value {
        Value::Nil => Some(BTreeSet::new()),
        other => Some(Atom::list(other)?.into_iter().collect()),
    }
}

/// Yes or no, by itself or after the element.
fn truth(answer: Option<&Value>) -> Option<bool> {
    match answer {
        Some(Value::Json(json)) => match &**json {
            Json::Bool(truth) => Some(*truth),
            Json::Array(items) => items.get(1)?.as_bool(),
            _ => None,
        },
        _ => None,
    }
}

impl Object for Set {
    type State = BTreeSet<Atom>;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "linearizable-set"
    }

    fn init(&self) -> BTreeSet<Atom> {
        self.init.clone()
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        let (answer, element) = (truth(seen.answer()), Atom::of(seen.asked()));
        match seen.f() {
            "add" | "insert" => Ok(Some(Operation::Add(element, answer))),
            "remove" | "delete" => Ok(Some(Operation::Remove(element, answer))),
            "contains" | "member" if seen.answer().is_none() => Ok(None),
            "contains" | "member" => {
                let answer = answer.ok_or_else(|| seen.unreadable("true or false"))?;
                Ok(Some(Operation::Contains(element, answer)))
            }
            "read" | "read-all" => match seen.answer() {
                None => Ok(None),
                Some(answer) => {
                    let items = items(answer).ok_or_else(|| seen.unreadable("a list"))?;
                    Ok(Some(Operation::Read(items)))
                }
            },
            _ => Err(seen.foreign("add, remove, contains, read")),
        }
    }

    fn step(&self, state: &BTreeSet<Atom>, operation: &Operation) -> Option<BTreeSet<Atom>> {
        let mut next = state.clone();
        let is_so = match operation {
            Operation::Add(element, answer) => {
                let is_new = next.insert(element.clone());
                answer.is_none_or(|answer| answer == is_new)
            }
            Operation::Remove(element, answer) => {
                let was_there = next.remove(element);
                answer.is_none_or(|answer| answer == was_there)
            }
            Operation::Contains(element, answer) => state.contains(element) == *answer,
            Operation::Read(seen) => seen == state,
        };
        is_so.then_some(next)
    }

    fn describe(&self, operation: &Operation) -> String {
        let told = |answer: &Option<bool>, yes, no| match answer {
            None => "",
            Some(true) => yes,
            Some(false) => no,
        };
        match operation {
            Operation::Add(element, answer) => {
                let told = told(answer, " as new", " that was there already");
                format!("add of {element}{told}")
            }
            Operation::Remove(element, answer) => {
                let told = told(answer, " that was there", " that was not there");
                format!("remove of {element}{told}")
            }
            Operation::Contains(element, true) => format!("sight of {element}"),
            Operation::Contains(element, false) => format!("look for {element} in vain"),
            Operation::Read(seen) => {
                let items: Vec<Atom> = seen.iter().cloned().collect();
                format!("read of {}", listed(&items))
            }
        }
    }

    fn describe_state(&self, state: &BTreeSet<Atom>) -> String {
        let items: Vec<Atom> = state.iter().cloned().collect();
        format!("the set is {}", listed(&items))
    }

    fn observes(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Contains(..) | Operation::Read(_))
    }

    fn parts(&self, operation: &Operation) -> Vec<u64> {
        match operation {
            Operation::Add(element, _)
            | Operation::Remove(element, _)
            | Operation::Contains(element, _) => vec![element.digest()],
            Operation::Read(_) => Vec::new(),
        }
    }

    /// Nobody needs an addition but who saw the element, nor a removal but who saw that it was gone.
    fn may_tell(&self, by: &Operation, open: &Operation) -> bool {
        match open {
            Operation::Add(element, _) => by.sees(element) == Some(true),
            Operation::Remove(element, _) => by.sees(element) == Some(false),
            Operation::Contains(..) | Operation::Read(_) => false,
        }
    }

    fn resets(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Remove(..))
    }

    /// Without a removal, what is there stays.
    fn hopeless(&self, state: &BTreeSet<Atom>, wanted: &Operation) -> bool {
        match wanted {
            Operation::Read(seen) => !state.is_subset(seen),
            Operation::Contains(element, false) => state.contains(element),
            _ => false,
        }
    }

    /// Elements do not disturb each other.
    fn clusters(&self, operation: &Operation) -> Vec<u64> {
        let elements: Vec<&Atom> = match operation {
            Operation::Add(element, _)
            | Operation::Remove(element, _)
            | Operation::Contains(element, _) => vec![element],
            Operation::Read(seen) => seen.iter().collect(),
        };
        let own = elements.into_iter().filter(|element| !self.init.contains(*element));
        own.map(Atom::digest).collect()
    }

    fn without(&self, operation: &Operation, clusters: &[u64]) -> Option<Operation> {
        let stays = |element: &&Atom| {
            self.init.contains(*element) || clusters.binary_search(&element.digest()).is_err()
        };
        match operation {
            Operation::Add(element, _)
            | Operation::Remove(element, _)
            | Operation::Contains(element, _) => stays(&element).then(|| operation.clone()),
            Operation::Read(seen) => {
                Some(Operation::Read(seen.iter().filter(stays).cloned().collect()))
            }
        }
    }

    fn shortcut(&self, operations: &[Timed<Operation>]) -> Shortcut {
        fast::growing::decide(&self.init, operations)
    }

    fn weight(&self, state: &BTreeSet<Atom>) -> usize {
        size_of::<BTreeSet<Atom>>() + state.len() * 2 * size_of::<Atom>()
    }
}

impl Operation {
    /// Whether the element was there, if this tells.
    fn sees(&self, element: &Atom) -> Option<bool> {
        match self {
            Operation::Read(seen) => Some(seen.contains(element)),
            Operation::Add(one, Some(answer)) if one == element => Some(!answer),
            Operation::Remove(one, Some(answer)) if one == element => Some(*answer),
            Operation::Contains(one, answer) if one == element => Some(*answer),
            _ => None,
        }
    }
}
