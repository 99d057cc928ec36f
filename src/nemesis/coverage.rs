//! Whether the faults of a run acted: installed and proven, felt by the workload, and healed. Read
//! from the history alone; a fault that did nothing proves nothing about the system.

mod baseline;
mod felt;
mod table;
mod trace;

use std::collections::BTreeMap;

use crate::cluster::{Applied, Role};
use crate::duration::Span;
use crate::history::History;
use crate::nemesis::{FaultRecord, Pace, When};
use crate::op::{Nanos, SECOND};
use crate::report::FaultSummary;
use baseline::Baseline;
use table::Phases;
pub use table::{CoverageCell, SkippedFault};
use trace::{Installation, Trace};

/// A nemesis as the scenario names it: `kill`, aimed at `leader`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedNemesis {
    pub fault: String,
    pub target: String,
    /// How fast it should make failovers, if that is what it does.
    pub pace: Option<Pace>,
    /// Whose leaders those are.
    pub leads: Option<Role>,
    /// What its faults wait for, if not for the clock.
    pub when: Vec<When>,
    /// When the first of its faults begins, if that is up to the clock.
    pub first: Option<Span>,
    /// When the record stops, if the run went on.
    pub stopped: Option<Nanos>,
}

impl NamedNemesis {
    fn why_never_begun(&self) -> String {
        if let Some(stopped) = self.stopped {
            let begins = match (&self.when[..], self.first) {
                ([], Some(first)) => format!(", and it begins at {first}"),
                _ => String::new(),
            };
            return format!("the record stops at {:.1} s{begins}", stopped as f64 / SECOND as f64);
        }
        match (&self.when[..], self.first) {
            ([], Some(first)) => {
                format!("it begins at {first}, and the run was over by then; raise `time`")
            }
            ([], None) => "it was never begun".to_owned(),
            (when, _) => {
                let waited: Vec<String> = when.iter().map(ToString::to_string).collect();
                format!("it waited for {}, which never came", waited.join("; "))
            }
        }
    }
}

/// All that is known of whether the faults acted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// One for each named nemesis, in that order, then for each other that left records.
    pub summaries: Vec<FaultSummary>,
    /// In the same order.
    pub cells: Vec<CoverageCell>,
    pub skipped: Vec<SkippedFault>,
}

pub fn coverage(history: &History, named: &[NamedNemesis]) -> Coverage {
    let mut traces = traces(history);
    let started = traces.values().flat_map(|trace| &trace.installations).map(|i| i.from).min();
    let baseline = Baseline::of(history, started.unwrap_or(Nanos::MAX));
    let phases = Phases::of(history);
    let mut coverage = Coverage::default();
    let mut add = |fault: &str, target: &str, never: &str, trace: &Trace| {
        coverage.summaries.push(trace.summary((fault, target), never, &baseline));
        coverage.cells.extend(table::cells(fault, trace, &phases, &baseline));
        coverage.skipped.extend(table::skipped(fault, trace));
    };
    for nemesis in named {
        let trace = traces.remove(&nemesis.fault).unwrap_or_default();
        add(&nemesis.fault, &nemesis.target, &nemesis.why_never_begun(), &trace);
    }
    for (fault, trace) in &traces {
        let nodes = trace.nodes();
        let nodes: Vec<&str> = nodes.iter().map(|node| &**node).collect();
        add(fault, &nodes.join(" "), "it was never begun", trace);
    }
    coverage
}

/// What each nemesis left, by its name.
fn traces(history: &History) -> BTreeMap<String, Trace> {
    let mut traces: BTreeMap<String, Trace> = BTreeMap::new();
    for event in history.events() {
        match FaultRecord::of(event) {
            Some(record) if is_of_a_fault(&record) => {
                traces.entry(event.f.to_string()).or_default().take_in(event, record);
            }
            _ => {}
        }
    }
    traces
}

fn is_of_a_fault(record: &FaultRecord) -> bool {
    !matches!(
        record,
        FaultRecord::Phase { .. }
            | FaultRecord::View { .. }
            | FaultRecord::Dropped { .. }
            | FaultRecord::Interrupted { .. }
            | FaultRecord::Violation { .. }
            | FaultRecord::Harness { .. }
    )
}

impl Trace {
    fn summary(
        &self,
        (fault, target): (&str, &str),
        never: &str,
        baseline: &Baseline,
    ) -> FaultSummary {
        let in_force: Vec<&Installation> =
            self.installations.iter().filter(|installation| installation.is_in_force()).collect();
        let doubt = self.installations.iter().find_map(Installation::doubt);
        // One that could not be proven does not undo what the others proved.
        let installed = in_force.iter().any(|installation| installation.doubt().is_none());
        let felt = in_force.iter().any(|installation| installation.is_felt(baseline, |_| true));
        let unhealed = self.installations.iter().find_map(Installation::unhealed);
        let healed = unhealed.is_none();
        let mut reasons = Vec::new();
        if !installed {
            reasons.push(doubt.unwrap_or_else(|| self.why_not_installed(never)));
        } else if let (false, Some(last)) = (felt, in_force.last()) {
            reasons.push(felt::unfelt(last).to_owned());
        }
        reasons.extend(unhealed);
        FaultSummary {
            fault: fault.to_owned(),
            target: target.to_owned(),
            installed,
            felt,
            healed,
            momentary: !in_force.is_empty() && in_force.iter().all(|one| one.is_momentary()),
            times: self.installations.len() as u64,
            skipped: self.skipped.len() as u64,
            why: reasons.join("; "),
        }
    }

    fn why_not_installed(&self, never: &str) -> String {
        let skipped = self.installations.iter().flat_map(|installation| &installation.began);
        let reason = skipped.rev().find_map(|deed| match &deed.outcome {
            Applied::Skipped { why } => Some(why),
            _ => None,
        });
        match (reason, self.skipped.last()) {
            (Some(why), _) | (None, Some(why)) => format!("every time skipped: {why}"),
            (None, None) if self.installations.is_empty() => never.to_owned(),
            (None, None) => "it was begun and nothing is known of it".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
