//! The operations in flight at one event: the same for every branch that stands at that event.

use super::plan::Plan;
use crate::checker::mask::Mask;

pub(super) struct Live<const WORDS: usize> {
    /// Slots of operations in flight.
    pub present: Mask<WORDS>,
    /// Those among them that change nothing.
    pub observers: Mask<WORDS>,
    occupants: Vec<u32>,
    /// By class: open operations invoked so far.
    offered: Vec<u32>,
}

impl<const WORDS: usize> Live<WORDS> {
    pub fn new(plan: &Plan) -> Self {
        Live {
            present: Mask::EMPTY,
            observers: Mask::EMPTY,
            occupants: vec![0; plan.slots],
            offered: vec![0; plan.classes.len()],
        }
    }

    pub fn enter(&mut self, plan: &Plan, slot: usize, operation: u32) {
        self.present.insert(slot);
        self.occupants[slot] = operation;
        match plan.operations[operation as usize].effect.produces() {
            None => self.observers.insert(slot),
            Some(_) => self.observers.remove(slot),
        }
    }

    pub fn leave(&mut self, slot: usize) {
        self.present.remove(slot);
        self.observers.remove(slot);
    }

    pub fn occupant(&self, slot: usize) -> u32 {
        self.occupants[slot]
    }

    pub fn offer(&mut self, class: u32) {
        self.offered[class as usize] += 1;
    }

    pub fn withdraw(&mut self, class: u32) {
        self.offered[class as usize] -= 1;
    }

    pub fn offered(&self, class: u32) -> u32 {
        self.offered[class as usize]
    }
}
