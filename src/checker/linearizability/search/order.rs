//! Turns what a search did into an order of operations: which open operation was used when.

use super::plan::Plan;
use crate::checker::linearizability::operation::Effect;

/// Something that has taken effect: an operation, one that has hidden, or a use of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u32);

/// Marks a use of a class.
const OPEN: u32 = 1 << 31;
/// Marks an operation that has hidden.
const HIDDEN: u32 = 1 << 30;

impl Entry {
    pub fn operation(operation: u32) -> Entry {
        Entry(operation)
    }

    pub fn hidden(operation: u32) -> Entry {
        Entry(operation | HIDDEN)
    }

    pub fn open(class: u32) -> Entry {
        Entry(class | OPEN)
    }

    pub fn class(self) -> Option<u32> {
        (self.0 & OPEN != 0).then_some(self.0 & !OPEN)
    }

    fn in_hiding(self) -> Option<u32> {
        (self.0 & (OPEN | HIDDEN) == HIDDEN).then_some(self.0 & !HIDDEN)
    }

    pub fn effect(self, plan: &Plan) -> Effect {
        match self.class() {
            Some(class) => plan.classes[class as usize].effect,
            None => plan.operations[(self.0 & !HIDDEN) as usize].effect,
        }
    }

    /// Whether it is a write that did not hide.
    pub fn is_write(self, plan: &Plan) -> bool {
        self.in_hiding().is_none() && matches!(self.effect(plan), Effect::Write(_))
    }
}

/// Resolves uses of classes into operations, without the uses that nobody observed: a search may
/// waste open operations where there are plenty, and only without waste are there certainly enough.
/// What has hidden goes right before the last write that had taken effect by then.
pub(super) fn resolve(plan: &Plan, taken: &[Entry]) -> Vec<u32> {
    let mut kept: Vec<Entry> = Vec::with_capacity(taken.len());
    let mut hidden: Vec<Entry> = Vec::new();
    let mut is_observed = false;
    for entry in taken.iter().rev() {
        if let Some(operation) = entry.in_hiding() {
            hidden.push(Entry::operation(operation));
            continue;
        }
        let is_write = entry.is_write(plan);
        if entry.class().is_none() || is_observed {
            kept.push(*entry);
            is_observed = !is_write;
        }
        if is_write && !hidden.is_empty() {
            // The first of them is a write as well.
            kept.append(&mut hidden);
            is_observed = false;
        }
    }
    kept.reverse();
    let mut used = vec![0; plan.classes.len()];
    let mut resolved = |entry: &Entry| match entry.class() {
        None => entry.0,
        Some(class) => {
            let next = &mut used[class as usize];
            *next += 1;
            // Out of range only if a search was wrong; the replay then refuses the order.
            let members = &plan.classes[class as usize].members;
            members.get(*next - 1).copied().unwrap_or(u32::MAX)
        }
    };
    kept.iter().map(&mut resolved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::linearizability::operation::{NEVER, Operation};
    use crate::checker::linearizability::relevance::Observed;

    #[test]
    fn uses_that_nobody_observed_are_left_out() {
        let operation =
            |effect, invoke, complete| Operation { effect, invoke, complete, origin: invoke };
        let operations = [
            operation(Effect::Write(1), 1, NEVER),
            operation(Effect::Write(1), 2, NEVER),
            operation(Effect::Write(2), 3, 4),
            operation(Effect::Read(1), 5, 6),
        ];
        let observed = Observed::of(&operations, 3);
        let plan = Plan::new(&operations, 3, &observed);
        let (use_of_one, done) = (Entry::open(0), Entry::operation);
        let taken = [use_of_one, use_of_one, done(2), use_of_one, done(3)];
        assert_eq!(resolve(&plan, &taken), [2, 0, 3]);
    }

    #[test]
    fn what_has_hidden_goes_before_the_last_write_by_then() {
        let operation =
            |effect, invoke, complete| Operation { effect, invoke, complete, origin: invoke };
        let operations = [
            operation(Effect::Write(1), 1, 20),
            operation(Effect::Read(1), 2, 21),
            operation(Effect::Write(2), 3, 22),
            operation(Effect::Write(3), 4, 23),
            operation(Effect::Read(3), 5, 24),
        ];
        let observed = Observed::of(&operations, 4);
        let plan = Plan::new(&operations, 4, &observed);
        let (done, hidden) = (Entry::operation, Entry::hidden);
        let taken = [done(3), done(4), hidden(0), hidden(1), hidden(2)];
        assert_eq!(resolve(&plan, &taken), [0, 1, 2, 3, 4]);
    }
}
