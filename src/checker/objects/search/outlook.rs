//! Looks ahead to the next observation: where it cannot come about any more, nothing need be tried.

use super::Search;

/// Observations that have taken effect already and are passed over in looking for the next.
const PASSED_OVER: usize = 8;

impl<const WORDS: usize> Search<'_, WORDS> {
    /// Whether the next observation is impossible from this state on. `applied` is in flight and about to
    /// be done.
    pub(super) fn is_dead_end(&mut self, state: u32, applied: Option<usize>) -> bool {
        let Some((event, wanted)) = self.next_observation() else { return false };
        if !self.steps.is_hopeless(state, wanted) || self.may_reset(event, wanted, applied) {
            return false;
        }
        self.blamed = self.blamed.max(event);
        true
    }

    /// Whether something may take effect before this event that leads to what is wanted.
    fn may_reset(&mut self, event: usize, wanted: u32, applied: Option<usize>) -> bool {
        for slot in self.resetting.without(&self.config.done).ones() {
            let operation = self.occupant(slot).operation;
            if applied != Some(slot) && self.steps.may_lead_to(wanted, operation) {
                return true;
            }
        }
        let plan = self.plan;
        plan.resets_between(self.position, event).any(|o| self.steps.may_lead_to(wanted, o))
            || plan
                .open_resets(self.position, event)
                .any(|operation| self.steps.may_lead_to(wanted, operation))
    }

    /// The next event at which an observation completes that has not taken effect, and what it is.
    fn next_observation(&self) -> Option<(usize, u32)> {
        let coming = self.plan.observations_from(self.position).iter().take(PASSED_OVER);
        for event in coming {
            let position = self.plan.event(*event as usize).position;
            let slot = self.plan.slot(position);
            let is_done = self.config.done.contains(slot)
                && self.present.contains(slot)
                && self.occupants[slot] == position;
            if !is_done {
                let wanted = self.plan.operations[position as usize].operation;
                return Some((*event as usize, wanted));
            }
        }
        None
    }
}
