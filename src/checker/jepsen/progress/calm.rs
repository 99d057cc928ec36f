//! Whether faults are in force, as far as the nemesis's events tell.

use std::collections::BTreeSet;

use crate::cluster::FaultId;
use crate::nemesis::{Deed, FaultRecord, Phase};
use crate::op::Event;

/// What an event of the nemesis does to those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Something,
    Nothing,
}

#[derive(Default)]
pub(super) struct Calm {
    in_force: BTreeSet<FaultId>,
    /// Whether a nemesis is at work that is not ours.
    is_foreign: bool,
}

impl Calm {
    /// Our own records tell which of them change something.
    pub fn take(&mut self, event: &Event) -> Change {
        match FaultRecord::of(event) {
            None => self.is_foreign = true,
            Some(FaultRecord::Begin { fault, .. }) => drop(self.in_force.insert(fault)),
            Some(FaultRecord::Began { fault, deeds }) => {
                // Momentary faults are over once they have begun.
                if !deeds.iter().any(Deed::is_in_force) {
                    self.in_force.remove(&fault);
                }
            }
            Some(FaultRecord::Ended { fault, .. } | FaultRecord::Skipped { fault, .. }) => {
                self.in_force.remove(&fault);
            }
            Some(FaultRecord::Phase { phase }) if phase != Phase::Heal => return Change::Nothing,
            Some(
                FaultRecord::View { .. }
                | FaultRecord::Verified { .. }
                | FaultRecord::Dropped { .. }
                | FaultRecord::Interrupted { .. }
                | FaultRecord::Violation { .. }
                | FaultRecord::Harness { .. },
            ) => return Change::Nothing,
            Some(_) => {}
        }
        Change::Something
    }

    /// A fault is in force for sure.
    pub fn is_disturbed(&self) -> bool {
        !self.in_force.is_empty()
    }

    /// No fault is in force for sure.
    pub fn is_certain(&self) -> bool {
        !self.is_foreign && self.in_force.is_empty()
    }
}
