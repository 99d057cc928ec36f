//! Every order of a few operations, up to where it fails.

use crate::checker::objects::object::Object;
use crate::checker::objects::seen::Timed;

/// Attempts that are made at most.
const MOST: usize = 200;

/// An order that cannot go on.
pub(super) struct Attempt<O: Object> {
    /// Positions, in order.
    pub order: Vec<usize>,
    /// What the object holds then.
    pub state: O::State,
    /// The operation that must come next at the latest, and cannot.
    pub refused: usize,
}

/// All orders of the operations that cannot go on.
pub(super) fn attempts<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
) -> Vec<Attempt<O>> {
    let mut tree = Tree { object, operations, found: Vec::new() };
    tree.extend(&mut Vec::new(), object.init());
    tree.found
}

struct Tree<'a, O: Object> {
    object: &'a O,
    operations: &'a [Timed<O::Operation>],
    found: Vec<Attempt<O>>,
}

impl<O: Object> Tree<'_, O> {
    fn extend(&mut self, order: &mut Vec<usize>, state: O::State) {
        let left: Vec<usize> = (0..self.operations.len()).filter(|p| !order.contains(p)).collect();
        let first_to_complete = left
            .iter()
            .copied()
            .filter(|position| !self.operations[*position].is_open())
            .min_by_key(|position| self.operations[*position].complete);
        let Some(refused) = first_to_complete else { return };
        let bound = self.operations[refused].complete;
        let mut goes_on = false;
        for position in left {
            let timed = &self.operations[position];
            if timed.invoke > bound || self.found.len() >= MOST {
                continue;
            }
            for next in self.successors(&state, timed) {
                // An operation of unknown outcome that changes nothing explains nothing.
                if timed.is_open() && next == state {
                    continue;
                }
                goes_on = true;
                order.push(position);
                self.extend(order, next);
                order.pop();
            }
        }
        if !goes_on && self.found.len() < MOST {
            self.found.push(Attempt { order: order.clone(), state, refused });
        }
    }

    fn successors(&self, state: &O::State, timed: &Timed<O::Operation>) -> Vec<O::State> {
        let operations = match timed.is_open() {
            true => self.object.alternatives(&timed.operation, self.operations),
            false => vec![timed.operation.clone()],
        };
        operations.iter().filter_map(|operation| self.object.step(state, operation)).collect()
    }
}
