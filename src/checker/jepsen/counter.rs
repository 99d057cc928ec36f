//! A counter that is only added to: every read lies within what the adds can have made of it.
//! As Jepsen's `counter`.
//!
//! A read is at least the sum of the adds acknowledged before it began, and at most that of the adds
//! begun before it completed, without those that failed. Whether an add that is open fails is only
//! known later: what a read is below its upper bound by then is its *slack*. An add can only take
//! slack from the reads that completed after it began, so it is enough to remember the read of the
//! least slack between the beginnings of two open adds.

use rustc_hash::FxHashMap;

use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

/// An `ok` read and its bounds.
#[derive(Clone, Copy)]
struct Read {
    lower: i128,
    value: i128,
    upper: i128,
    completed: Moment,
}

/// An add that has begun and not ended.
#[derive(Clone)]
struct OpenAdd {
    process: u32,
    amount: i128,
    /// Of the reads completed between its beginning and that of the next open add, the one nearest
    /// to its upper bound.
    nearest: Option<Read>,
}

#[derive(Clone, Default)]
pub(super) struct Counter {
    lower: i128,
    upper: i128,
    /// The lower bound when each process's read began.
    reading: FxHashMap<u32, i128>,
    /// In the order of their beginnings.
    adding: Vec<OpenAdd>,
}

fn nearer(one: Option<Read>, other: Option<Read>) -> Option<Read> {
    one.into_iter().chain(other).min_by_key(|read| read.upper - read.value)
}

impl Counter {
    fn begin_add(&mut self, step: &Step, tally: &mut Tally) {
        let Some(amount) = amount(step, tally) else { return };
        tally.count("adds", 1);
        self.upper += amount;
        self.adding.push(OpenAdd { process: step.process, amount, nearest: None });
    }

    fn end_add(&mut self, step: &Step, tally: &mut Tally) {
        let process = step.process;
        let Some(position) = self.adding.iter().position(|add| add.process == process) else {
            return;
        };
        let asked = self.adding[position].amount;
        match step.kind() {
            Kind::Ok => {
                let done = step.value.as_i64().map_or(asked, i128::from);
                if done != asked {
                    tally.broken(|| {
                        format!(
                            "event {}: process {process} asked to add {asked}, and was told that \
                             {done} was added",
                            step.event.index
                        )
                    });
                }
                self.lower += asked;
            }
            Kind::Fail => self.take_back(position, asked, tally),
            Kind::Info | Kind::Invoke => {}
        }
        self.settle(position);
    }

    /// An add that failed counts for no read that completed while it was open.
    fn take_back(&mut self, position: usize, amount: i128, tally: &mut Tally) {
        self.upper -= amount;
        for add in &mut self.adding[position..] {
            let Some(read) = &mut add.nearest else { continue };
            read.upper -= amount;
            if read.value > read.upper {
                let read = *read;
                add.nearest = None;
                tally.report("counter-out-of-bounds", || out_of_bounds(read));
            }
        }
    }

    /// What happened since an add began now waits for the open add before it, if there is one.
    fn settle(&mut self, position: usize) {
        let settled = self.adding.remove(position);
        if let Some(before) = position.checked_sub(1).and_then(|p| self.adding.get_mut(p)) {
            before.nearest = nearer(before.nearest, settled.nearest);
        }
    }

    fn end_read(&mut self, step: &Step, tally: &mut Tally) {
        let Some(lower) = self.reading.remove(&step.process) else { return };
        let Some(value) = step.value.as_i64().map(i128::from) else {
            let found = step.value.to_text();
            let index = step.event.index;
            tally.broken(|| format!("event {index}: a read of {found:.40}, expected a number"));
            return;
        };
        tally.count("reads", 1);
        let read = Read { lower, value, upper: self.upper, completed: step.now() };
        if value < lower || value > self.upper {
            tally.report("counter-out-of-bounds", || out_of_bounds(read));
        } else if let Some(last) = self.adding.last_mut() {
            last.nearest = nearer(last.nearest, Some(read));
        }
    }
}

/// What is to be added; the model knows no decrements.
fn amount(step: &Step, tally: &mut Tally) -> Option<i128> {
    let amount = step.value.as_i64().map(i128::from);
    if amount.is_none_or(|amount| amount < 0) {
        let (index, found) = (step.event.index, step.value.to_text());
        tally.broken(|| {
            format!("event {index}: an add of {found:.40}; expected a number, and none below 0")
        });
        return None;
    }
    amount
}

fn out_of_bounds(read: Read) -> Told {
    let Read { lower, value, upper, completed } = read;
    let which = if value < lower { "acknowledged before it began" } else { "that can have been" };
    let bound = if value < lower { lower } else { upper };
    Told {
        summary: format!(
            "process {} read {value} at {}, but the adds {which} sum to {bound}; expected {lower} to \
             {upper}",
            completed.process,
            at(completed)
        ),
        proof: vec![completed],
        ..Told::default()
    }
}

impl Workload for Counter {
    const NAME: &'static str = "counter";
    const OPS: &'static [&'static str] = &["add", "read"];

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (Kind::Invoke, "add") => self.begin_add(step, tally),
            (_, "add") => self.end_add(step, tally),
            (Kind::Invoke, _) => {
                self.reading.insert(step.process, self.lower);
            }
            (Kind::Ok, _) => self.end_read(step, tally),
            (Kind::Fail | Kind::Info, _) => {
                self.reading.remove(&step.process);
            }
        }
    }

    /// All has been said: an add still open may yet be done.
    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.adding.capacity() * size_of::<OpenAdd>() + self.reading.capacity() * 32
    }
}
