//! The part of a search's state that differs between branches, and what of it matters.

use super::Search;
use crate::checker::linearizability::operation::{Effect, INITIAL, ValueId};
use crate::checker::mask::Mask;
use crate::checker::memo::{Place, Used};

#[derive(Clone, Debug)]
pub(super) struct Config<const WORDS: usize> {
    pub state: ValueId,
    /// The moment at which a write last took effect, 0 for never. What was in flight then may hide.
    pub last_write: u32,
    /// Operations in flight that have taken effect.
    pub done: Mask<WORDS>,
    pub used: Used,
}

impl<const WORDS: usize> Config<WORDS> {
    /// Before the first event.
    pub const FIRST: Self =
        Config { state: INITIAL, last_write: 0, done: Mask::EMPTY, used: Used::NONE };
}

/// What tells configurations apart, but for the open operations used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<const WORDS: usize> {
    position: u32,
    state: ValueId,
    done: Mask<WORDS>,
    /// Of the operations that wait those that may hide.
    hideable: Mask<WORDS>,
}

impl<const WORDS: usize> Place for Key<WORDS> {
    fn position(&self) -> u32 {
        self.position
    }
}

impl<const WORDS: usize> Search<'_, WORDS> {
    /// The key of the present configuration. A write that nobody can observe any more and that may hide
    /// is as good as done.
    pub(super) fn key(&self) -> Key<WORDS> {
        let now = self.plan.now(self.position);
        let (mut done, mut hideable) = (self.config.done, Mask::EMPTY);
        for slot in self.live.present.without(&done).ones() {
            let operation = self.live.occupant(slot);
            if !self.may_hide(operation) {
                continue;
            }
            let effect = self.plan.operations[operation as usize].effect;
            if matches!(effect, Effect::Write(_)) && !self.plan.service().matters(operation, now) {
                done.insert(slot);
            } else {
                hideable.insert(slot);
            }
        }
        Key { position: self.position as u32, state: self.config.state, done, hideable }
    }

    /// Whether a write has taken effect while the operation was in flight.
    pub(super) fn may_hide(&self, operation: u32) -> bool {
        self.plan.operations[operation as usize].invoke < self.config.last_write
    }

    /// Forgets the uses of open operations that no longer matter.
    pub(super) fn forget_uses(&mut self) {
        if self.config.used.is_empty() {
            return;
        }
        let now = self.plan.now(self.position);
        self.config.used.forget(|class, count| {
            let result = self.plan.classes[class as usize].effect.produces();
            result.is_some_and(|value| self.plan.observed.matters(value, now))
                && !self.plan.is_plenty(class, self.live.offered(class) - count, now)
        });
    }

    /// Whether an operation in flight needs a value that nobody can make any more.
    pub(super) fn is_hopeless(&mut self) -> bool {
        let waiting = self.live.present.without(&self.config.done);
        let mut waiting = waiting.ones().map(|slot| self.live.occupant(slot));
        let hopeless = waiting.find(|operation| self.cannot_happen(*operation));
        self.blame(hopeless)
    }

    /// Whether somebody, in flight or not, needs one of the values that what happened since then has
    /// replaced or hidden, and nobody can make it any more.
    pub(super) fn has_lost(&mut self, state: ValueId, since: usize) -> bool {
        let hidden =
            self.order[since..].iter().filter_map(|entry| entry.effect(self.plan).produces());
        let lost = hidden.chain([state]).find_map(|value| self.who_lacks(value));
        self.blame(lost)
    }

    fn blame(&mut self, operation: Option<u32>) -> bool {
        if let Some(operation) = operation {
            self.blamed = self.later(self.blamed, operation);
        }
        operation.is_some()
    }

    /// Whether an operation in flight needs a value that nobody can make any more.
    fn cannot_happen(&self, operation: u32) -> bool {
        let now = self.plan.now(self.position);
        let needed = self.plan.operations[operation as usize].effect.observes();
        needed.is_some_and(|value| {
            value != self.config.state
                && !self.plan.service().may_come(operation, now)
                && !self.can_come_about(value)
        })
    }

    /// Who needs this value though nobody can make it any more.
    fn who_lacks(&self, value: ValueId) -> Option<u32> {
        if value == self.config.state {
            return None;
        }
        let observes = |operation: &u32| {
            self.plan.operations[*operation as usize].effect.observes() == Some(value)
        };
        let waiting = self.live.present.without(&self.config.done);
        let mut waiting = waiting.ones().map(|slot| self.live.occupant(slot)).filter(observes);
        let now = self.plan.now(self.position);
        let later = || {
            let later = self.plan.service().needs(self.plan.operations, value, now);
            later.filter(|_| !self.can_come_about(value))
        };
        waiting.find(|operation| self.cannot_happen(*operation)).or_else(later)
    }

    /// Whether what waits or is open can make this value.
    fn can_come_about(&self, value: ValueId) -> bool {
        let makes = |effect: Effect| effect.produces() == Some(value);
        let waiting = self.live.present.without(&self.live.observers).without(&self.config.done);
        let mut waiting = waiting.ones().map(|slot| self.live.occupant(slot));
        let mut classes = self.plan.classes.iter().zip(0..);
        waiting.any(|operation| makes(self.plan.operations[operation as usize].effect))
            || classes.any(|(members, class)| {
                let left = self.live.offered(class) > self.config.used.count(class);
                left && makes(members.effect)
            })
    }
}
