//! What does not change during a search: the events in order, slots, and classes of open operations.

use rustc_hash::FxHashMap;

use crate::checker::linearizability::operation::{Effect, Operation};
use crate::checker::linearizability::relevance::Observed;

/// An invocation or a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub operation: u32,
    pub completes: bool,
}

/// Open operations of the same effect, in order of invocation: which one is used makes no difference.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub effect: Effect,
    pub members: Vec<u32>,
}

pub(super) struct Plan<'a> {
    pub operations: &'a [Operation],
    pub observed: Observed,
    pub classes: Vec<Class>,
    /// Operations in flight at once, at most.
    pub slots: usize,
    steps: Vec<Step>,
    /// By operation: its slot while in flight, or its class if it is open.
    places: Vec<u32>,
}

impl<'a> Plan<'a> {
    pub fn new(operations: &'a [Operation], values: usize) -> Plan<'a> {
        let mut plan = Plan {
            operations,
            observed: Observed::of(operations, values),
            classes: Vec::new(),
            slots: 0,
            steps: steps(operations),
            places: vec![0; operations.len()],
        };
        plan.place();
        plan
    }

    /// Gives each operation a slot, reusing those that have become free, or a class.
    fn place(&mut self) {
        let mut by_effect: FxHashMap<Effect, u32> = FxHashMap::default();
        let mut free: Vec<u32> = Vec::new();
        for step in &self.steps {
            let operation = &self.operations[step.operation as usize];
            let place = &mut self.places[step.operation as usize];
            if step.completes {
                free.push(*place);
            } else if operation.is_open() {
                *place = *by_effect.entry(operation.effect).or_insert_with(|| {
                    let effect = operation.effect;
                    self.classes.push(Class { effect, members: Vec::new() });
                    self.classes.len() as u32 - 1
                });
                self.classes[*place as usize].members.push(step.operation);
            } else {
                *place = free.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    self.slots as u32 - 1
                });
            }
        }
    }

    pub fn length(&self) -> usize {
        self.steps.len()
    }

    pub fn event(&self, position: usize) -> Step {
        self.steps[position]
    }

    pub fn is_open(&self, operation: u32) -> bool {
        self.operations[operation as usize].is_open()
    }

    pub fn slot(&self, operation: u32) -> usize {
        self.places[operation as usize] as usize
    }

    pub fn class_of(&self, operation: u32) -> u32 {
        self.places[operation as usize]
    }

    /// The moment of the event at this position, which is a completion.
    pub fn now(&self, position: usize) -> u32 {
        self.operations[self.steps[position].operation as usize].complete
    }
}

fn steps(operations: &[Operation]) -> Vec<Step> {
    let mut timed: Vec<(u32, Step)> = Vec::with_capacity(2 * operations.len());
    for (position, operation) in operations.iter().enumerate() {
        let step = |completes| Step { operation: position as u32, completes };
        timed.push((operation.invoke, step(false)));
        if !operation.is_open() {
            timed.push((operation.complete, step(true)));
        }
    }
    timed.sort_unstable_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, step)| step).collect()
}
