//! Did each named nemesis act: was it installed with proof, felt by the workload, and healed with proof?
//!
//! Judged from the history alone. Felt means that the workload's own traffic shows it while the fault is
//! in force: packets matched, a process replaced, or operations on its nodes failed or far slower than before.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::{Action, Applied, FaultId};
use crate::history::History;
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Event, Kind, MILLISECOND, Nanos, NodeName};
use crate::report::FaultSummary;

/// An operation this many times slower than the median before the first fault was delayed by it.
const SLOWER: Nanos = 10;

/// And at least this slow: medians of a simulation may be tiny.
const SLOW: Nanos = 100 * MILLISECOND;

/// One time that a fault began, or was to begin.
#[derive(Default)]
struct Occurrence {
    nemesis: String,
    targets: BTreeSet<NodeName>,
    began: Option<(Nanos, Vec<Deed>)>,
    ended: Option<(Nanos, Vec<Deed>)>,
    skipped: Option<String>,
}

/// Summaries of these nemeses (name and aim), in their order.
pub fn coverage(history: &History, nemeses: &[(String, String)]) -> Vec<FaultSummary> {
    let occurrences = occurrences(history);
    let traffic = Traffic::of(history, &occurrences);
    let mut seen = BTreeSet::new();
    let firsts = nemeses.iter().filter(|(name, _)| seen.insert(name.clone()));
    firsts
        .map(|(name, target)| {
            let mine: Vec<&Occurrence> =
                occurrences.values().filter(|one| one.nemesis == *name).collect();
            summary(name, target, &mine, &traffic)
        })
        .collect()
}

fn occurrences(history: &History) -> BTreeMap<FaultId, Occurrence> {
    let mut all: BTreeMap<FaultId, Occurrence> = BTreeMap::new();
    for event in history.events() {
        let Some(record) = FaultRecord::of(event) else { continue };
        let fault = match &record {
            FaultRecord::Begin { fault, .. }
            | FaultRecord::Began { fault, .. }
            | FaultRecord::Ended { fault, .. }
            | FaultRecord::Skipped { fault, .. } => *fault,
            _ => continue,
        };
        let one = all.entry(fault).or_default();
        one.nemesis = event.f.to_string();
        match record {
            FaultRecord::Begin { targets, .. } => one.targets = targets.into_iter().collect(),
            FaultRecord::Began { deeds, .. } => one.began = Some((event.time, deeds)),
            FaultRecord::Ended { deeds, .. } => one.ended = Some((event.time, deeds)),
            FaultRecord::Skipped { why, .. } => one.skipped = Some(why),
            _ => {}
        }
    }
    all
}

fn summary(name: &str, target: &str, mine: &[&Occurrence], traffic: &Traffic) -> FaultSummary {
    let skipped = mine.iter().filter(|one| one.is_skipped()).count();
    let doubt = mine.iter().find_map(|one| one.not_installed());
    let unhealed = mine.iter().find_map(|one| one.not_healed());
    let acted: Vec<&&Occurrence> = mine.iter().filter(|one| one.is_installed()).collect();
    let installed = doubt.is_none() && !acted.is_empty();
    let felt = acted.iter().any(|one| one.is_felt(traffic));
    let idle = match (mine.is_empty(), mine.iter().find_map(|one| one.skipped.as_ref())) {
        (true, _) => "the main phase ended before it began".to_owned(),
        (_, Some(why)) => format!("skipped each time: {why}"),
        _ => "it did nothing".to_owned(),
    };
    let why = [
        (!installed).then(|| doubt.unwrap_or(idle)),
        (installed && !felt).then(|| "no traffic of the workload showed it".to_owned()),
        unhealed.clone(),
    ];
    FaultSummary {
        fault: name.to_owned(),
        target: target.to_owned(),
        installed,
        felt,
        healed: unhealed.is_none(),
        times: (mine.len() - skipped) as u64,
        skipped: skipped as u64,
        why: why.into_iter().flatten().collect::<Vec<_>>().join("; "),
    }
}

impl Occurrence {
    fn is_skipped(&self) -> bool {
        let nothing_done = |(_, deeds): &(Nanos, Vec<Deed>)| {
            deeds.iter().all(|deed| matches!(deed.outcome, Applied::Skipped { .. }))
        };
        self.skipped.is_some() || self.began.as_ref().is_some_and(nothing_done)
    }

