//! When the phases of a run began, read from the records in its history.

use std::collections::BTreeMap;

use crate::history::History;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::Nanos;

/// A place in the history: the event's position and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub position: usize,
    pub time: Nanos,
}

/// The marks that checkers divide a history by. Empty for foreign histories.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Phases {
    starts: BTreeMap<Phase, Mark>,
    /// The first fault that was about to be installed.
    pub first_fault: Option<Mark>,
}

impl Phases {
    pub fn of(history: &History) -> Phases {
        let mut phases = Phases::default();
        for (position, event) in history.events().iter().enumerate() {
            let mark = Mark { position, time: event.time };
            match FaultRecord::of(event) {
                Some(FaultRecord::Phase { phase }) => {
                    phases.starts.entry(phase).or_insert(mark);
                }
                Some(FaultRecord::Begin { .. }) => {
                    phases.first_fault.get_or_insert(mark);
                }
                _ => {}
            }
        }
        phases
    }

    pub fn start(&self, phase: Phase) -> Option<Mark> {
        self.starts.get(&phase).copied()
    }

    /// No phase is marked: the history was not recorded by our run loop.
    pub fn is_foreign(&self) -> bool {
        self.starts.is_empty()
    }
}
