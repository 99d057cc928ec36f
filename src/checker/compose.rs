//! Several checkers over one history, and the verdict of all.

use std::sync::Mutex;

use crate::checker::well_formed::Form;
use crate::checker::{Budget, Checker, Finding, Verdict};
use crate::history::{Datum, History};
use crate::op::Event;

/// What all checkers found, and the worst verdict among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    pub verdict: Verdict,
    pub findings: Vec<Finding>,
}

/// Runs every checker to its end, under a budget that they share.
pub fn compose(history: &History, checkers: &mut [Box<dyn Checker>], budget: &Budget) -> Composed {
    let mut intake = Intake::new(checkers);
    for event in history.events() {
        intake.observe(event);
    }
    let start = || -> Exhausted { Box::new(|| (budget.exhausted)()) };
    intake.finish(
        history,
        &Budgets { start: &start, memory: budget.memory, explained: budget.explained },
    )
}

/// Tells whether a budget is used up.
pub type Exhausted<'a> = Box<dyn Fn() -> bool + Send + Sync + 'a>;

/// A budget for each checker. The caller owns the clock.
pub struct Budgets<'a> {
    /// Called when a checker begins with its end.
    pub start: &'a (dyn Fn() -> Exhausted<'a> + Sync),
    /// As in [`Budget`], each.
    pub memory: usize,
    pub explained: usize,
}

impl Budgets<'_> {
    fn of_one<'a>(&self, exhausted: &'a (dyn Fn() -> bool + Sync)) -> Budget<'a> {
        Budget { exhausted, memory: self.memory, explained: self.explained }
    }
}

/// Checkers while the events of a history go by.
///
/// The history's own form is checked on the way: what a damaged history seems to say is no finding, so
/// then the others are not asked and say so.
pub struct Intake<'a> {
    checkers: &'a mut [Box<dyn Checker>],
    form: Form,
}

impl<'a> Intake<'a> {
    pub fn new(checkers: &'a mut [Box<dyn Checker>]) -> Intake<'a> {
        Intake { checkers, form: Form::default() }
    }

    /// Whether a checker needs the whole history at the end.
    pub fn needs_history(&self) -> bool {
        self.checkers.iter().any(|checker| !checker.streams())
    }

    /// Whether the history is damaged, but its completions alone, each by itself, tell all that happened
    /// to checkers that take them so.
    pub fn is_told_by_completions(&self) -> bool {
        self.form.has_every_completion()
            && self.checkers.iter().any(|checker| checker.takes_completions_alone())
    }

    /// One pass for all that work from the events alone.
    pub fn observe(&mut self, event: &Event) {
        self.form.observe(event);
        if self.form.is_sound() {
            self.streaming().for_each(|checker| drop(checker.observe(event)));
        }
    }

    /// As `observe`, of an event whose value is still in the reader's hands.
    pub fn observe_raw(&mut self, head: &Event, value: Datum) {
        self.form.observe(head);
        if self.form.is_sound() {
            self.streaming().for_each(|checker| drop(checker.observe_raw(head, value)));
        }
    }

    /// An event that cannot be taken in, and why: nothing is judged then.
    pub fn refuse(&mut self, event: &Event, why: String) {
        self.form.refuse(event, why);
    }

    fn streaming(&mut self) -> impl Iterator<Item = &mut Box<dyn Checker>> {
        self.checkers.iter_mut().filter(|checker| checker.streams())
    }

    /// Asks all checkers, those that are left to do on as many threads as there are cores; the
    /// findings are in the checkers' order.
    ///
    /// `history` may be empty if nobody needs it.
    pub fn finish(self, history: &History, budgets: &Budgets) -> Composed {
        let is_alone = self.form.is_completions_alone();
        let mut findings = vec![self.form.finding()];
        if self.form.is_sound() {
            findings.extend(finished(self.checkers, history, budgets, is_alone));
        } else {
            let why = "not checked: the history is not well-formed";
            findings.extend(self.checkers.iter().map(|checker| not_run(checker.name(), why)));
        }
        let worst = findings.iter().map(|finding| finding.verdict).max();
        Composed { verdict: worst.unwrap_or(Verdict::Valid), findings }
    }
}

fn finished(
    checkers: &mut [Box<dyn Checker>],
    history: &History,
    budgets: &Budgets,
    is_alone: bool,
) -> Vec<Finding> {
    let ask = |checker: &mut Box<dyn Checker>| {
        if is_alone && !checker.takes_completions_alone() {
            let why = "not checked: the history has completions alone, and when an operation began \
                       matters here";
            return not_run(checker.name(), why);
        }
        let exhausted = (budgets.start)();
        checker.finish(history, &budgets.of_one(&*exhausted))
    };
    if checkers.len() < 2 {
        return checkers.iter_mut().map(ask).collect();
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let findings: Vec<Mutex<Option<Finding>>> = checkers.iter().map(|_| Mutex::default()).collect();
    let threads = cores.min(checkers.len());
    let jobs = Mutex::new(checkers.iter_mut().zip(&findings));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((checker, finding)) = next(&jobs) {
                    *unpoisoned(finding) = Some(ask(checker));
                }
            });
        }
    });
    findings.into_iter().filter_map(|finding| unpoisoned(&finding).take()).collect()
}

fn next<T>(jobs: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    unpoisoned(jobs).next()
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn not_run(name: &str, why: &str) -> Finding {
    Finding::new(name, Verdict::Unknown, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;
    use crate::checker::{Availability, Linearizability, RegisterModel};

    fn all() -> Vec<Box<dyn Checker>> {
        vec![Box::new(Linearizability::new(RegisterModel::REGISTER)), Box::new(Availability)]
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
        let gone = Budget { exhausted: &|| true, ..Budget::UNBOUNDED };
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
