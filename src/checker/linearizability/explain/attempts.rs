//! Every way to order a small core, and where each one fails: what a person would try by hand.

use std::collections::BTreeSet;

use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, ValueId};

/// Cores of more operations are not tried in words.
const OPERATIONS_MAX: usize = 12;
/// Configurations looked at.
const STEPS_MAX: usize = 20_000;
/// Attempts told.
const TOLD: usize = 6;

/// An order that went as far as it could.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attempt {
    pub order: Vec<Operation>,
    /// What the register then holds; `None` for whatever was there before.
    pub state: Option<ValueId>,
    /// What completes first of what is left, and cannot happen.
    pub stuck: Operation,
}

/// Attempts, those that explain most first, and how many more there are.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Attempts {
    pub told: Vec<Attempt>,
    pub more: usize,
}

struct Tries<'a> {
    core: &'a [Operation],
    seen: BTreeSet<(u32, Option<ValueId>)>,
    order: Vec<Operation>,
    ends: Vec<Attempt>,
}

/// All attempts at a core; from any state, if it is one that fails from all.
pub(super) fn all(core: &[Operation], from_any_state: bool) -> Attempts {
    if core.len() > OPERATIONS_MAX {
        return Attempts::default();
    }
    let (order, ends) = (Vec::new(), Vec::new());
    let mut tries = Tries { core, seen: BTreeSet::new(), order, ends };
    tries.go_on(0, (!from_any_state).then_some(INITIAL));
    let mut ends = tries.ends;
    let explained = |attempt: &Attempt| attempt.order.iter().filter(|o| !o.is_open()).count();
    // Of two that explain as much, the one that needs less.
    ends.sort_by_key(|attempt| (usize::MAX - explained(attempt), attempt.order.len()));
    let more = ends.len().saturating_sub(TOLD);
    ends.truncate(TOLD);
    Attempts { told: ends, more }
}

impl Tries<'_> {
    fn go_on(&mut self, placed: u32, state: Option<ValueId>) {
        if self.seen.len() >= STEPS_MAX || !self.seen.insert((placed, state)) {
            return;
        }
        let left = |position: &usize| placed >> position & 1 == 0;
        let left: Vec<usize> = (0..self.core.len()).filter(left).collect();
        let next = left.iter().map(|position| self.core[*position]).min_by_key(|o| o.complete);
        let Some(stuck) = next.filter(|operation| !operation.is_open()) else { return };
        let before = self.seen.len();
        let mut is_stuck = true;
        for position in left {
            let operation = self.core[position];
            if operation.invoke > stuck.complete {
                continue;
            }
            let Some(then) = after(operation.effect, state) else { continue };
            // An open operation that changes nothing explains nothing.
            if operation.is_open() && then == state {
                continue;
            }
            is_stuck &= operation.is_open();
            self.order.push(operation);
            self.go_on(placed | 1 << position, then);
            self.order.pop();
        }
        // Where only operations of unknown outcome could go on, they found nothing new either.
        if is_stuck && (before == self.seen.len() || !self.order.is_empty()) {
            self.ends.push(Attempt { order: self.order.clone(), state, stuck });
        }
    }
}

/// The state after the effect, if it can happen; whatever was there before can be anything.
fn after(effect: Effect, state: Option<ValueId>) -> Option<Option<ValueId>> {
    match (state, effect) {
        (Some(state), effect) => effect.apply(state).map(Some),
        (None, Effect::Differs(_)) => Some(None),
        (None, effect) => Some(effect.produces().or(effect.observes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_ends_where_it_cannot_go_on() {
        let operation =
            |effect, invoke, complete| Operation { effect, invoke, complete, origin: invoke };
        let (one, two) = (operation(Effect::Write(1), 1, 4), operation(Effect::Write(2), 2, 5));
        let (first, second) = (operation(Effect::Read(1), 6, 8), operation(Effect::Read(2), 7, 9));
        let attempts = all(&[one, two, first, second], false);
        let told: Vec<_> =
            attempts.told.iter().map(|a| (a.order.len(), a.state, a.stuck)).collect();
        assert_eq!(told, [(3, Some(2), first), (3, Some(1), second)]);
        assert_eq!(attempts.more, 0);
        let attempts = all(&[first, second], true);
        assert_eq!(attempts.told.len(), 2);
    }
}
