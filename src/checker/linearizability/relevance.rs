//! Which open operations can matter: those whose value somebody may still observe.
//!
//! An open write that nobody observes can be left out of any order that holds it, and an order
//! without it is one with it, so it changes no verdict.

use crate::checker::linearizability::operation::{Effect, Operation, ValueId};

/// The last moment at which each value may be observed by what surely happened; 0 for never.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    last: Vec<u32>,
    /// Evidence of difference is met by every other value, so every value matters.
    every_value: bool,
}

impl Observed {
    pub fn of(operations: &[Operation], values: usize) -> Observed {
        let mut last = vec![0; values];
        let mut every_value = false;
        for operation in operations.iter().filter(|operation| !operation.is_open()) {
            if let Some(value) = operation.effect.observes() {
                let seen = &mut last[value as usize];
                *seen = operation.complete.max(*seen);
            }
            every_value |= matches!(operation.effect, Effect::Differs(_));
        }
        let mut observed = Observed { last, every_value };
        observed.through_open_cas(operations);
        observed
    }

    /// An open compare-and-set whose result matters makes what it compares with matter.
    fn through_open_cas(&mut self, operations: &[Operation]) {
        let open = operations.iter().filter(|operation| operation.is_open());
        let cas = open.filter_map(|operation| match operation.effect {
            Effect::Cas { from, to } => Some((operation.invoke, from as usize, to as usize)),
            _ => None,
        });
        let cas: Vec<(u32, usize, usize)> = cas.collect();
        let mut changed = true;
        while changed {
            changed = false;
            // Backwards, since chains mostly lead forward in time: then one pass does.
            for (invoke, from, to) in cas.iter().rev() {
                let until = self.last[*to];
                if until > *invoke && self.last[*from] < until {
                    self.last[*from] = until;
                    changed = true;
                }
            }
        }
    }

    /// Whether the value may still be observed at or after `now`.
    pub fn matters(&self, value: ValueId, now: u32) -> bool {
        self.every_value || self.last[value as usize] >= now
    }

    pub fn relevant(&self, operations: &[Operation]) -> Vec<Operation> {
        operations.iter().filter(|operation| self.keeps(operation)).copied().collect()
    }

    /// Whether the operation happened or may matter.
    pub fn keeps(&self, operation: &Operation) -> bool {
        let result = operation.effect.produces();
        !operation.is_open() || result.is_some_and(|value| self.matters(value, operation.invoke))
    }
}

/// The operations without the open ones that cannot matter.
pub(super) fn relevant(operations: &[Operation], values: usize) -> Vec<Operation> {
    Observed::of(operations, values).relevant(operations)
}
