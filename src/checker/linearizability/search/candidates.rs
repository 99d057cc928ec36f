//! What may take effect next, where something must.

use super::Search;
use super::plan::Plan;
use crate::checker::linearizability::operation::{Effect, ValueId};

/// A way on from a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// The operation in flight in this slot takes effect.
    Take(u32),
    /// One more open operation of this class takes effect.
    Open(u32),
    /// The operation that completes has hidden.
    Hide,
}

/// Room for finding candidates, kept so that a step need not ask for any.
#[derive(Default)]
pub(super) struct Ranked {
    waiting: Vec<u32>,
    /// Candidates by promise: what makes the operation possible that has to happen, everything else.
    enabling: Vec<Move>,
    others: Vec<Move>,
}

impl Ranked {
    fn clear(&mut self) {
        self.waiting.clear();
        self.enabling.clear();
        self.others.clear();
    }

    fn add(&mut self, candidate: Move, enables: bool) {
        let rank = if enables { &mut self.enabling } else { &mut self.others };
        rank.push(candidate);
    }
}

impl<const WORDS: usize> Search<'_, WORDS> {
    /// The way on that is best at first sight: the operation that completes takes effect, hides, or is
    /// made possible.
    pub(super) fn obvious(&self) -> Option<Move> {
        let target = self.plan.event(self.position).operation;
        let itself = Move::Take(self.plan.slot(target) as u32);
        let effect = self.plan.operations[target as usize].effect;
        if let Effect::Write(value) = effect {
            let hides = self.can_hide() && !self.is_awaited(value);
            return Some(if hides { Move::Hide } else { itself });
        }
        if effect.apply(self.config.state).is_some() {
            return Some(itself);
        }
        if self.can_hide() {
            return Some(Move::Hide);
        }
        let waiting = self.live.present.without(&self.live.observers).without(&self.config.done);
        let operation = |slot: usize| &self.plan.operations[self.live.occupant(slot) as usize];
        let enabling = waiting.ones().filter(|slot| {
            let result = operation(*slot).effect.apply(self.config.state);
            result.is_some_and(|value| enables(effect, value))
        });
        let first = enabling.min_by_key(|slot| operation(*slot).complete);
        first.map(|slot| Move::Take(slot as u32))
    }

    /// Whether the operation that completes can have hidden before a write of an earlier moment. Before
    /// one of the present moment it could as well take effect now.
    fn can_hide(&self) -> bool {
        let target = self.plan.event(self.position).operation;
        let effect = self.plan.operations[target as usize].effect;
        self.may_hide(target)
            && self.config.last_write != self.plan.now(self.position)
            && (matches!(effect, Effect::Write(_)) || self.hidden_source(effect).is_some())
    }

    /// Whether somebody in flight waits for this value.
    fn is_awaited(&self, value: ValueId) -> bool {
        let mut waiting = self.live.present.without(&self.config.done).ones();
        waiting.any(|slot| {
            let operation = self.live.occupant(slot);
            self.plan.operations[operation as usize].effect.observes() == Some(value)
        })
    }

    /// Adds all but the obvious that may take effect before the operation that completes at this
    /// position, the best last. Returns where that begins.
    pub(super) fn find_candidates(&mut self, obvious: Option<Move>) -> u32 {
        let start = self.untried.len();
        if self.is_hard() && self.is_hopeless() {
            return start as u32;
        }
        let mut ranked = std::mem::take(&mut self.ranked);
        ranked.clear();
        let waiting = self.live.present.without(&self.live.observers).without(&self.config.done);
        ranked.waiting.extend(waiting.ones().map(|slot| self.live.occupant(slot)));
        // Each is compared with each, and with each class.
        let waiting = ranked.waiting.len() + self.plan.classes.len();
        self.looks += (waiting * (ranked.waiting.len() + 1)) as u64;
        let target = self.plan.event(self.position).operation;
        let effect = self.plan.operations[target as usize].effect;
        let can_hide = self.can_hide();
        let is_write = matches!(effect, Effect::Write(_));
        if !(is_write && can_hide && !self.matters(target)) {
            self.rank_waiting(&mut ranked, effect);
            self.rank_open(&mut ranked, effect);
            self.untried.extend(ranked.others.iter().rev());
            self.untried.extend(ranked.enabling.iter().rev());
            if effect.apply(self.config.state).is_some() {
                self.untried.push(Move::Take(self.plan.slot(target) as u32));
            }
        }
        if can_hide {
            self.untried.push(Move::Hide);
        }
        if let Some(place) = self.untried[start..].iter().position(|m| Some(*m) == obvious) {
            self.untried.remove(start + place);
        }
        self.ranked = ranked;
        start as u32
    }

    fn rank_waiting(&self, ranked: &mut Ranked, wanted: Effect) {
        let target = self.plan.event(self.position).operation;
        for place in 0..ranked.waiting.len() {
            let operation = ranked.waiting[place];
            let effect = self.plan.operations[operation as usize].effect;
            let Some(result) = effect.apply(self.config.state) else { continue };
            // A write that nobody observes next hides behind whatever is written next.
            let is_for_nobody = matches!(effect, Effect::Write(_))
                && (self.is_bare() || !self.matters(operation) || !self.observed_next(result));
            if operation != target
                && !is_for_nobody
                && !self.has_urgent_twin(&ranked.waiting, operation)
            {
                let slot = self.plan.slot(operation) as u32;
                ranked.add(Move::Take(slot), enables(wanted, result));
            }
        }
    }

    fn rank_open(&self, ranked: &mut Ranked, wanted: Effect) {
        for (members, class) in self.plan.classes.iter().zip(0..) {
            let result = members.effect.apply(self.config.state);
            let is_left = self.live.offered(class) > self.config.used.count(class);
            let Some(result) = result.filter(|_| is_left) else { continue };
            let is_bare = matches!(members.effect, Effect::Write(_)) && self.is_bare();
            // What need not happen only happens for somebody who observes it next, and what must happen
            // anyway goes before it.
            let is_twin = |member: &u32| self.has_urgent_twin(&ranked.waiting, *member);
            if !is_bare
                && self.observed_next(result)
                && !self.was_just_made(result)
                && !members.members.first().is_some_and(is_twin)
            {
                ranked.add(Move::Open(class), enables(wanted, result));
            }
        }
    }

    /// Whether the last that happened at this very moment was a write that nobody has observed: another
    /// write would hide it, and then it need not have happened yet.
    fn is_bare(&self) -> bool {
        self.config.last_write == self.plan.now(self.position)
            && self.order.last().is_some_and(|last| last.is_write(self.plan))
    }

    /// Whether somebody may still observe what the operation makes, as far as it pays to know.
    fn matters(&self, operation: u32) -> bool {
        let now = self.plan.now(self.position);
        !self.is_hard() || self.plan.service().matters(operation, now)
    }

    /// Whether something in flight, or an open compare-and-set, may observe this value right away.
    fn observed_next(&self, value: ValueId) -> bool {
        let observes = |effect: Effect| match effect {
            Effect::Differs(other) => other != value,
            effect => effect.observes() == Some(value),
        };
        let waiting = self.live.present.without(&self.config.done).ones();
        let mut waiting = waiting.map(|slot| self.live.occupant(slot));
        waiting.any(|operation| observes(self.plan.operations[operation as usize].effect))
            || self.plan.classes.iter().any(|class| observes(class.effect))
    }

    /// Whether open operations, one after the other up to now, have made this value before: then those
    /// since were for nothing.
    fn was_just_made(&self, value: ValueId) -> bool {
        let uses = self.order.iter().rev().map_while(|entry| entry.class());
        let mut made = uses.map(|class| self.plan.classes[class as usize].effect.produces());
        made.any(|made| made == Some(value))
    }

    /// Whether another operation that waits has the same effect and completes earlier, as far as it pays
    /// to know.
    ///
    /// Wherever this one stands in an order and the other later, they can change places; and where the
    /// other may hide, this one must be able to do that in its stead.
    fn has_urgent_twin(&self, waiting: &[u32], operation: u32) -> bool {
        let plan: &Plan = self.plan;
        if !self.is_hard() {
            return false;
        }
        let Some(kin) = plan.kin(operation) else { return false };
        let complete = |operation: u32| plan.operations[operation as usize].complete;
        let hides_as_well = self.may_hide(operation) && !plan.is_open(operation);
        waiting.iter().any(|other| {
            plan.kin(*other) == Some(kin)
                && complete(*other) < complete(operation)
                && (hides_as_well || !self.may_hide(*other))
        })
    }
}

/// Whether the operation can happen once the register holds this value, and depends on it.
fn enables(wanted: Effect, value: ValueId) -> bool {
    !matches!(wanted, Effect::Write(_)) && wanted.apply(value).is_some()
}
