//! Whether the faults of a run acted: installed and proven, felt by the workload, and healed. Read
//! from the history alone; a fault that did nothing proves nothing about the system.

mod baseline;

use std::collections::BTreeMap;

use crate::cluster::{Action, Applied, FaultId, Proof};
use crate::history::History;
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Event, Nanos, NodeName};
use crate::report::FaultSummary;
use baseline::Baseline;

/// A nemesis as the scenario names it: `kill`, aimed at `leader`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedNemesis {
    pub fault: String,
    pub target: String,
}

/// One summary for each named nemesis, in that order, then for each other that left records.
pub fn coverage(history: &History, named: &[NamedNemesis]) -> Vec<FaultSummary> {
    let mut traces: BTreeMap<String, Trace> = BTreeMap::new();
    for event in history.events() {
        match FaultRecord::of(event) {
            Some(record) if is_of_a_fault(&record) => {
                traces.entry(event.f.to_string()).or_default().take_in(event, record);
            }
            _ => {}
        }
    }
    let started = traces.values().flat_map(|trace| &trace.installations).map(|i| i.from).min();
    let baseline = Baseline::of(history, started.unwrap_or(Nanos::MAX));
    let mut summaries: Vec<FaultSummary> = Vec::new();
    for NamedNemesis { fault, target } in named {
        let trace = traces.remove(fault).unwrap_or_default();
        summaries.push(trace.summary(fault, target, &baseline));
    }
    summaries.extend(
        traces
            .iter()
            .map(|(fault, trace)| trace.summary(fault, &trace.nodes().join(" "), &baseline)),
    );
    summaries
}

fn is_of_a_fault(record: &FaultRecord) -> bool {
    !matches!(
        record,
        FaultRecord::Phase { .. }
            | FaultRecord::View { .. }
            | FaultRecord::Dropped { .. }
            | FaultRecord::Interrupted { .. }
            | FaultRecord::Harness { .. }
    )
}

/// All that one nemesis left in the history.
#[derive(Default)]
struct Trace {
    installations: Vec<Installation>,
    skipped: u64,
    why_skipped: String,
}

/// One fault from its beginning to its heal.
struct Installation {
    id: FaultId,
    targets: Vec<NodeName>,
    from: Nanos,
    /// When its undoing began.
    to: Option<Nanos>,
    began: Vec<Deed>,
    /// Messages of the workload that it hit.
    hits: u64,
    /// `None` while the undoing has not been tried to its end.
    ended: Option<Vec<Deed>>,
}

impl Trace {
    fn take_in(&mut self, event: &Event, record: FaultRecord) {
        match record {
            FaultRecord::Begin { fault: id, targets, .. } => {
                let from = event.time;
                let begun = Installation {
                    id,
                    targets,
                    from,
                    to: None,
                    began: vec![],
                    hits: 0,
                    ended: None,
                };
                self.installations.push(begun);
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
                installation.ended = Some(deeds);
            }),
            FaultRecord::Skipped { why, .. } => {
                self.skipped += 1;
                self.why_skipped = why;
            }
            FaultRecord::Hit { fault, .. } => {
                self.change(fault, |installation| installation.hits += 1);
            }
            FaultRecord::Phase { .. }
            | FaultRecord::View { .. }
            | FaultRecord::Dropped { .. }
            | FaultRecord::Interrupted { .. }
            | FaultRecord::Triggered { .. }
            | FaultRecord::Verified { .. }
            | FaultRecord::Harness { .. } => {}
        }
    }

    fn change(&mut self, id: FaultId, change: impl FnOnce(&mut Installation)) {
        if let Some(found) = self.installations.iter_mut().find(|found| found.id == id) {
            change(found);
        }
    }
    fn nodes(&self) -> Vec<&str> {
        let targets = self.installations.iter().flat_map(|installation| &installation.targets);
        let mut nodes: Vec<&str> = targets.map(|node| &**node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn summary(&self, fault: &str, target: &str, baseline: &Baseline) -> FaultSummary {
        let in_force: Vec<&Installation> =
            self.installations.iter().filter(|installation| installation.is_in_force()).collect();
        let doubt = self.installations.iter().find_map(Installation::doubt);
        let installed = !in_force.is_empty() && doubt.is_none();
        let felt = in_force.iter().any(|installation| installation.is_felt(baseline));
        let unhealed = self.installations.iter().find_map(Installation::unhealed);
        let healed = unhealed.is_none();
        let mut reasons = Vec::new();
        if !installed {
            reasons.push(doubt.unwrap_or_else(|| self.why_not_installed()));
        } else if !felt {
            reasons.push("no operation of the workload felt it".to_owned());
        }
        reasons.extend(unhealed);
        FaultSummary {
            fault: fault.to_owned(),
            target: target.to_owned(),
            installed,
            felt,
            healed,
            times: self.installations.len() as u64,
            skipped: self.skipped,
            why: reasons.join("; "),
        }
    }

    fn why_not_installed(&self) -> String {
        let skipped = self.installations.iter().flat_map(|installation| &installation.began);
        let reason = skipped.rev().find_map(|deed| match &deed.outcome {
            Applied::Skipped { why } => Some(why),
            _ => None,
        });
        match (reason, self.skipped) {
            (Some(why), _) => format!("every time skipped: {why}"),
            (None, 0) if self.installations.is_empty() => "it was never begun".to_owned(),
            (None, 0) => "it was begun and nothing is known of it".to_owned(),
            (None, _) => format!("every time skipped: {}", self.why_skipped),
        }
    }
}

fn proof(deed: &Deed) -> Option<&Proof> {
    match &deed.outcome {
        Applied::Installed { proof } => Some(proof),
        Applied::Skipped { .. } | Applied::Indeterminate { .. } => None,
    }
}

impl Installation {
    /// At least one deed was done and proven.
    fn is_in_force(&self) -> bool {
        self.began.iter().filter_map(proof).any(Proof::holds)
    }

    /// Why it is not known whether it was installed.
    fn doubt(&self) -> Option<String> {
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

    fn is_felt(&self, baseline: &Baseline) -> bool {
        let matched = |deed: &Deed| proof(deed).is_some_and(|proof| proof.packets > Some(0));
        self.hits > 0
            || self.ended.iter().flatten().any(matched)
            || self.began.iter().any(is_proven_kill)
            || baseline.feels(&self.targets, self.from, self.to.unwrap_or(Nanos::MAX))
    }

    /// Why its heal is not proven.
    fn unhealed(&self) -> Option<String> {
        let touched = |deed: &Deed| !matches!(deed.outcome, Applied::Skipped { .. });
        // A `begin` without `began` may have touched anything.
        if !self.began.is_empty() && !self.began.iter().any(touched) {
            return None;
        }
        let Some(ended) = &self.ended else {
            return Some(format!("{} was never ended", self.id));
        };
        let undone = |deed: &Deed| {
            ended.iter().any(|end| {
                Some(&end.action) == deed.action.undo().as_ref()
                    && proof(end).is_some_and(Proof::holds)
            })
        };
        let lasting = |deed: &&Deed| touched(deed) && deed.action.undo().is_some();
        let left = self.began.iter().filter(lasting).find(|deed| !undone(deed))?;
        Some(format!("{}: the undoing of {} is not proven", self.id, left.action.name()))
    }
}

/// The process is another one afterwards, whatever the workload saw of it.
fn is_proven_kill(deed: &Deed) -> bool {
    matches!(deed.action, Action::Kill { .. }) && proof(deed).is_some_and(Proof::holds)
}

#[cfg(test)]
mod tests;
