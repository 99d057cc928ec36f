//! What the readers of a verdict should know of the history's lines.

use crate::checker::{Finding, Verdict};
use crate::history::{Flaw, FlawKind, Summary};

/// Of a history whose events do not say whose they are.
pub const NO_PROCESSES: &str = "its events have no process, so each completion is taken for that of the \
                                open operation that it can only be of";

/// The indices of events, which grow in a history that has them for its order.
#[derive(Default)]
pub struct Indices {
    last: Option<u64>,
    /// Where the first does not grow.
    pub astray: Option<String>,
}

impl Indices {
    pub fn observe(&mut self, index: u64, number: u64) {
        if self.last.is_some_and(|last| last >= index) {
            self.astray.get_or_insert_with(|| {
                format!(
                    "event {number} has index {index}, which does not come after the one before it; \
                     events are numbered from 0 in the order of their lines instead"
                )
            });
        }
        self.last = Some(index);
    }
}

/// What a reader should know of the history beside what was found.
pub fn remark(summary: &Summary, findings: &[Finding]) -> Option<String> {
    let passed_over = (summary.passed_over.count > 0).then(|| summary.passed_over.to_string());
    let remarks: Vec<String> = passed_over
        .into_iter()
        .chain(named_processes(&summary.processes))
        .chain(flaw(summary, findings))
        .collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// Which number stands for which process, if the history names them.
fn named_processes(names: &[String]) -> Option<String> {
    const MOST: usize = 12;
    if names.is_empty() {
        return None;
    }
    let told: Vec<String> = names
        .iter()
        .take(MOST)
        .enumerate()
        .map(|(number, name)| format!("{number} = {name}"))
        .collect();
    let more = if names.len() > MOST { ", and so on" } else { "" };
    Some(format!("its processes have names, told as numbers: {}{more}", told.join(", ")))
}

/// Where the history's lines are not as they should be: the line that keeps it from being judged, or
/// else the first at which time goes back.
fn flaw(summary: &Summary, findings: &[Finding]) -> Option<String> {
    let is_sound =
        |finding: &Finding| finding.name != "well-formed" || finding.verdict == Verdict::Valid;
    let refuses = |flaw: &&Flaw| {
        matches!(
            flaw.what,
            FlawKind::CompletionWithoutInvocation { .. }
                | FlawKind::TwoOpen { .. }
                | FlawKind::Changed { .. }
        ) || matches!(flaw.what, FlawKind::IndexGap { expected } if flaw.index < expected)
    };
    if !findings.iter().all(is_sound) {
        let flaw = summary.flaws.iter().find(refuses)?;
        return Some(format!("{flaw}; correct it, or restore the history from a copy"));
    }
    let goes_back = |flaw: &&Flaw| matches!(flaw.what, FlawKind::TimeGoesBack { .. });
    let flaw = summary.flaws.iter().find(goes_back)?;
    Some(format!("{flaw}; what came before what is told by the order of the lines alone"))
}
