//! The general decision: a depth-first search for an order, after Wing and Gong 1993 and Lowe 2017.
//!
//! The search follows the events. Only when an operation completes that has not taken effect must
//! something happen: then every operation in flight is tried. What has led nowhere is remembered as
//! the event, the state, which operations in flight are done or may hide, and how many open operations
//! are used. Four reductions, each of which keeps the answer: reads take effect as soon as they can;
//! open operations of the same effect are interchangeable and counted; open operations nobody can
//! observe are left out; and a write that nobody observed *hides*.
//!
//! To hide is to have happened right before the last write that took effect while the operation was in
//! flight: whatever it left, that write replaced. So nobody need decide beforehand what is overwritten:
//! that an operation has hidden is found when it completes, and may be said of a write alone or of a
//! write together with who observed it.

mod candidates;
mod choices;
mod configuration;
mod effects;
mod groups;
mod impatience;
mod live;
mod order;
mod plan;
mod service;

use crate::checker::linearizability::certificate;
use crate::checker::linearizability::operation::Operation;
use crate::checker::linearizability::relevance::Observed;
use crate::checker::memo::Memo;
use candidates::{Move, Ranked};
use choices::Frame;
use configuration::{Config, Key};
use impatience::Impatience;
use live::Live;
use plan::Plan;

/// How much a search may take.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub exhausted: &'a (dyn Fn() -> bool + Sync),
    /// Bytes for what has been tried.
    pub memory: usize,
    /// Configurations to try; a bound that does not depend on the machine.
    pub steps: u64,
    /// Steps without getting further before choices are left untried for later.
    pub patience: u64,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Searched {
    /// Positions of the operations in an order that explains them.
    Linearizable { order: Vec<u32> },
    /// No order explains the events up to this operation's completion.
    Violated { last: u32 },
    /// Some order explains the events before this operation's completion; then a limit was met.
    Undecided { last: u32, why: &'static str },
}

/// Looks at operations in flight between two looks at the budget: a step takes the longer the more there
/// are.
const LOOKS_BETWEEN_POLLS: u64 = 1 << 16;

/// Searches the operations, which are in order of invocation. Also says how many steps it took.
pub(super) fn search(
    operations: &[Operation],
    values: usize,
    observed: &Observed,
    limits: &Limits,
) -> (Searched, u64) {
    let plan = Plan::new(operations, values, observed);
    let (found, steps) = match plan.slots {
        0..=64 => Search::<1>::new(&plan, limits).run(),
        65..=128 => Search::<2>::new(&plan, limits).run(),
        129..=512 => Search::<8>::new(&plan, limits).run(),
        513..=4096 => Search::<64>::new(&plan, limits).run(),
        _ => {
            let why = "more than 4096 operations were in flight at once";
            return (Searched::Undecided { last: 0, why }, 0);
        }
    };
    if let Searched::Linearizable { order } = &found
        && certificate::replay(operations, order).is_err()
    {
        // Never seen; but then the answer is worth nothing, and saying so is.
        let why = "the order found did not pass its replay";
        return (Searched::Undecided { last: 0, why }, steps);
    }
    (found, steps)
}

struct Search<'a, const WORDS: usize> {
    plan: &'a Plan<'a>,
    limits: &'a Limits<'a>,
    position: usize,
    furthest: usize,
    /// The operation last to complete of those that made a branch hopeless before that.
    blamed: u32,
    live: Live<WORDS>,
    config: Config<WORDS>,
    /// What has taken effect so far: operations, hidden ones, and uses of classes.
    order: Vec<order::Entry>,
    frames: Vec<Frame<WORDS>>,
    /// Of all frames, one after the other, what is still to be tried, the best last.
    untried: Vec<Move>,
    ranked: Ranked,
    /// What has been tried and led nowhere.
    memo: Memo<Key<WORDS>>,
    steps: u64,
    /// Looks at operations in flight since the last look at the budget.
    looks: u64,
    out_of_time: bool,
    /// Configurations in which everything failed.
    dead_ends: u32,
    impatience: Impatience,
}

