//! The general decision: a depth-first search for an order, after Wing and Gong 1993, with the memory of
//! Lowe 2017 and his just-in-time linearization.
//!
//! The search follows the events. Only when an operation completes that has not taken effect must
//! something happen: then every operation in flight is tried. What has been tried is remembered as the
//! event, the state, which operations in flight are done, and how many of each kind of open operations
//! (of unknown outcome) are used. It costs, at worst, exponentially much in the operations in flight at
//! once; in the length of the history it is linear where few orders explain it.
//! Reductions, each of which keeps the answer: what never harms by taking effect (at least what changes nothing) does so as soon as it
//! can; equal open operations are counted, and who has used fewer of them can do whatever who has used
//! more can; and a state is left from which the next observation cannot come about any more.

mod candidates;
mod outlook;
mod plan;

use super::machine::{INITIAL, Steps};
use super::seen::Timed;
use crate::checker::mask::Mask;
use crate::checker::memo::{Key, Memo, Remembered, Used};
pub use plan::Guide;
pub(super) use plan::Plan;

/// How much a search may take.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub exhausted: &'a (dyn Fn() -> bool + Sync),
    /// Bytes for states and for what has been tried.
    pub memory: usize,
    /// Configurations to try; a bound that does not depend on the machine.
    pub steps: u64,
}

/// One operation of an order: its position, and what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub position: u32,
    pub operation: u32,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Searched {
    /// An order that explains the operations.
    Linearizable { order: Vec<Taken> },
    /// No order explains the events up to this operation's completion.
    Violated { last: u32 },
    /// Some order explains the events before so many completions; then a limit was met.
    Undecided { settled: usize, why: &'static str },
}

/// Configurations between two looks at the budget.
const STEPS_BETWEEN_POLLS: u64 = 1024;

/// Searches for an order of the plan's operations. Also says how many configurations it tried.
pub(super) fn search(plan: &Plan, steps: &mut dyn Steps, limits: &Limits) -> (Searched, u64) {
    match plan.slots {
        0..=64 => Search::<1>::new(plan, steps, limits).run(),
        65..=256 => Search::<4>::new(plan, steps, limits).run(),
        257..=4096 => Search::<64>::new(plan, steps, limits).run(),
        _ => {
            let why = "more than 4096 operations were in flight at once";
            (Searched::Undecided { settled: 0, why }, 0)
        }
    }
}

/// The part of the search that differs between branches.
#[derive(Clone, Debug)]
struct Config<const WORDS: usize> {
    state: u32,
    /// Operations in flight that have taken effect.
    done: Mask<WORDS>,
    used: Used,
}

/// A choice to come back to.
struct Frame<const WORDS: usize> {
    position: usize,
    order_length: usize,
    config: Config<WORDS>,
    /// What is still to be tried here, the best last; never empty.
    untried: Vec<Candidate>,
}

/// Something that may take effect next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Candidate {
    /// The operation in flight in this slot.
    Slot(u32),
    /// One more open operation of this class, which was this operation.
    Open { class: u32, operation: u32 },
}

struct Search<'a, const WORDS: usize> {
    plan: &'a Plan,
    steps: &'a mut dyn Steps,
    limits: &'a Limits<'a>,
    position: usize,
    furthest: usize,
    /// The last event on account of which something was not tried.
    blamed: usize,
    /// Slots of operations in flight, those of them that are eager, and those that reset.
    present: Mask<WORDS>,
    eager: Mask<WORDS>,
    resetting: Mask<WORDS>,
    /// By slot.
    occupants: Vec<u32>,
    /// By class: open operations invoked so far.
    offered: Vec<u32>,
    config: Config<WORDS>,
    /// What has taken effect; open operations by class.
    order: Vec<(Candidate, u32)>,
    frames: Vec<Frame<WORDS>>,
    memo: Memo<Key<WORDS>>,
    tried: u64,
}

impl<'a, const WORDS: usize> Search<'a, WORDS> {
    fn new(plan: &'a Plan, steps: &'a mut dyn Steps, limits: &'a Limits<'a>) -> Self {
        Search {
            plan,
            steps,
            limits,
            position: 0,
            furthest: 0,
            blamed: 0,
            present: Mask::EMPTY,
            eager: Mask::EMPTY,
            resetting: Mask::EMPTY,
            occupants: vec![0; plan.slots],
            offered: vec![0; plan.classes.len()],
            config: Config { state: INITIAL, done: Mask::EMPTY, used: Used::default() },
            order: Vec::with_capacity(plan.operations.len()),
            frames: Vec::new(),
            memo: Memo::new(),
            tried: 0,
        }
    }

    fn run(mut self) -> (Searched, u64) {
        let found = self.explore();
        (found, self.tried)
    }

