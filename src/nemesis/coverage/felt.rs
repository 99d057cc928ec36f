//! Whether a fault in force was felt: each kind of action has its own evidence.

use super::baseline::Baseline;
use super::trace::{Installation, is_proven, proof};
use crate::cluster::{Action, Effect, Form};
use crate::nemesis::Deed;
use crate::op::NodeName;

/// What shows that one deed was felt.
enum Evidence {
    /// It was, whatever the workload saw of it: the process is another one, the session is gone.
    Itself,
    /// Only what was counted on the wire or in the process.
    Count(u64),
    /// What was counted; where that is nothing, what operations saw.
    CountOrOperations(u64),
}

impl Installation {
    /// Whether what it did to nodes that are `meant` was felt.
    pub(super) fn is_felt(&self, baseline: &Baseline, meant: impl Fn(&NodeName) -> bool) -> bool {
        let mut operations_tell = false;
        let deeds = self.began.iter().filter(|deed| is_proven(deed));
        for deed in deeds.filter(|deed| self.concerns(deed, &meant)) {
            match self.evidence(deed, &meant) {
                Evidence::Itself => return true,
                Evidence::Count(count) | Evidence::CountOrOperations(count) if count > 0 => {
                    return true;
                }
                Evidence::Count(_) => {}
                Evidence::CountOrOperations(_) => operations_tell = true,
            }
        }
        let targets: Vec<NodeName> = self.targets.iter().copied().filter(meant).collect();
        let (from, to) = self.in_force();
        operations_tell && baseline.feels(&targets, from, to)
    }

    /// Whether a deed touches such nodes; one that touches no target at all is done to the targets from
    /// elsewhere, as a session is ended where it is held.
    fn concerns(&self, deed: &Deed, meant: impl Fn(&NodeName) -> bool) -> bool {
        let places = deed.action.places();
        let is_from_elsewhere = !self.targets.iter().any(|target| places.contains(target));
        places.iter().any(&meant) || (is_from_elsewhere && self.targets.iter().any(meant))
    }

    fn evidence(&self, deed: &Deed, meant: impl Fn(&NodeName) -> bool) -> Evidence {
        let when_undone = || self.undoing(deed).and_then(|proof| proof.packets);
        match &deed.action {
            Action::Kill { .. }
            | Action::Stop { .. }
            | Action::Crash { .. }
            | Action::Expire { .. } => Evidence::Itself,
            // A clock is read by its owner all the time; the proof has read it back where it stood.
            Action::Skew { .. } => Evidence::Count(when_undone().unwrap_or(1)),
            Action::Interpose { effect: Effect::Message(rule), .. } => {
                let hits = self.hits.iter().filter(|node| meant(node)).count() as u64;
                match rule.form {
                    Form::Watch => Evidence::Count(0),
                    _ => Evidence::Count(hits.max(when_undone().unwrap_or(0))),
                }
            }
            Action::Sever { .. } => {
                let severed = proof(deed).and_then(|proof| proof.packets);
                Evidence::CountOrOperations(severed.unwrap_or(0))
            }
            _ => Evidence::CountOrOperations(when_undone().unwrap_or(0)),
        }
    }
}

/// What was missing, in words.
pub(super) fn unfelt(installation: &Installation) -> &'static str {
    match installation.began.iter().find(|deed| is_proven(deed)).map(|deed| &deed.action) {
        Some(Action::Interpose { effect: Effect::Message(_), .. }) => {
            "no message of the workload matched"
        }
        Some(Action::Skew { .. }) => "the service did not read the clock meanwhile",
        Some(Action::Sever { .. }) => "no connection was open and no operation felt it",
        _ => "no operation of the workload felt it",
    }
}