impl<'a, const WORDS: usize> Search<'a, WORDS> {
    fn new(plan: &'a Plan<'a>, limits: &'a Limits<'a>) -> Self {
        Search {
            plan,
            limits,
            position: 0,
            furthest: 0,
            blamed: 0,
            live: Live::new(plan),
            config: Config::FIRST,
            order: Vec::with_capacity(plan.operations.len()),
            frames: Vec::with_capacity(plan.operations.len().min(256)),
            untried: Vec::new(),
            ranked: Ranked::default(),
            memo: Memo::new(),
            steps: 0,
            // The first step asks at once.
            looks: LOOKS_BETWEEN_POLLS,
            out_of_time: false,
            dead_ends: 0,
            impatience: Impatience::new(limits.patience),
        }
    }

    fn run(mut self) -> (Searched, u64) {
        let found = self.explore();
        (found, self.steps)
    }

    fn explore(&mut self) -> Searched {
        while self.advance() {
            self.steps += 1;
            if self.furthest < self.position {
                self.furthest = self.position;
                self.impatience.calm(self.steps);
            }
            if let Some(why) = self.limit_met() {
                return Searched::Undecided { last: self.last(), why };
            }
            if let Some(choices) = self.impatience.choices_to_skip(self.steps) {
                self.skip(choices);
            } else if self.proceed() {
                continue;
            }
            if !self.retry() {
                return Searched::Violated { last: self.later(self.last(), self.blamed) };
            }
        }
        Searched::Linearizable { order: order::resolve(self.plan, &self.order) }
    }

    fn limit_met(&mut self) -> Option<&'static str> {
        if self.steps > self.limits.steps {
            return Some("the step budget ended");
        }
        self.is_out_of_time().then_some("the time budget ended")
    }

    /// Asks for the time now and then.
    fn is_out_of_time(&mut self) -> bool {
        if self.looks >= LOOKS_BETWEEN_POLLS {
            self.looks = 0;
            self.out_of_time = self.out_of_time || (self.limits.exhausted)();
        }
        self.out_of_time
    }

    /// The operation whose completion is the furthest event reached.
    fn last(&self) -> u32 {
        self.plan.event(self.furthest).operation
    }

    /// Of two operations the one that completes later.
    fn later(&self, one: u32, other: u32) -> u32 {
        let complete = |operation: u32| self.plan.operations[operation as usize].complete;
        if complete(one) < complete(other) { other } else { one }
    }

    /// Follows the events until one needs a choice. False at the end of the history.
    fn advance(&mut self) -> bool {
        while self.position < self.plan.length() {
            let event = self.plan.event(self.position);
            let operation = event.operation;
            if event.completes {
                let slot = self.plan.slot(operation);
                if !self.config.done.contains(slot) {
                    return true;
                }
                self.config.done.remove(slot);
                self.live.leave(slot);
            } else if self.plan.is_open(operation) {
                self.live.offer(self.plan.class_of(operation));
            } else {
                let slot = self.plan.slot(operation);
                self.live.enter(self.plan, slot, operation);
                self.take_effect_if_read(slot);
            }
            self.position += 1;
        }
        false
    }

    fn start_again(&mut self) {
        self.rewind(0);
        self.order.clear();
        self.config = Config::FIRST;
    }

    fn rewind(&mut self, position: usize) {
        while self.position > position {
            self.position -= 1;
            let event = self.plan.event(self.position);
            if event.completes {
                self.live.enter(self.plan, self.plan.slot(event.operation), event.operation);
            } else if self.plan.is_open(event.operation) {
                self.live.withdraw(self.plan.class_of(event.operation));
            } else {
                self.live.leave(self.plan.slot(event.operation));
            }
        }
    }
}