    fn explore(&mut self) -> Searched {
        while self.advance() {
            self.furthest = self.furthest.max(self.position);
            self.tried += 1;
            if let Some(why) = self.limit_met() {
                return Searched::Undecided { settled: self.plan.completed(self.furthest), why };
            }
            match self.remember() {
                Remembered::Before => {}
                Remembered::New => self.branch(),
                Remembered::Full => {
                    let settled = self.plan.completed(self.furthest);
                    return Searched::Undecided { settled, why: "the memory budget ended" };
                }
            }
            if !self.retry() {
                let last = self.plan.event(self.furthest.max(self.blamed)).position;
                return Searched::Violated { last };
            }
        }
        Searched::Linearizable { order: self.plan.resolve(&self.order) }
    }

    fn limit_met(&self) -> Option<&'static str> {
        if self.tried > self.limits.steps {
            return Some("the step budget ended");
        }
        let poll = self.tried % STEPS_BETWEEN_POLLS == 1;
        (poll && (self.limits.exhausted)()).then_some("the time budget ended")
    }

    /// Follows the events until one needs a choice. False at the end of the history.
    fn advance(&mut self) -> bool {
        while self.position < self.plan.length() {
            let event = self.plan.event(self.position);
            if event.completes {
                let slot = self.plan.slot(event.position);
                if !self.config.done.contains(slot) {
                    return true;
                }
                self.config.done.remove(slot);
                self.leave(slot);
            } else if self.plan.is_open(event.position) {
                self.offered[self.plan.class(event.position)] += 1;
            } else {
                self.enter(event.position);
                let state = self.config.state;
                self.take_effect_if_eager(self.plan.slot(event.position));
                if self.config.state != state {
                    self.take_effect_eagerly();
                }
            }
            self.position += 1;
        }
        false
    }

    fn enter(&mut self, position: u32) {
        let slot = self.plan.slot(position);
        self.present.insert(slot);
        self.occupants[slot] = position;
        self.eager.set(slot, self.plan.guide(position).is_eager);
        self.resetting.set(slot, self.plan.resets(position));
    }

    fn leave(&mut self, slot: usize) {
        self.present.remove(slot);
        self.eager.remove(slot);
        self.resetting.remove(slot);
    }

    fn occupant(&self, slot: usize) -> &'a Timed<u32> {
        &self.plan.operations[self.occupants[slot] as usize]
    }

    /// What is eager is best done as early as it can be.
    fn take_effect_if_eager(&mut self, slot: usize) {
        let operation = self.occupant(slot).operation;
        let next = self.steps.step(self.config.state, operation);
        let Some(next) = next.filter(|_| self.eager.contains(slot)) else { return };
        self.config.state = next;
        self.config.done.insert(slot);
        self.order.push((Candidate::Slot(self.occupants[slot]), operation));
    }

    /// All that is eager, until nothing more can be done.
    fn take_effect_eagerly(&mut self) {
        loop {
            let before = self.config.state;
            for slot in self.eager.without(&self.config.done).ones() {
                self.take_effect_if_eager(slot);
            }
            if self.config.state == before {
                return;
            }
        }
    }

    fn remember(&mut self) -> Remembered {
        let now = self.plan.now(self.position);
        self.config.used.forget(|class, _| self.plan.classes[class as usize].may_be_told(now));
        let Config { state, done, ref used } = self.config;
        let oldest_choice = self.frames.first().map_or(self.position, |frame| frame.position);
        let key = Key { position: self.position as u32, state, done };
        let memory = self.limits.memory.saturating_sub(self.steps.bytes());
        self.memo.remember(key, used, oldest_choice as u32, memory)
    }

    fn branch(&mut self) {
        let untried = self.candidates();
        if !untried.is_empty() {
            self.frames.push(Frame {
                position: self.position,
                order_length: self.order.len(),
                config: self.config.clone(),
                untried,
            });
        }
    }

    /// Goes back to the latest choice and tries what is next there. False if nothing is left.
    fn retry(&mut self) -> bool {
        let Some(mut frame) = self.frames.pop() else { return false };
        let Some(candidate) = frame.untried.pop() else { return false };
        self.rewind(frame.position);
        self.order.truncate(frame.order_length);
        if frame.untried.is_empty() {
            self.config = frame.config;
        } else {
            self.config = frame.config.clone();
            self.frames.push(frame);
        }
        self.apply(candidate);
        true
    }

    fn rewind(&mut self, position: usize) {
        while self.position > position {
            self.position -= 1;
            let event = self.plan.event(self.position);
            if event.completes {
                self.enter(event.position);
            } else if self.plan.is_open(event.position) {
                self.offered[self.plan.class(event.position)] -= 1;
            } else {
                self.leave(self.plan.slot(event.position));
            }
        }
    }

    fn apply(&mut self, candidate: Candidate) {
        let operation = match candidate {
            Candidate::Slot(slot) => {
                let operation = self.occupant(slot as usize).operation;
                self.config.done.insert(slot as usize);
                self.order.push((Candidate::Slot(self.occupants[slot as usize]), operation));
                operation
            }
            Candidate::Open { class, operation } => {
                self.config.used.add(class);
                self.order.push((candidate, operation));
                operation
            }
        };
        let next = self.steps.step(self.config.state, operation);
        self.config.state = next.unwrap_or(self.config.state);
        self.take_effect_eagerly();
    }
}