    fn is_installed(&self) -> bool {
        !self.is_skipped() && self.began.is_some() && self.not_installed().is_none()
    }

    /// Why this occurrence, which was tried, is not proven to have been installed.
    fn not_installed(&self) -> Option<String> {
        if self.is_skipped() {
            return None;
        }
        match &self.began {
            None => Some("the history ends while it was being installed".to_owned()),
            Some((_, deeds)) => deeds.iter().find_map(unproven),
        }
    }

    /// Why the heal of this occurrence is not proven.
    fn not_healed(&self) -> Option<String> {
        if self.is_skipped() {
            return None;
        }
        match &self.ended {
            None => Some("the history ends with it in force".to_owned()),
            Some((_, deeds)) => deeds.iter().find_map(|deed| match &deed.outcome {
                Applied::Skipped { why } => {
                    Some(format!("{} was skipped: {why}", deed.action.name()))
                }
                _ => unproven(deed),
            }),
        }
    }

    fn is_felt(&self, traffic: &Traffic) -> bool {
        let began = self.began.iter().flat_map(|(_, deeds)| deeds);
        let ended = self.ended.iter().flat_map(|(_, deeds)| deeds);
        // A proven kill replaced the process that the clients talked to.
        let killed = began.clone().any(|deed| matches!(deed.action, Action::Kill { .. }));
        let matched = began.chain(ended).any(|deed| match &deed.outcome {
            Applied::Installed { proof } => proof.packets.is_some_and(|packets| packets > 0),
            _ => false,
        });
        killed
            || matched
            || self.window().is_some_and(|window| traffic.suffered(&self.targets, window))
    }

    fn window(&self) -> Option<(Nanos, Nanos)> {
        let (from, _) = self.began.as_ref()?;
        let to = self.ended.as_ref().map_or(Nanos::MAX, |(time, _)| *time);
        Some((*from, to))
    }
}

fn unproven(deed: &Deed) -> Option<String> {
    match &deed.outcome {
        Applied::Installed { proof } if proof.holds() => None,
        Applied::Installed { proof } => {
            let failed = proof.checks.iter().find(|check| !check.holds);
            let told = failed.map_or("no check was made".to_owned(), |check| {
                format!("{}: expected {}, seen {}", check.what, check.expected, check.seen)
            });
            Some(format!("{} is not proven: {told}", deed.action.name()))
        }
        Applied::Skipped { .. } => None,
        Applied::Indeterminate { why, .. } => Some(format!("{}: {why}", deed.action.name())),
    }
}

/// The workload's operations, as far as they can show a fault.
struct Traffic<'a> {
    operations: Vec<(&'a Event, Option<&'a Event>)>,
    /// Slower than this is delayed.
    slow: Nanos,
}

impl<'a> Traffic<'a> {
    fn of(history: &'a History, occurrences: &BTreeMap<FaultId, Occurrence>) -> Traffic<'a> {
        let operations = history.operations();
        let began = occurrences.values().filter_map(|one| one.window().map(|(from, _)| from));
        let first = began.min().unwrap_or(Nanos::MAX);
        let latency = |(invoke, done): &(&Event, Option<&Event>)| {
            let done = done.filter(|done| done.kind == Kind::Ok && done.time < first)?;
            Some(done.time - invoke.time)
        };
        let mut before: Vec<Nanos> = operations.iter().filter_map(latency).collect();
        let middle = before.len() / 2;
        let median = match before.is_empty() {
            true => 0,
            false => *before.select_nth_unstable(middle).1,
        };
        Traffic { operations, slow: (median * SLOWER).max(SLOW) }
    }

    /// An operation on one of these nodes, under way in the window, became unknown, failed for want of
    /// an answer, or took far longer than before.
    fn suffered(&self, nodes: &BTreeSet<NodeName>, (from, to): (Nanos, Nanos)) -> bool {
        let here = |event: &Event| event.node.as_ref().is_some_and(|node| nodes.contains(node));
        self.operations.iter().any(|(invoke, done)| {
            let end = done.map_or(Nanos::MAX, |done| done.time);
            let overlaps = invoke.time < to && end > from;
            let hurt = match done {
                None => true,
                Some(done) if done.kind == Kind::Info => true,
                Some(done) => done.time - invoke.time > self.slow,
            };
            here(invoke) && overlaps && hurt
        })
    }
}

#[cfg(test)]
mod tests;
