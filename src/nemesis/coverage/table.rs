//! The coverage table: fault × role × phase, and how often begun, installed, felt and healed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::trace::{Installation, Trace};
use crate::history::History;
use crate::nemesis::node_role::role_of;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::Nanos;

/// What one nemesis did to the nodes of one role, counted in the phase in which it happened: what was
/// begun, installed and felt where it began, what was healed where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageCell {
    /// The nemesis's name.
    pub fault: String,
    /// `zookeeper`; empty where it never began and so has hit no role.
    pub role: String,
    pub phase: Phase,
    pub begun: u64,
    /// Done and proven.
    pub installed: u64,
    pub felt: u64,
    /// Of those begun, the ones that left something to take back. What is momentary leaves nothing.
    pub lasting: u64,
    /// Taken back, and that is proven.
    pub healed: u64,
}

/// Why a nemesis did nothing, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFault {
    pub fault: String,
    pub why: String,
    pub times: u64,
}

/// When each phase began.
pub(super) struct Phases(Vec<(Nanos, Phase)>);

impl Phases {
    pub fn of(history: &History) -> Phases {
        let mark = |event| match FaultRecord::of(event) {
            Some(FaultRecord::Phase { phase }) => Some((event.time, phase)),
            _ => None,
        };
        Phases(history.events().iter().filter_map(mark).collect())
    }

    /// A history without marks is all main.
    fn at(&self, time: Nanos) -> Phase {
        let passed = self.0.iter().rev().find(|(from, _)| *from <= time);
        passed.map_or(Phase::Main, |(_, phase)| *phase)
    }
}

/// The cells of one nemesis, in order of role and phase; one of zeros where it never began.
pub(super) fn cells(
    fault: &str,
    trace: &Trace,
    phases: &Phases,
    baseline: &Baseline,
) -> Vec<CoverageCell> {
    let mut cells: BTreeMap<(String, Phase), CoverageCell> = BTreeMap::new();
    let mut cell = |role: &str, phase, change: &dyn Fn(&mut CoverageCell)| {
        let empty = || CoverageCell {
            fault: fault.to_owned(),
            role: role.to_owned(),
            phase,
            begun: 0,
            installed: 0,
            felt: 0,
            lasting: 0,
            healed: 0,
        };
        change(cells.entry((role.to_owned(), phase)).or_insert_with(empty));
    };
    for installation in &trace.installations {
        for role in roles(installation) {
            let installed = installation.is_in_force() && installation.doubt().is_none();
            let felt = installed && installation.is_felt(baseline, |node| role_of(node) == role);
            cell(&role, phases.at(installation.begun), &|cell| {
                cell.begun += 1;
                cell.installed += u64::from(installed);
                cell.felt += u64::from(felt);
                cell.lasting += u64::from(!installation.is_momentary());
            });
            if let Some(at) = installation.healed_at() {
                cell(&role, phases.at(at), &|cell| cell.healed += 1);
            }
        }
    }
    if trace.installations.is_empty() {
        cell("", Phase::Main, &|_| {});
    }
    cells.into_values().collect()
}

fn roles(installation: &Installation) -> BTreeSet<String> {
    installation.nodes().iter().map(|node| role_of(node).to_owned()).collect()
}

/// Reasons for which the nemesis did nothing, the most frequent first.
pub(super) fn skipped(fault: &str, trace: &Trace) -> Vec<SkippedFault> {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for why in &trace.skipped {
        *reasons.entry(why).or_default() += 1;
    }
    let told = |(why, times): (&str, u64)| SkippedFault {
        fault: fault.to_owned(),
        why: why.to_owned(),
        times,
    };
    let mut skipped: Vec<SkippedFault> = reasons.into_iter().map(told).collect();
    skipped.sort_by_key(|skipped| std::cmp::Reverse(skipped.times));
    skipped
}
