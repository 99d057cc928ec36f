//! The verdict of a whole run and its exit code, from all that was found. It finds nothing itself.
//!
//! Precedence: interrupted (130), anomaly (1), infrastructure (3), undecided (2), valid (0). What
//! is proven is never hidden by what broke later.

mod expectation;
mod variant;

pub use expectation::{Expectation, Identity, World};
pub use variant::{AS_SHIPPED, WantedVariant};

use crate::checker::{Anomaly, Finding, Verdict, follows, is_within};
use crate::nemesis::Failovers;
use crate::report::{Expected, FaultSummary};

/// Everything known at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub findings: &'a [Finding],
    /// The nemeses that were named and could act in this world.
    pub faults: &'a [FaultSummary],
    /// Changes of the leader, where there were any or a nemesis meant to make some.
    pub failovers: Option<&'a Failovers>,
    /// Errors of our side or the host.
    pub harness: &'a [String],
    pub interrupted: bool,
    /// The workload's `expect` items, in order; empty with `--expect none`.
    pub expectations: &'a [Expectation],
    pub identity: &'a Identity,
}

/// The last word on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// `valid`, `invalid`, `unknown` or `infrastructure`.
    pub verdict: &'static str,
    pub exit_code: i32,
    /// One sentence for the first screen.
    pub why: String,
    pub expected: Option<Expected>,
}

/// Judges a run.
pub fn judge(case: &Case) -> Judgement {
    let anomalies: Vec<&Anomaly> =
        case.findings.iter().flat_map(|finding| &finding.anomalies).collect();
    let wanted = expectation::first_match(case.expectations, case.identity);
    let expected = wanted.map(|kind| Expected {
        anomaly: kind.to_owned(),
        found: anomalies.iter().any(|anomaly| is_within(&anomaly.kind, kind)),
    });
    let (verdict, exit_code, why) = if case.interrupted {
        interrupted(case, &anomalies)
    } else if is_invalid(case) {
        invalid(&anomalies, case, wanted)
    } else if let Some(why) = broken(case) {
        ("infrastructure", 3, why)
    } else {
        let (verdict, exit_code, why) = passed(case);
        match wanted {
            Some(kind) => {
                let code = if case.identity.world == World::Sim { 1 } else { 2 };
                (verdict, code, format!("the expected {kind} was not found; {why}"))
            }
            None => (verdict, exit_code, why),
        }
    };
    Judgement { verdict, exit_code, why, expected }
}

type Ruling = (&'static str, i32, String);

fn is_invalid(case: &Case) -> bool {
    case.findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Invalid || !finding.anomalies.is_empty())
}

fn interrupted(case: &Case, anomalies: &[&Anomaly]) -> Ruling {
    let (verdict, so_far) = if is_invalid(case) {
        ("invalid", told(anomalies, case))
    } else if let Some(why) = broken(case) {
        ("infrastructure", why)
    } else {
        ("unknown", "nothing was found in what had been recorded".to_owned())
    };
    (verdict, 130, format!("interrupted; {so_far}"))
}

fn invalid(anomalies: &[&Anomaly], case: &Case, wanted: Option<&str>) -> Ruling {
    let Some(kind) = wanted else { return ("invalid", 1, told(anomalies, case)) };
    let (found, others): (Vec<&Anomaly>, Vec<&Anomaly>) =
        anomalies.iter().partition(|anomaly| is_within(&anomaly.kind, kind));
    // What the expected anomaly brings about is no surprise, once that has been found.
    let others: Vec<&Anomaly> = match found.is_empty() {
        true => others,
        false => others.into_iter().filter(|other| !follows(&other.kind, kind)).collect(),
    };
    // An invalid verdict without an anomaly cannot be the expected one.
    if others.is_empty() && !found.is_empty() {
        return ("invalid", 0, format!("as expected: {}", told(&found, case)));
    }
    ("invalid", 1, format!("not the expected {kind}: {}", told(&others, case)))
}

/// The first anomaly in words, and how many more there are.
fn told(anomalies: &[&Anomaly], case: &Case) -> String {
    let mut words = match anomalies {
        [] => {
            let finding = case.findings.iter().find(|f| f.verdict == Verdict::Invalid);
            finding.map_or(String::new(), |finding| format!("{}: {}", finding.name, finding.why))
        }
        [one] => one.summary.clone(),
        [first, more @ ..] => format!("{} (and {} more)", first.summary, more.len()),
    };
    if let Some(why) = broken(case) {
        words += &format!("; besides, {why}");
    }
    words
}

/// What broke on our side, if anything did.
fn broken(case: &Case) -> Option<String> {
    if let Some(error) = case.harness.first() {
        return Some(format!("the harness broke: {error}"));
    }
    let unhealed = case.faults.iter().find(|fault| !fault.healed)?;
    Some(format!("the heal of {} is not proven: {}", unhealed.fault, unhealed.why))
}

/// No anomaly, nothing broken: valid, or a reason why that cannot be said.
fn passed(case: &Case) -> Ruling {
    let mut doubts: Vec<String> = case
        .findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Unknown)
        .map(|finding| format!("{}: {}", finding.name, finding.why))
        .collect();
    for fault in case.faults.iter().filter(|fault| !fault.installed || !fault.felt) {
        doubts.push(format!("{} did not act: {}", fault.fault, fault.why));
    }
    // A loop off its pace is told; one that made the system do nothing proves nothing. What was never
    // begun is doubted above.
    let loops = case.failovers.map_or(&[][..], |failovers| &failovers.loops);
    for paced in loops.iter().filter(|paced| paced.begun > 0 && paced.finished == 0) {
        doubts.push(format!("{}: no failover finished in {} begun", paced.nemesis, paced.begun));
    }
    match (case.findings.is_empty(), doubts.is_empty()) {
        (true, _) => ("unknown", 2, "nothing was checked".to_owned()),
        (_, false) => ("unknown", 2, doubts.join("; ")),
        (_, true) => ("valid", 0, acted(case)),
    }
}

fn acted(case: &Case) -> String {
    let checkers: Vec<&str> = case.findings.iter().map(|finding| &*finding.name).collect();
    let faults: Vec<&str> = case.faults.iter().map(|fault| &*fault.fault).collect();
    let faults = match faults.as_slice() {
        [] => "no fault was asked for".to_owned(),
        names => format!("{} acted and healed", names.join(", ")),
    };
    format!("{} passed; {faults}", checkers.join(", "))
}

#[cfg(test)]
mod tests;
