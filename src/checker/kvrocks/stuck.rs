//! What does not come to an end after the heal: slots that nobody serves, migrations that stay under way.

mod migrations;
mod slots;
#[cfg(test)]
mod tests;

use super::KvrocksChecks;
use super::answers::Pair;
use super::evidence::Evidence;
use super::wording::{counted, finding, milliseconds, seconds};
use crate::checker::{Budget, Checker, Finding, Verdict};
use crate::history::History;
use crate::nemesis::Phase;
use crate::op::Nanos;

/// The stretch after the heal in which the cluster may settle.
#[derive(Clone, Copy, Debug)]
struct Settling {
    healed: Nanos,
    within: Nanos,
}

/// Demands that every slot is served again within a bound after the heal.
#[derive(Clone, Debug)]
pub(super) struct StuckSlots {
    pub checks: KvrocksChecks,
}

/// Demands that no migration is under way that long after the heal.
#[derive(Clone, Debug)]
pub(super) struct StuckMigrations {
    pub checks: KvrocksChecks,
}

/// Judges what came after the heal, where there was one.
fn judged(
    checks: &KvrocksChecks,
    history: &History,
    name: &str,
    judge: impl FnOnce(&[Pair], &Evidence, Settling) -> Finding,
) -> Finding {
    let pairs = history.operations();
    let evidence = Evidence::of(history, &pairs, &checks.shards);
    let within = checks.bounds.settle_within;
    match evidence.phases.start(Phase::Recover) {
        Some(mark) => judge(&pairs, &evidence, Settling { healed: mark.time, within }),
        None if evidence.phases.is_foreign() => {
            let why = "not judged: the history marks no phases".to_owned();
            finding(name, why, Vec::new(), [])
        }
        None => unknown(finding(name, "the run never reached recover".into(), Vec::new(), [])),
    }
}

fn unknown(mut finding: Finding) -> Finding {
    finding.verdict = finding.verdict.max(Verdict::Unknown);
    finding
}

impl Checker for StuckSlots {
    fn name(&self) -> &'static str {
        "stuck-slots"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        judged(&self.checks, history, self.name(), |pairs, _, settling| {
            let slots = slots::after_heal(pairs, settling);
            let longest = slots.values().map(slots::Slot::longest).max().unwrap_or(0);
            let anomalies = slots.iter().filter_map(|(slot, told)| told.anomaly(*slot, settling));
            let anomalies: Vec<_> = anomalies.collect();
            let unserved = slots.iter().filter(|(_, told)| told.is_unserved());
            let unserved: Vec<String> = unserved.map(|(slot, _)| slot.to_string()).collect();
            let mut why = format!(
                "{} asked for after the heal, none refused for longer than {} ms",
                counted(slots.len(), "slot"),
                milliseconds(longest)
            );
            let is_open = anomalies.is_empty() && !unserved.is_empty();
            if !anomalies.is_empty() {
                why = anomalies[0].summary.clone();
            } else if is_open {
                let end = history.events().iter().map(|event| event.time).max().unwrap_or(0);
                let watched = seconds(end.saturating_sub(settling.healed));
                let slots = unserved.join(", ");
                why = format!(
                    "the run ended {watched} after the heal, and so far nobody had served slot {slots}"
                );
            }
            let figures =
                [("slots", slots.len() as f64), ("worst-refused-ms", milliseconds(longest))];
            let finding = finding(self.name(), why, anomalies, figures);
            if is_open { unknown(finding) } else { finding }
        })
    }
}

impl Checker for StuckMigrations {
    fn name(&self) -> &'static str {
        "stuck-migrations"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        judged(&self.checks, history, self.name(), |_, evidence, settling| {
            let told = migrations::at_the_end(evidence, settling);
            let figures =
                [("migrations", told.accepted as f64), ("stuck", told.anomalies.len() as f64)];
            let is_open = told.anomalies.is_empty() && told.open.is_some();
            let why = match (told.anomalies.first(), told.open) {
                (Some(anomaly), _) => anomaly.summary.clone(),
                (None, Some(open)) => open,
                (None, None) => {
                    format!(
                        "{} accepted, none under way at the end",
                        counted(told.accepted, "migration")
                    )
                }
            };
            let finding = finding(self.name(), why, told.anomalies, figures);
            if is_open { unknown(finding) } else { finding }
        })
    }
}
