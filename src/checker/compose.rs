//! Several checkers over one history, and the verdict of all.

use crate::checker::{Budget, Checker, Finding, Verdict, WellFormed};
use crate::history::History;

/// What all checkers found, and the worst verdict among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    pub verdict: Verdict,
    pub findings: Vec<Finding>,
}

/// Runs every checker to its end, each under the same budget.
///
/// The history's own form is checked first: what a damaged history seems to say is no finding, so
/// then the others do not run and say so.
pub fn compose(history: &History, checkers: &mut [Box<dyn Checker>], budget: &Budget) -> Composed {
    let form = WellFormed.finish(history, budget);
    let usable = form.verdict == Verdict::Valid;
    if usable {
        take_in(history, checkers);
    }
    let mut findings = vec![form];
    for checker in checkers.iter_mut().filter(|checker| checker.name() != "well-formed") {
        findings.push(match usable {
            true => checker.finish(history, budget),
            false => not_run(checker.name()),
        });
    }
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Valid);
    Composed { verdict, findings }
}

/// One pass for all that work from the events alone.
fn take_in(history: &History, checkers: &mut [Box<dyn Checker>]) {
    let mut streaming: Vec<_> = checkers.iter_mut().filter(|checker| checker.streams()).collect();
    if streaming.is_empty() {
        return;
    }
    for event in history.events() {
        for checker in &mut streaming {
            checker.observe(event);
        }
    }
}

fn not_run(name: &str) -> Finding {
    Finding {
        name: name.to_owned(),
        verdict: Verdict::Unknown,
        why: "not checked: the history is not well-formed".to_owned(),
        anomalies: Vec::new(),
        figures: Default::default(),
        consistency: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;
    use crate::checker::{Availability, Linearizability, RegisterModel};

    fn all() -> Vec<Box<dyn Checker>> {
        vec![
            Box::new(WellFormed),
            Box::new(Linearizability::new(RegisterModel::REGISTER)),
            Box::new(Availability),
        ]
    }

    fn verdicts(text: &str, budget: &Budget) -> (Verdict, Vec<(String, Verdict)>) {
        let composed = compose(&history(text), &mut all(), budget);
        let each = composed.findings.into_iter().map(|finding| (finding.name, finding.verdict));
        (composed.verdict, each.collect())
    }

    const STALE: &str = "
        0.1 0@n1 invoke write 1
        0.2 0@n1 ok write 1
        0.3 1@n2 invoke read nil
        0.4 1@n2 ok read nil";

    #[test]
    fn the_worst_verdict_is_the_verdict() {
        let (verdict, each) = verdicts(STALE, &Budget::UNBOUNDED);
        assert_eq!(verdict, Verdict::Invalid);
        let names: Vec<&str> = each.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["well-formed", "linearizability", "availability"]);
        assert_eq!(each[0].1, Verdict::Valid);
    }

    #[test]
    fn a_budget_that_is_gone_gives_unknown() {
        let gone = Budget { exhausted: &|| true, memory: 1 << 20 };
        assert_eq!(verdicts(STALE, &gone).0, Verdict::Unknown);
    }

    #[test]
    fn a_damaged_history_proves_nothing() {
        let damaged = format!("{STALE}\n0.5 7@n1 ok write 9");
        let (verdict, each) = verdicts(&damaged, &Budget::UNBOUNDED);
        assert_eq!(verdict, Verdict::Unknown);
        assert!(each.iter().all(|(_, verdict)| *verdict == Verdict::Unknown), "{each:?}");
    }
}
