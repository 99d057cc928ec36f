//! What a move does: operations take effect, now or in hiding.

use super::Search;
use super::candidates::Move;
use super::order::Entry;
use crate::checker::linearizability::operation::{Effect, ValueId};

impl<const WORDS: usize> Search<'_, WORDS> {
    pub(super) fn apply(&mut self, taken: Move) {
        let effect = match taken {
            Move::Hide => return self.hide(),
            Move::Open(class) => {
                self.config.used.add(class);
                self.order.push(Entry::open(class));
                self.plan.classes[class as usize].effect
            }
            Move::Take(slot) => {
                self.config.done.insert(slot as usize);
                let operation = self.live.occupant(slot as usize);
                self.order.push(Entry::operation(operation));
                self.plan.operations[operation as usize].effect
            }
        };
        if let Effect::Write(_) = effect {
            self.config.last_write = self.plan.now(self.position);
        }
        self.config.state = effect.apply(self.config.state).unwrap_or(self.config.state);
        for slot in self.live.observers.without(&self.config.done).ones() {
            self.take_effect_if_read(slot);
        }
    }

    /// Reads change nothing, so as early as possible is never worse than later.
    pub(super) fn take_effect_if_read(&mut self, slot: usize) {
        let operation = self.live.occupant(slot);
        let effect = self.plan.operations[operation as usize].effect;
        if effect.produces().is_none() && effect.apply(self.config.state).is_some() {
            self.config.done.insert(slot);
            self.order.push(Entry::operation(operation));
        }
    }

    /// The operation that completes now hides: a write with all who may have read it in hiding, or
    /// an observer with a write that makes what it observed.
    fn hide(&mut self) {
        let target = self.plan.event(self.position).operation;
        let slot = self.plan.slot(target);
        let effect = self.plan.operations[target as usize].effect;
        let writer = match effect {
            Effect::Write(_) => Some(slot),
            effect => self.hidden_source(effect),
        };
        let value = writer.and_then(|writer| self.take_in_hiding(writer));
        let Some(value) = value else { return };
        self.read_in_hiding(value);
        if let Effect::Cas { to, .. } = effect {
            self.take_in_hiding(slot);
            self.read_in_hiding(to);
        }
    }

    /// A write that waits, may hide, and makes what somebody in hiding needs: the first to complete.
    pub(super) fn hidden_source(&self, needed: Effect) -> Option<usize> {
        let waiting = self.live.present.without(&self.live.observers).without(&self.config.done);
        let operation = |slot: usize| self.live.occupant(slot);
        let is_source = |slot: &usize| {
            let effect = self.plan.operations[operation(*slot) as usize].effect;
            matches!(effect, Effect::Write(value) if needed.apply(value).is_some())
                && self.may_hide(operation(*slot))
        };
        let complete = |slot: &usize| self.plan.operations[operation(*slot) as usize].complete;
        waiting.ones().filter(is_source).min_by_key(complete)
    }

    /// Returns the value it leaves.
    fn take_in_hiding(&mut self, slot: usize) -> Option<ValueId> {
        let operation = self.live.occupant(slot);
        self.config.done.insert(slot);
        self.order.push(Entry::hidden(operation));
        self.plan.operations[operation as usize].effect.produces()
    }

    fn read_in_hiding(&mut self, value: ValueId) {
        for slot in self.live.observers.without(&self.config.done).ones() {
            let operation = self.live.occupant(slot);
            let effect = self.plan.operations[operation as usize].effect;
            if effect.apply(value).is_some() && self.may_hide(operation) {
                self.config.done.insert(slot);
                self.order.push(Entry::hidden(operation));
            }
        }
    }
}
