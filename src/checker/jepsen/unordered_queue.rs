//! Every dequeue came from somewhere. As Jepsen's `queue` with its unordered queue.
//!
//! An element may come out as often as enqueues of it have begun that did not fail. Jepsen lets it
//! come out of an enqueue that failed, too; here that is a dequeue of what surely never went in.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

/// How often an element may still come out.
#[derive(Clone, Copy, Default)]
struct Within {
    attempted: bool,
    left: i64,
    /// When it last came out.
    out: Option<Moment>,
}

#[derive(Clone, Default)]
pub(super) struct UnorderedQueue {
    elements: Elements,
    within: Vec<Within>,
}

impl UnorderedQueue {
    fn of(&mut self, step: &Step) -> (u32, &mut Within) {
        let number = self.elements.number(step.value);
        if self.within.len() <= number as usize {
            self.within.resize(number as usize + 1, Within::default());
        }
        (number, &mut self.within[number as usize])
    }

    fn enqueue(&mut self, step: &Step) {
        let (_, within) = self.of(step);
        within.attempted = true;
        within.left += 1;
    }

    /// An enqueue failed, or an element came out.
    fn take(&mut self, step: &Step, tally: &mut Tally) {
        let came_out = step.f == "dequeue";
        let (number, within) = self.of(step);
        within.left -= 1;
        if came_out {
            within.out = Some(step.now());
        }
        let (within, name) = (*within, self.elements.name(number));
        if within.left >= 0 {
            return;
        }
        // Told once: from now on it is even.
        self.within[number as usize].left = 0;
        let kind = if within.attempted { "duplicated" } else { "unexpected" };
        tally.report(kind, || Told {
            summary: match within.out {
                Some(out) if within.attempted => format!(
                    "process {} dequeued {name} at {}, which is more often than it can have been \
                     enqueued",
                    out.process,
                    at(out)
                ),
                Some(out) => format!(
                    "process {} dequeued {name} at {}, which nobody had begun to enqueue",
                    out.process,
                    at(out)
                ),
                None => format!("an enqueue of {name} failed that never began"),
            },
            proof: within.out.into_iter().chain([step.now()]).collect(),
            ..Told::default()
        });
    }
}

impl Workload for UnorderedQueue {
    const NAME: &'static str = "queue";
    const OPS: &'static [&'static str] = &["enqueue", "dequeue"];
    const PAIRED: bool = false;
    const TAKES_COMPLETIONS: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (Kind::Invoke, "enqueue") => {
                tally.count("enqueues", 1);
                self.enqueue(step);
            }
            (Kind::Fail, "enqueue") => self.take(step, tally),
            // Nothing was there.
            (Kind::Ok, "dequeue") if step.value.is_nil() => {}
            (Kind::Ok, "dequeue") => {
                tally.count("dequeues", 1);
                self.take(step, tally);
            }
            _ => {}
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.elements.bytes() + self.within.capacity() * size_of::<Within>()
    }
}
