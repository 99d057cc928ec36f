//! `junit.xml`: one suite a run, one case a checker, a fault and a loop of failovers, and one for the
//! run as a whole.
//!
//! A failure is a broken promise, an error is a broken harness, skipped is "not decided". A CI server
//! that fails on failures and errors agrees with the run's exit code, unless it was interrupted.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::headline::{fault_sentence, headline};
use super::{FaultSummary, Results};
use crate::checker::{Finding, Verdict};
use crate::nemesis::Pacing;

const ANOMALIES_MAX: usize = 20;
const HITS_MAX: usize = 20;

pub fn junit(results: &Results) -> String {
    let name = format!("{} / {} ({})", results.workload, results.nemesis, results.world);
    let mut suite = TestSuite::new(name);
    suite.add_test_case(case(results, "run", run_status(results)));
    for finding in &results.checkers {
        let name = format!("checker {}", finding.name);
        suite.add_test_case(case(results, &name, checker_status(results, finding)));
    }
    for fault in &results.faults {
        let name = format!("fault {} on {} acted and healed", fault.fault, fault.target);
        let mut case = case(results, &name, fault_status(fault));
        let hits = results.hits.iter().filter(|hit| hit.fault == fault.fault).take(HITS_MAX);
        let told: String = hits.map(|hit| format!("{}\n", hit.words)).collect();
        if !told.is_empty() {
            case.set_system_out(format!("{told}run it again: {}\n", results.repro));
        }
        suite.add_test_case(case);
    }
    for paced in results.failovers.iter().flat_map(|failovers| &failovers.loops) {
        let name = format!("failovers of {} on pace", paced.nemesis);
        let status = match paced.verdict {
            Pacing::OnPace => TestCaseStatus::success(),
            Pacing::TooSlow | Pacing::TooFast => skipped(&paced.words),
        };
        suite.add_test_case(case(results, &name, status));
    }
    suite.add_property(("seed", results.seed.to_string().as_str()));
    suite.add_property(("version", results.version.as_str()));
    suite.set_system_out(format!("{}\nrun it again: {}\n", results.why, results.repro));
    let mut report = Report::new("stormglass");
    report.add_test_suite(suite);
    report.to_string().expect("a report in memory can be written")
}

fn case(results: &Results, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("stormglass.{}", results.workload.replace('/', ".")));
    case.set_system_out(format!("run it again: {}\n", results.repro));
    case
}

/// What no checker and no fault says: the harness, idleness, and anomalies that were expected.
fn run_status(results: &Results) -> TestCaseStatus {
    if !results.harness.is_empty() || results.verdict == "infrastructure" {
        let description = results.harness.join("\n");
        return non_success(NonSuccessKind::Error, "infrastructure", &results.why, &description);
    }
    let missed = results.expected.as_ref().is_some_and(|expected| !expected.found);
    let meaning = headline(results).meaning;
    match results.exit_code {
        0 => TestCaseStatus::success(),
        1 if missed => {
            non_success(NonSuccessKind::Failure, "expected-anomaly-missed", &results.why, &meaning)
        }
        // The checker's own case fails.
        1 if results.checkers.iter().any(|finding| finding.verdict == Verdict::Invalid) => {
            TestCaseStatus::success()
        }
        1 => non_success(NonSuccessKind::Failure, "invalid", &results.why, &meaning),
        130 => skipped(&format!("interrupted: {}", results.why)),
        _ => skipped(&results.why),
    }
}

fn checker_status(results: &Results, finding: &Finding) -> TestCaseStatus {
    match finding.verdict {
        Verdict::Valid => TestCaseStatus::success(),
        Verdict::Unknown => skipped(&finding.why),
        Verdict::Invalid if results.exit_code == 0 => TestCaseStatus::success(),
        Verdict::Invalid => {
            let kind = finding.anomalies.first().map_or("invalid", |anomaly| &anomaly.kind);
            let summary = finding.anomalies.first().map_or(&finding.why, |first| &first.summary);
            non_success(NonSuccessKind::Failure, kind, summary, &explanation(finding))
        }
    }
}

fn explanation(finding: &Finding) -> String {
    let mut lines = vec![finding.why.clone()];
    for anomaly in finding.anomalies.iter().take(ANOMALIES_MAX) {
        lines.push(format!("{}: {}", anomaly.kind, anomaly.summary));
        lines.extend(anomaly.details.iter().map(|line| format!("  {line}")));
    }
    if finding.anomalies.len() > ANOMALIES_MAX {
        lines.push(format!("and {} more", finding.anomalies.len() - ANOMALIES_MAX));
    }
    lines.join("\n")
}

/// An unproven heal is ours to mend; a fault that did not act leaves the run undecided.
fn fault_status(fault: &FaultSummary) -> TestCaseStatus {
    let sentence = fault_sentence(fault);
    if fault.installed && fault.felt && fault.healed {
        TestCaseStatus::success()
    } else if fault.times > 0 && !fault.healed {
        non_success(NonSuccessKind::Error, "heal-not-proven", &sentence, &fault.why)
    } else {
        skipped(&sentence)
    }
}

fn non_success(kind: NonSuccessKind, name: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name).set_message(message).set_description(text);
    status
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(why);
    status
}
