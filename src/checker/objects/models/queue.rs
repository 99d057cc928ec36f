//! Queues: first in, first out, or in no order.

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
    pub(in crate::checker::objects) is_fifo: bool,
}

const NAMES: Names = Names {
    put: &["enqueue", "enq", "send", "offer"],
    take: &["dequeue", "deq", "poll", "receive"],
    expected: "enqueue, dequeue",
};

impl Queue {
    pub fn fifo(_options: &ModelOptions) -> Result<Queue, String> {
        Ok(Queue { is_fifo: true })
    }

    pub fn unordered(_options: &ModelOptions) -> Result<Queue, String> {
        Ok(Queue { is_fifo: false })
    }

    /// Where this value may come out.
    fn place_of(&self, state: &[Atom], value: &Atom) -> Option<usize> {
        match self.is_fifo {
            true => (state.first() == Some(value)).then_some(0),
            false => state.binary_search(value).ok(),
        }
    }
}

impl Object for Queue {
    /// In order of entry; without that order, sorted.
    type State = Vec<Atom>;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        if self.is_fifo { "fifo-queue" } else { "unordered-queue" }
    }

    fn init(&self) -> Vec<Atom> {
        Vec::new()
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        NAMES.parse(seen)
    }

    fn step(&self, state: &Vec<Atom>, operation: &Operation) -> Option<Vec<Atom>> {
        let mut next = state.clone();
        match operation {
            Operation::Put(value) => {
                let sorted = state.partition_point(|other| other < value);
                next.insert(if self.is_fifo { state.len() } else { sorted }, value.clone());
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
        NAMES.describe(operation)
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
        if self.is_fifo || *operation != Operation::Take(Taken::Unknown) {
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
        let decided = match self.is_fifo {
            true => fast::fifo::decide(operations),
            false => fast::bag::decide(operations),
        };
        match decided {
            Shortcut::None => fast::sources::decide(operations),
            decided => decided,
        }
    }

    fn reason(&self, core: &[Timed<Operation>], moment: &dyn Fn(u32) -> String) -> Vec<String> {
        fast::reason::of_queue(core, moment)
    }

    fn weight(&self, state: &Vec<Atom>) -> usize {
        size_of::<Vec<Atom>>() + state.len() * size_of::<Atom>()
    }
}
