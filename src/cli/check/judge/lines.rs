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

/// Where the history's lines are not as they should be: the line that keeps it from being judged, or
/// else the first at which time goes back.
pub fn remark(summary: &Summary, findings: &[Finding]) -> Option<String> {
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
