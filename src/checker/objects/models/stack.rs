//! A stack: what was pushed last is popped first.

use super::container::{self, Names, Operation, Taken};
use crate::checker::ModelOptions;
use crate::checker::objects::atom::{Atom, listed};
use crate::checker::objects::fast::{self, Shortcut};
use crate::checker::objects::object::Object;
use crate::checker::objects::rope::{Piece, Rope};
use crate::checker::objects::search::Guide;
use crate::checker::objects::seen::{NEVER, Seen, Timed};

/// A stack, empty at first.
#[derive(Clone, Debug)]
pub struct Stack;

const NAMES: Names = Names { put: &["push"], take: &["pop"], expected: "push, pop" };

impl Stack {
    pub fn new(_options: &ModelOptions) -> Result<Stack, String> {
        Ok(Stack)
    }
}

impl Object for Stack {
    type State = Rope<Atom>;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "stack"
    }

    fn init(&self) -> Rope<Atom> {
        Rope::EMPTY
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        NAMES.parse(seen)
    }

    fn step(&self, state: &Rope<Atom>, operation: &Operation) -> Option<Rope<Atom>> {
        match (operation, state.split_last()) {
            (Operation::Put(value), _) => Some(state.with(&Piece::new(vec![value.clone()]))),
            (Operation::Take(Taken::Empty | Taken::Unknown), None) => Some(state.clone()),
            (Operation::Take(Taken::Unknown), Some((rest, _))) => Some(rest.clone()),
            (Operation::Take(Taken::Value(value)), Some((rest, top))) => {
                (top.elements() == [value.clone()]).then(|| rest.clone())
            }
            (Operation::Take(_), _) => None,
        }
    }

    fn describe(&self, operation: &Operation) -> String {
        NAMES.describe(operation)
    }

    fn describe_state(&self, state: &Rope<Atom>) -> String {
        format!("the stack is {}, its top last", listed(&state.to_vec()))
    }

    fn observes(&self, operation: &Operation) -> bool {
        operation.is_of_nothing()
    }

    /// What comes out last is tried first.
    fn guide(&self, operations: &[Timed<Operation>]) -> Vec<Guide> {
        container::guide(operations, |taken| NEVER - taken)
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
        match fast::lifo::decide(operations) {
            Shortcut::None => fast::sources::decide(operations),
            decided => decided,
        }
    }

    fn reason(&self, core: &[Timed<Operation>], moment: &dyn Fn(u32) -> String) -> Vec<String> {
        fast::reason::of_stack(core, moment)
    }

    fn weight(&self, _state: &Rope<Atom>) -> usize {
        size_of::<Rope<Atom>>() + Rope::<Atom>::LINK
    }
}
