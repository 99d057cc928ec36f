//! Checkers at work while the run goes on, so that a night ends at the first broken promise.
//!
//! Checkers that work event by event see each event as it is recorded. The others judge all that has been
//! recorded so far, again and again: what is found in a part of a history stands for the whole, since
//! whatever had not completed by then may have happened or not.

mod background;

pub use background::Background;

use crate::checker::{Anomaly, Budget, Checker, compose};
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
    history: History,
    memory_bytes: usize,
}

impl Watch {
    pub fn new(checkers: Vec<Box<dyn Checker>>, memory_bytes: usize) -> Watch {
        Watch { checkers, history: History::default(), memory_bytes }
    }

    /// Takes an event in; cheap.
    pub fn observe(&mut self, event: &Event) -> Option<Violation> {
        self.history.push(event.clone());
        let seen = self.checkers.iter_mut().filter_map(|checker| checker.observe(event));
        // Each of them takes the event in, whatever the ones before it saw.
        let mut seen: Vec<Anomaly> = seen.collect();
        (!seen.is_empty()).then(|| Violation::of(seen.swap_remove(0)))
    }

    /// Judges all that has been taken in, as a check of a history that ends here would. Gives up when
    /// `exhausted` says so.
    pub fn look(&mut self, exhausted: &(dyn Fn() -> bool + Sync)) -> Option<Violation> {
        let (whole, streaming): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.checkers).into_iter().partition(|one| !one.streams());
        self.checkers = whole;
        let budget = Budget { exhausted, memory: self.memory_bytes, ..Budget::UNBOUNDED };
        let composed = compose(&self.history, &mut self.checkers, &budget);
        self.checkers.extend(streaming);
        let mut anomalies = composed.findings.into_iter().flat_map(|finding| finding.anomalies);
        anomalies.next().map(Violation::of)
    }

    pub fn events(&self) -> usize {
        self.history.len()
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
}

#[cfg(test)]
mod tests;
