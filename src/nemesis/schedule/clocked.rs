//! A fault that begins by the clock: after a quiet time, then again and again, give or take a jitter.

use crate::duration::Span;
use crate::nemesis::fault::Fault;
use crate::op::Nanos;
use crate::rng::Rng;

pub struct Clocked {
    /// Where the next beginning stands in the plan, and by how much it is late.
    due: Option<(Nanos, Nanos)>,
    every: Option<Nanos>,
    jitter: Nanos,
    rng: Rng,
}

impl Clocked {
    pub fn new(fault: &Fault, rng: Rng) -> Clocked {
        let every = fault.every.map(Span::nanos);
        let jitter = fault.jitter.map_or(0, Span::nanos);
        let mut clocked = Clocked { due: None, every, jitter, rng };
        clocked.due = Some((fault.after.nanos(), clocked.lateness()));
        clocked
    }

    /// At exactly this time, once.
    pub fn once(at: Nanos) -> Clocked {
        Clocked { due: Some((at, 0)), every: None, jitter: 0, rng: Rng::from_seed(0) }
    }

    fn lateness(&mut self) -> Nanos {
        if self.jitter == 0 { 0 } else { self.rng.below(self.jitter + 1) }
    }

    pub fn begins_at(&self) -> Option<Nanos> {
        self.due.map(|(planned, late)| planned.saturating_add(late))
    }

    /// The next one keeps to the plan, but never before this one has ended.
    pub fn begun(&mut self, now: Nanos, lasts: Nanos) {
        let Some((planned, _)) = self.due.take() else { return };
        if let Some(every) = self.every {
            let next = (planned + every).max(now.saturating_add(lasts));
            self.due = Some((next, self.lateness()));
        }
    }
}
