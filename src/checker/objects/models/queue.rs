//! Queues: first in, first out, or in no order, or the least first.

use super::container::{self, Names, Operation, Taken};
use crate::checker::ModelOptions;
use crate::checker::objects::atom::{Atom, listed};
use crate::checker::objects::fast::{self, Shortcut};
use crate::checker::objects::object::Object;
use crate::checker::objects::search::Guide;
use crate::checker::objects::seen::{Seen, Timed};

/// A queue, empty at first.
#[derive(Clone, Debug)]
pub struct Queue {
    discipline: Discipline,
}

/// What comes out next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discipline {
    /// What went in first.
    First,
    /// Anything.
    Any,
    /// The least number.
    Least,
}

const NAMES: Names = Names {
    put: &["enqueue", "enq", "send", "offer"],
    take: &["dequeue", "deq", "poll", "receive"],
    expected: "enqueue, dequeue",
};

const NAMES_OF_PRIORITY: Names = Names {
    put: &["insert", "push", "add", "offer", "enqueue"],
    take: &["delete-min", "pop-min", "extract-min", "pop", "poll", "dequeue"],
    expected: "insert, delete-min",
};

impl Queue {
    pub fn fifo(_options: &ModelOptions) -> Result<Queue, String> {
        Ok(Queue { discipline: Discipline::First })
    }

    pub fn unordered(_options: &ModelOptions) -> Result<Queue, String> {
        Ok(Queue { discipline: Discipline::Any })
    }

    pub fn of_priority(_options: &ModelOptions) -> Result<Queue, String> {
        Ok(Queue { discipline: Discipline::Least })
    }

    fn names(&self) -> &'static Names {
        match self.discipline {
            Discipline::First | Discipline::Any => &NAMES,
            Discipline::Least => &NAMES_OF_PRIORITY,
        }
    }

    /// Where this value may come out.
    fn place_of(&self, state: &[Atom], value: &Atom) -> Option<usize> {
        match self.discipline {
            Discipline::First | Discipline::Least => (state.first() == Some(value)).then_some(0),
            Discipline::Any => state.binary_search(value).ok(),
        }
    }
}

impl Object for Queue {
    /// In order of entry; where that does not count, sorted.
    type State = Vec<Atom>;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        match self.discipline {
            Discipline::First => "fifo-queue",
            Discipline::Any => "unordered-queue",
            Discipline::Least => "priority-queue",
        }
    }

    fn init(&self) -> Vec<Atom> {
        Vec::new()
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        let parsed = self.names().parse(seen)?;
        let expected = "a whole number, the least of which comes out first";
        let is_number = |value: &Atom| matches!(value, Atom::Int(_));
        match &parsed {
            Some(operation) if self.discipline == Discipline::Least => match operation {
                Operation::Put(value) if !is_number(value) => Err(seen.malformed(expected)),
                _ if !operation.value().is_none_or(is_number) => Err(seen.unreadable(expected)),
                _ => Ok(parsed),
            },
            _ => Ok(parsed),
        }
    }

    fn step(&self, state: &Vec<Atom>, operation: &Operation) -> Option<Vec<Atom>> {
        let mut next = state.clone();
        match operation {
            Operation::Put(value) => {
                let place = match self.discipline {
                    Discipline::First => state.len(),
                    Discipline::Any | Discipline::Least => {
                        state.partition_point(|other| other < value)
                    }
                };
                next.insert(place, value.clone());
            }
            Operation::Take(Taken::Value(value)) => {
                next.remove(self.place_of(state, value)?);
            }
            Operation::Take(Taken::Empty | Taken::Unknown) if state.is_empty() => {}
            Operation::Take(Taken::Empty) => return None,
            // Of several, see the alternatives.
            Operation::Take(Taken::Unknown) => {
                next.remove(0);
            }
        }
        Some(next)
    }

    fn describe(&self, operation: &Operation) -> String {
        self.names().describe(operation)
    }

    fn describe_state(&self, state: &Vec<Atom>) -> String {
        match state.as_slice() {
            [] => "the queue is empty".to_owned(),
            items => format!("the queue is {}", listed(items)),
        }
    }

    fn observes(&self, operation: &Operation) -> bool {
        operation.is_of_nothing()
    }

    fn alternatives(&self, operation: &Operation, all: &[Timed<Operation>]) -> Vec<Operation> {
        if self.discipline != Discipline::Any || *operation != Operation::Take(Taken::Unknown) {
            return vec![operation.clone()];
        }
        let mut values: Vec<&Atom> = all
            .iter()
            .filter_map(|timed| match &timed.operation {
                Operation::Put(value) => Some(value),
                Operation::Take(_) => None,
            })
            .collect();
        values.sort_unstable();
        values.dedup();
        values.into_iter().map(|v| Operation::Take(Taken::Value(v.clone()))).collect()
    }

    /// What comes out first is tried first.
    fn guide(&self, operations: &[Timed<Operation>]) -> Vec<Guide> {
        container::guide(operations, |taken| taken)
    }

    fn may_tell(&self, by: &Operation, open: &Operation) -> bool {
        by.may_tell(open)
    }

    fn clusters(&self, operation: &Operation) -> Vec<u64> {
        operation.clusters()
    }

    fn without(&self, operation: &Operation, clusters: &[u64]) -> Option<Operation> {
        operation.without(clusters)
    }

    fn shortcut(&self, operations: &[Timed<Operation>]) -> Shortcut {
        let decided = match self.discipline {
            Discipline::First => fast::fifo::decide(operations),
            Discipline::Any => fast::bag::decide(operations),
            Discipline::Least => fast::least::decide(operations),
        };
        match decided {
            Shortcut::None => fast::sources::decide(operations),
            decided => decided,
        }
    }

    fn reason(&self, core: &[Timed<Operation>], moment: &dyn Fn(u32) -> String) -> Vec<String> {
        match self.discipline {
            Discipline::First | Discipline::Any => fast::reason::of_queue(core, moment),
            Discipline::Least => Vec::new(),
        }
    }

    fn weight(&self, state: &Vec<Atom>) -> usize {
        size_of::<Vec<Atom>>() + state.len() * size_of::<Atom>()
    }
}
