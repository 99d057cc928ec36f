//! Looks ahead to the next observation: where it cannot come about any more, nothing need be tried.

use super::Search;

/// Observations that have taken effect already and are passed over in looking for the next.
const PASSED_OVER: usize = 8;

impl<const WORDS: usize> Search<'_, WORDS> {
    /// Whether the next observation is impossible from this state on. `applied` is in flight and about to
    /// be done.
    pub(super) fn is_dead_end(&mut self, state: u32, applied: Option<usize>) -> bool {
        let Some((event, wanted)) = self.next_observation() else { return false };
        let mut resetting = self.resetting.without(&self.config.done);
        if let Some(slot) = applied {
            resetting.remove(slot);
        }
        let may_reset = !resetting.is_empty()
            || self.plan.resets_between(self.position, event)
            || self.plan.may_reset_openly(self.position, event);
        let is_dead_end = !may_reset && self.steps.is_hopeless(state, wanted);
        if is_dead_end {
            self.blamed = self.blamed.max(event);
        }
        is_dead_end
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
