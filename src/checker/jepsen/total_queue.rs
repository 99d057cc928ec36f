//! What goes in must come out: of a queue that is drained in the end. As Jepsen's `total-queue`.
//!
//! `drain` takes many elements at once. Where Jepsen calls an element lost though a dequeue without
//! known result may have taken it, the answer here is `unknown`. What comes out more than once is counted,
//! and a violation only if it is asked for by its name.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::Shows;
use crate::history::Datum;
use crate::op::Kind;

/// How often an element was to go in, surely went in, and came out.
#[derive(Clone, Copy, Default)]
struct Passed {
    attempts: u64,
    enqueued: u64,
    dequeued: u64,
    /// When it last went in for sure, or came out.
    last: Option<Moment>,
}

#[derive(Clone, Default)]
pub(super) struct TotalQueue {
    elements: Elements,
    passed: Vec<Passed>,
    /// Dequeues that are open, or whose result nobody knows.
    open_dequeues: u64,
    /// A drain of which nobody knows what it took.
    crashed_drain: Option<Moment>,
}

impl TotalQueue {
    fn of(&mut self, element: Datum) -> &mut Passed {
        let position = self.elements.number(element) as usize;
        if self.passed.len() <= position {
            self.passed.resize(position + 1, Passed::default());
        }
        &mut self.passed[position]
    }

    fn dequeued(&mut self, element: Datum, step: &Step) {
        let passed = self.of(element);
        passed.dequeued += 1;
        passed.last = Some(step.now());
    }

    fn drained(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.value.items()) {
            (Kind::Ok, Some(elements)) => elements.for_each(|element| self.dequeued(element, step)),
            (Kind::Ok, None) => {
                let index = step.event.index;
                tally.broken(|| format!("event {index}: a drain that is no list"));
            }
            (Kind::Info, _) => self.crashed_drain = Some(step.now()),
            (Kind::Invoke | Kind::Fail, _) => {}
        }
    }

    fn judge(&self, number: u32, lost: bool, tally: &mut Tally) {
        let passed = &self.passed[number as usize];
        let Passed { attempts, enqueued, dequeued, last } = *passed;
        tally.count("attempts", attempts);
        tally.count("acknowledged", enqueued);
        tally.count("dequeues", dequeued);
        tally.count("recovered", dequeued.min(attempts).saturating_sub(enqueued));
        let name = self.elements.name(number);
        let told = |what: String| Told {
            summary: last.map_or(what.clone(), |last| {
                format!("{what}; last by process {} at {}", last.process, at(last))
            }),
            proof: last.into_iter().collect(),
            ..Told::default()
        };
        if attempts == 0 && dequeued > 0 {
            let what = || format!("{name} was dequeued, and nobody had enqueued it");
            tally.report("unexpected", || told(what()));
        } else if dequeued > attempts {
            let what =
                || format!("{name} was dequeued {dequeued} times, and enqueued {attempts} at most");
            tally.count_or_report("duplicated", dequeued - attempts, || told(what()));
        } else if enqueued > dequeued && lost {
            let what = || format!("{name} was enqueued {enqueued} times, and dequeued {dequeued}");
            tally.report("lost", || told(what()));
        }
    }
}

impl Workload for TotalQueue {
    const NAME: &'static str = "total-queue";
    const OPS: &'static [&'static str] = &["enqueue", "dequeue", "drain"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (Kind::Invoke, "enqueue") => self.of(step.value).attempts += 1,
            (Kind::Ok, "enqueue") => {
                let passed = self.of(step.value);
                // A history of completions alone: each stands for its invocation too.
                passed.attempts += u64::from(step.invoked.is_none());
                passed.enqueued += 1;
                passed.last = Some(step.now());
            }
            (Kind::Invoke, "dequeue") => self.open_dequeues += 1,
            (Kind::Ok | Kind::Fail, "dequeue") => {
                self.open_dequeues = self.open_dequeues.saturating_sub(1);
                // A dequeue of nothing found the queue empty.
                if step.kind() == Kind::Ok && !step.value.is_nil() {
                    self.dequeued(step.value, step);
                }
            }
            (_, "drain") => self.drained(step, tally),
            _ => {}
        }
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        let missing: u64 =
            self.passed.iter().map(|passed| passed.enqueued.saturating_sub(passed.dequeued)).sum();
        let (open, drain) = (self.open_dequeues, self.crashed_drain);
        let lost = missing > open && drain.is_none();
        for number in 0..self.passed.len() {
            self.judge(number as u32, lost, tally);
        }
        if missing > 0 && !lost {
            let takers = match drain {
                Some(drain) => format!("the drain of process {} at {}", drain.process, at(drain)),
                None => format!("{open} dequeues without known result"),
            };
            tally.open(|| {
                format!("{missing} elements never came out; {takers} may have taken them")
            });
        }
    }

    fn bytes(&self) -> usize {
        self.elements.bytes() + self.passed.capacity() * size_of::<Passed>()
    }
}
