//! All that one nemesis left in the history, fault by fault, from its beginning to its heal.

use crate::cluster::{Action, Applied, FaultId, Proof};
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Event, Nanos, NodeName};

#[derive(Default)]
pub(super) struct Trace {
    pub installations: Vec<Installation>,
    /// Times it was not even begun, by reason.
    pub skipped: Vec<String>,
}

/// One fault from its beginning to its heal.
pub(super) struct Installation {
    id: FaultId,
    pub targets: Vec<NodeName>,
    /// What it was about to do.
    actions: Vec<Action>,
    pub begun: Nanos,
    /// When it was in force, as far as known.
    pub from: Nanos,
    /// When its undoing began.
    to: Option<Nanos>,
    pub began: Vec<Deed>,
    /// At which nodes it hit messages of the workload.
    pub hits: Vec<NodeName>,
    /// `None` while the undoing has not been tried to its end.
    ended: Option<(Nanos, Vec<Deed>)>,
}

impl Trace {
    pub fn take_in(&mut self, event: &Event, record: FaultRecord) {
        match record {
            FaultRecord::Begin { fault, targets, actions } => {
                self.installations.push(Installation::new(fault, targets, actions, event.time));
            }
            FaultRecord::Began { fault, deeds } => self.change(fault, |installation| {
                installation.from = event.time;
                installation.began = deeds;
            }),
            FaultRecord::End { fault, .. } => {
                self.change(fault, |installation| installation.to = Some(event.time));
            }
            FaultRecord::Ended { fault, deeds } => self.change(fault, |installation| {
                installation.to.get_or_insert(event.time);
                installation.ended = Some((event.time, deeds));
            }),
            FaultRecord::Skipped { why, .. } => self.skipped.push(why),
            FaultRecord::Hit { fault, node, .. } => {
                self.change(fault, |installation| installation.hits.push(node));
            }
            FaultRecord::Phase { .. }
            | FaultRecord::View { .. }
            | FaultRecord::Dropped { .. }
            | FaultRecord::Interrupted { .. }
            | FaultRecord::Violation { .. }
            | FaultRecord::Triggered { .. }
            | FaultRecord::Verified { .. }
            | FaultRecord::Harness { .. } => {}
        }
    }

    fn change(&mut self, id: FaultId, change: impl FnOnce(&mut Installation)) {
        if let Some(found) = self.installations.iter_mut().rfind(|found| found.id == id) {
            change(found);
        }
    }

    /// Every node that was hit, once, in name order.
    pub fn nodes(&self) -> Vec<NodeName> {
        let mut nodes: Vec<NodeName> =
            self.installations.iter().flat_map(Installation::nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// The proof of what was done.
pub(super) fn proof(deed: &Deed) -> Option<&Proof> {
    match &deed.outcome {
        Applied::Installed { proof } => Some(proof),
        Applied::Skipped { .. } | Applied::Indeterminate { .. } => None,
    }
}

pub(super) fn is_proven(deed: &Deed) -> bool {
    proof(deed).is_some_and(Proof::holds)
}

/// It may have changed something.
fn touched(deed: &Deed) -> bool {
    !matches!(deed.outcome, Applied::Skipped { .. })
}

fn is_lasting(deed: &Deed) -> bool {
    deed.action.undo().is_some()
}

impl Installation {
    fn new(id: FaultId, targets: Vec<NodeName>, actions: Vec<Action>, begun: Nanos) -> Self {
        let (began, hits) = (Vec::new(), Vec::new());
        Installation {
            id,
            targets,
            actions,
            begun,
            from: begun,
            to: None,
            began,
            hits,
            ended: None,
        }
    }

    /// The nodes it was aimed at, or else all that its actions touch.
    pub fn nodes(&self) -> Vec<NodeName> {
        if !self.targets.is_empty() {
            return self.targets.clone();
        }
        self.actions.iter().flat_map(Action::places).collect()
    }

    /// At least one deed was done and proven.
    pub fn is_in_force(&self) -> bool {
        self.began.iter().any(is_proven)
    }

    /// There is nothing to take back, or nothing was touched.
    pub fn is_momentary(&self) -> bool {
        if self.began.is_empty() {
            // A `begin` without `began` may have touched anything that it was about to.
            return !self.actions.is_empty() && self.actions.iter().all(|a| a.undo().is_none());
        }
        !self.began.iter().any(|deed| touched(deed) && is_lasting(deed))
    }

    /// The time in which operations could feel it. What is over at once is felt by what was under way.
    pub fn in_force(&self) -> (Nanos, Nanos) {
        match self.is_momentary() {
            true => (self.begun, self.from),
            false => (self.from, self.to.unwrap_or(Nanos::MAX)),
        }
    }

    /// Why it is not known whether it was installed.
    pub fn doubt(&self) -> Option<String> {
        self.began.iter().find_map(|deed| match &deed.outcome {
            Applied::Indeterminate { why, .. } => {
                Some(format!("{} is indeterminate: {why}", deed.action.name()))
            }
            Applied::Installed { proof } if !proof.holds() => {
                Some(format!("the proof of {} does not hold", deed.action.name()))
            }
            _ => None,
        })
    }

    /// The proof of the deed that took this one back.
    pub fn undoing(&self, deed: &Deed) -> Option<&Proof> {
        let undo = deed.action.undo()?;
        let (_, ended) = self.ended.as_ref()?;
        ended.iter().filter(|end| end.action == undo).find_map(proof)
    }

    /// Why its heal is not proven.
    pub fn unhealed(&self) -> Option<String> {
        if self.is_momentary() {
            return None;
        }
        if self.ended.is_none() {
            return Some(format!(
                "{} was never ended (`stormglass heal` takes back what is left)",
                self.id
            ));
        }
        let undone = |deed: &Deed| self.undoing(deed).is_some_and(Proof::holds);
        let lasting = |deed: &&Deed| touched(deed) && is_lasting(deed);
        let left = self.began.iter().filter(lasting).find(|deed| !undone(deed))?;
        Some(format!("{}: the undoing of {} is not proven", self.id, left.action.name()))
    }

    /// When the last of it was taken back; `None` where nothing was to take back or it is not proven.
    pub fn healed_at(&self) -> Option<Nanos> {
        let (at, _) = self.ended.as_ref()?;
        (!self.is_momentary() && self.unhealed().is_none()).then_some(*at)
    }
}
