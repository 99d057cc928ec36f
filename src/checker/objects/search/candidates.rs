//! What may take effect next, where something must.

use super::{Candidate, Search};

impl<const WORDS: usize> Search<'_, WORDS> {
    /// All that may take effect before the operation that completes at this event, the best last: open
    /// ones, then those in flight by rank.
    pub(super) fn candidates(&mut self) -> Vec<Candidate> {
        let mut untried = self.open_ones();
        let target = self.plan.slot(self.plan.event(self.position).position);
        let waiting = self.present.without(&self.eager).without(&self.config.done);
        let mut in_flight: Vec<usize> = waiting.ones().collect();
        in_flight.sort_by_key(|slot| {
            let rank = self.plan.guide(self.occupants[*slot]).rank;
            std::cmp::Reverse((rank, *slot != target))
        });
        for slot in in_flight {
            if let Some(next) = self.steps.step(self.config.state, self.occupant(slot).operation)
                && !self.is_dead_end(next, Some(slot))
            {
                untried.push(Candidate::Slot(slot as u32));
            }
        }
        untried
    }

    fn open_ones(&mut self) -> Vec<Candidate> {
        let now = self.plan.now(self.position);
        let mut untried = Vec::new();
        for (class, members) in self.plan.classes.iter().enumerate() {
            let is_left = self.offered[class] > self.config.used.count(class as u32);
            if !is_left || !members.may_be_told(now) {
                continue;
            }
            for operation in &members.alternatives {
                let next = self.steps.step(self.config.state, *operation);
                // What changes nothing explains nothing.
                if let Some(next) = next.filter(|next| *next != self.config.state)
                    && !self.is_dead_end(next, None)
                {
                    let class = class as u32;
                    untried.push(Candidate::Open { class, operation: *operation });
                }
            }
        }
        untried
    }
}
