//! The general decision: a depth-first search for an order, after Wing and Gong 1993 and Lowe 2017.
//!
//! The search follows the events. Only when an operation completes that has not taken effect must
//! something happen: then every operation in flight is tried. What has been tried is remembered as
//! the event, the state, which operations in flight are done, and how many open operations are
//! used. Four reductions, each of which keeps the answer: reads take effect as soon as they can;
//! open operations of the same effect are interchangeable and counted; open operations nobody can
//! observe are left out; and a write nobody can observe hides behind the next write.

mod candidates;
mod groups;
mod live;
mod order;
mod plan;
mod service;

use crate::checker::linearizability::certificate;
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, ValueId};
use crate::checker::mask::Mask;
use crate::checker::memo::{Key, Memo, Remembered, Used};
use candidates::Ranked;
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

/// Steps between two looks at the budget.
const STEPS_BETWEEN_POLLS: u64 = 1024;

/// Searches the operations, which are in order of invocation. Also says how many steps it took.
pub(super) fn search(operations: &[Operation], values: usize, limits: &Limits) -> (Searched, u64) {
    let plan = Plan::new(operations, values);
    let (found, steps) = match plan.slots {
        0..=64 => Search::<1>::new(&plan, limits).run(),
        65..=256 => Search::<4>::new(&plan, limits).run(),
        257..=4096 => Search::<64>::new(&plan, limits).run(),
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

/// The part of the search's state that differs between branches.
#[derive(Clone, Debug)]
struct Config<const WORDS: usize> {
    state: ValueId,
    /// Operations in flight that have taken effect.
    done: Mask<WORDS>,
    used: Used,
}

/// A choice to come back to.
struct Frame<const WORDS: usize> {
    position: usize,
    order_length: usize,
    config: Config<WORDS>,
    /// Where what is still to be tried here begins; there always is something.
    untried: usize,
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
    /// What has taken effect so far: operations, and uses of classes.
    order: Vec<u32>,
    frames: Vec<Frame<WORDS>>,
    /// Of all frames, one after the other, what is still to be tried, the best last.
    untried: Vec<u32>,
    ranked: Ranked,
    memo: Memo<WORDS>,
    steps: u64,
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
            config: Config { state: INITIAL, done: Mask::EMPTY, used: Used::default() },
            order: Vec::with_capacity(plan.operations.len()),
            frames: Vec::new(),
            untried: Vec::new(),
            ranked: Ranked::default(),
            memo: Memo::new(plan.operations.len()),
            steps: 0,
        }
    }

    fn run(mut self) -> (Searched, u64) {
        let found = self.explore();
        (found, self.steps)
    }

    fn explore(&mut self) -> Searched {
        while self.advance() {
            self.furthest = self.furthest.max(self.position);
            self.steps += 1;
            if let Some(why) = self.limit_met() {
                return Searched::Undecided { last: self.last(), why };
            }
            match self.remember() {
                Remembered::Before => {}
                Remembered::New if self.is_hopeless() => {}
                Remembered::New => self.branch(),
                Remembered::Full => {
                    let why = "the memory budget ended";
                    return Searched::Undecided { last: self.last(), why };
                }
            }
            if !self.retry() {
                return Searched::Violated { last: self.later(self.last(), self.blamed) };
            }
        }
        Searched::Linearizable { order: order::resolve(self.plan, &self.order) }
    }

    fn limit_met(&self) -> Option<&'static str> {
        if self.steps > self.limits.steps {
            return Some("the step budget ended");
        }
        let poll = self.steps % STEPS_BETWEEN_POLLS == 1;
        (poll && (self.limits.exhausted)()).then_some("the time budget ended")
    }

    /// The operation whose completion is the furthest event reached.
    fn last(&self) -> u32 {
        self.plan.event(self.furthest).operation
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

    /// Reads change nothing, so as early as possible is never worse than later.
    fn take_effect_if_read(&mut self, slot: usize) {
        let operation = self.live.occupant(slot);
        let effect = self.plan.operations[operation as usize].effect;
        if effect.produces().is_none() && effect.apply(self.config.state).is_some() {
            self.config.done.insert(slot);
            self.order.push(operation);
        }
    }

    fn remember(&mut self) -> Remembered {
        let now = self.plan.now(self.position);
        self.config.used.forget(|class, count| {
            let result = self.plan.classes[class as usize].effect.produces();
            result.is_some_and(|value| self.plan.observed.matters(value, now))
                && !self.plan.is_plenty(class, self.live.offered(class) - count, now)
        });
        let Config { state, done, ref used } = self.config;
        let oldest_choice = self.frames.first().map_or(self.position, |frame| frame.position);
        let key = Key { position: self.position as u32, state, done };
        self.memo.remember(key, used, oldest_choice as u32, self.limits.memory)
    }

    /// Whether an operation in flight needs a value that nobody can make any more.
    fn is_hopeless(&mut self) -> bool {
        let now = self.plan.now(self.position);
        let waiting = self.live.present.without(&self.config.done);
        let mut waiting = waiting.ones().map(|slot| self.live.occupant(slot));
        let hopeless = waiting.find(|operation| {
            let needed = self.plan.operations[*operation as usize].effect.observes();
            needed.is_some_and(|value| {
                value != self.config.state
                    && !self.plan.service.may_come(*operation, now)
                    && !self.can_come_about(value)
            })
        });
        let Some(hopeless) = hopeless else { return false };
        self.blamed = self.later(self.blamed, hopeless);
        true
    }

    /// Of two operations the one that completes later.
    fn later(&self, one: u32, other: u32) -> u32 {
        let complete = |operation: u32| self.plan.operations[operation as usize].complete;
        if complete(one) < complete(other) { other } else { one }
    }

    /// Whether what waits or is open can make this value.
    fn can_come_about(&self, value: ValueId) -> bool {
        let makes = |effect: Effect| effect.produces() == Some(value);
        let waiting = self.live.present.without(&self.live.observers).without(&self.config.done);
        let mut waiting = waiting.ones().map(|slot| self.live.occupant(slot));
        let mut classes = self.plan.classes.iter().zip(0..);
        waiting.any(|operation| makes(self.plan.operations[operation as usize].effect))
            || classes.any(|(members, class)| {
                let left = self.live.offered(class) > self.config.used.count(class);
                left && makes(members.effect)
            })
    }

    fn branch(&mut self) {
        let untried = self.untried.len();
        let (position, ranked) = (self.position, &mut self.ranked);
        candidates::find(self.plan, &self.live, &self.config, position, ranked, &mut self.untried);
        if self.untried.len() > untried {
            let (order_length, config) = (self.order.len(), self.config.clone());
            self.frames.push(Frame { position, order_length, config, untried });
        }
    }

    /// Goes back to the latest choice and tries what is next there. False if nothing is left.
    fn retry(&mut self) -> bool {
        let (Some(frame), Some(candidate)) = (self.frames.pop(), self.untried.pop()) else {
            return false;
        };
        self.rewind(frame.position);
        self.order.truncate(frame.order_length);
        if self.untried.len() == frame.untried {
            self.config = frame.config;
        } else {
            self.config.clone_from(&frame.config);
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
                self.live.enter(self.plan, self.plan.slot(event.operation), event.operation);
            } else if self.plan.is_open(event.operation) {
                self.live.withdraw(self.plan.class_of(event.operation));
            } else {
                self.live.leave(self.plan.slot(event.operation));
            }
        }
    }

    fn apply(&mut self, candidate: u32) {
        let slot = candidate as usize;
        let (entry, effect) = match candidates::class_of(candidate) {
            Some(class) => (candidate, self.plan.classes[class as usize].effect),
            None => {
                let operation = self.live.occupant(slot);
                (operation, self.plan.operations[operation as usize].effect)
            }
        };
        if let Effect::Write(_) = effect {
            self.hide_unobserved_writes(entry);
        }
        match candidates::class_of(candidate) {
            Some(class) => self.config.used.add(class),
            None => self.config.done.insert(slot),
        }
        self.order.push(entry);
        self.config.state = effect.apply(self.config.state).unwrap_or(self.config.state);
        for slot in self.live.observers.without(&self.config.done).ones() {
            self.take_effect_if_read(slot);
        }
    }

    /// Writes whose value nobody can observe take effect right before a write: nobody can tell.
    fn hide_unobserved_writes(&mut self, except: u32) {
        let now = self.plan.now(self.position);
        let waiting = self.live.present.without(&self.live.observers).without(&self.config.done);
        for slot in waiting.ones() {
            let operation = self.live.occupant(slot);
            let effect = self.plan.operations[operation as usize].effect;
            if let Effect::Write(_) = effect
                && operation != except
                && !self.plan.service.matters(operation, now)
            {
                self.config.done.insert(slot);
                self.order.push(operation);
            }
        }
    }
}
