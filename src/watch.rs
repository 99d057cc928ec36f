//! Checkers at work while the run goes on, so that a night ends at the first broken promise.
//!
//! Each checker says when a broken promise shows to it ([`Shows`]). Most see it at the event that settles it.
//! Others judge all that has been recorded so far, again and again: what is found in a part of a history
//! stands for the whole, since whatever had not completed by then may have happened or not. For these alone
//! the history is kept, as long as it takes no more than half the memory that checks may take; after that
//! they are asked at the end only, and that is said.

mod background;
mod weight;

pub use background::Background;

use crate::checker::{Anomaly, Budget, Checker, Shows, compose};
use crate::history::History;
use crate::op::Event;

/// The first broken promise that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The anomaly's kind.
    pub kind: String,
    pub summary: String,
}

/// Watches one run.
pub struct Watch {
    checkers: Vec<Box<dyn Checker>>,
    /// What those need that judge all of it; empty where there are none of them.
    history: History,
    bytes: usize,
    memory_bytes: usize,
    events: usize,
    is_full: bool,
}

impl Watch {
    /// Checkers that need the end of the run are of no use here, and left out.
    pub fn new(mut checkers: Vec<Box<dyn Checker>>, memory_bytes: usize) -> Watch {
        checkers.retain(|checker| checker.shows() != Shows::AtTheEnd);
        Watch {
            checkers,
            history: History::default(),
            bytes: 0,
            memory_bytes,
            events: 0,
            is_full: false,
        }
    }

    /// Takes an event in; cheap.
    pub fn observe(&mut self, event: &Event) -> Option<Violation> {
        self.events += 1;
        self.keep(event);
        let seen = self.checkers.iter_mut().filter_map(|checker| checker.observe(event));
        // Each of them takes the event in, whatever the ones before it saw.
        let mut seen: Vec<Anomaly> = seen.collect();
        (!seen.is_empty()).then(|| Violation::of(seen.swap_remove(0)))
    }

    fn keep(&mut self, event: &Event) {
        let is_needed = self.checkers.iter().any(|checker| checker.shows() == Shows::SoFar);
        if self.is_full || !is_needed {
            return;
        }
        self.bytes += weight::of(event);
        self.history.push(event.clone());
        if self.bytes > self.memory_bytes / 2 {
            self.is_full = true;
            self.history = History::default();
        }
    }

    /// Judges all that has been taken in, as a check of a history that ends here would. Gives up when
    /// `exhausted` says so.
    pub fn look(&mut self, exhausted: &(dyn Fn() -> bool + Sync)) -> Option<Violation> {
        if self.history.is_empty() {
            return None;
        }
        let (mut whole, at_once): (Vec<_>, Vec<_>) = std::mem::take(&mut self.checkers)
            .into_iter()
            .partition(|one| one.shows() == Shows::SoFar);
        let memory = self.memory_bytes / 2;
        let budget = Budget { exhausted, memory, ..Budget::UNBOUNDED };
        let composed = compose(&self.history, &mut whole, &budget);
        whole.extend(at_once);
        self.checkers = whole;
        let mut anomalies = composed.findings.into_iter().flat_map(|finding| finding.anomalies);
        anomalies.next().map(Violation::of)
    }

    pub fn events(&self) -> usize {
        self.events
    }

    /// Whether the history has grown beyond the memory: only what shows at once is seen from now on.
    pub fn is_full(&self) -> bool {
        self.is_full
    }
}

impl Violation {
    fn of(anomaly: Anomaly) -> Violation {
        Violation { kind: anomaly.kind, summary: anomaly.summary }
    }
}

/// A watch that looks whenever the history has grown by a tenth: what it sees depends on the history alone.
pub struct Inline {
    watch: Watch,
    look_at: usize,
}

/// Between two looks at least; a second or two of a usual run.
const FEWEST_BETWEEN_LOOKS: usize = 1_000;

impl Inline {
    pub fn new(watch: Watch) -> Inline {
        Inline { watch, look_at: FEWEST_BETWEEN_LOOKS }
    }

    pub fn observe(&mut self, event: &Event) -> Option<Violation> {
        if let Some(violation) = self.watch.observe(event) {
            return Some(violation);
        }
        let events = self.watch.events();
        if events < self.look_at {
            return None;
        }
        self.look_at = events + (events / 10).max(FEWEST_BETWEEN_LOOKS);
        self.watch.look(&|| false)
    }

    /// As [`Watch::is_full`].
    pub fn is_full(&self) -> bool {
        self.watch.is_full()
    }
}

#[cfg(test)]
mod tests;
