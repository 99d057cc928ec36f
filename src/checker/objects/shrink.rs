//! Makes operations that have no order fewer, so that a person can take them in.
//!
//! Only moves after which "the rest has no order" still proves "the whole has no order": what changes
//! nothing may go, a completed operation may become one of unknown outcome (with the result it had), a
//! cluster of operations that can be left out of any order may go, and so may what happened after. A
//! completed change may never simply go: what others saw of it would then look like an invention.

use std::collections::BTreeSet;

use super::decide::{Decision, decide, relevant};
use super::object::Object;
use super::search::Limits;
use super::seen::{NEVER, Timed};

/// Decisions that shrinking may take, and configurations in all of them: bounds that do not depend on the
/// machine.
const CHECKS: u32 = 1_000;
const STEPS: u64 = 200_000;
/// A smaller history that takes more configurations than this, and several times more than the whole
/// took, is not worth its while.
const STEPS_EACH: u64 = 500;
const TIMES: u64 = 4;

/// What is left after shrinking.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shrunk<T> {
    pub operations: Vec<Timed<T>>,
    /// No single move makes it smaller; false where a limit ended the shrinking.
    pub minimal: bool,
}

pub(super) fn shrink<O: Object>(
    object: &O,
    core: &[Timed<O::Operation>],
    limits: &Limits,
) -> Shrunk<O::Operation> {
    let operations = relevant(object, core);
    let (_, steps) = decide(object, &operations, &Limits { steps: STEPS, ..*limits });
    let limits = Limits { steps: STEPS_EACH.max(TIMES * steps), ..*limits };
    let mut shrinker = Shrinker { object, operations, limits, checks: 0, steps, undecided: false };
    shrinker.reduce_by_halves(|timed| object.cluster(&timed.operation), |_| None);
    let observing = |timed: &Timed<O::Operation>| {
        object.observes(&timed.operation).then_some(u64::from(timed.origin))
    };
    shrinker.reduce_by_halves(observing, |_| None);
    loop {
        shrinker.undecided = false;
        let before = shrinker.operations.len();
        shrinker.reduce_by_halves(|timed| reducible(object, timed), |timed| weaker(object, timed));
        if shrinker.operations.len() == before || shrinker.is_over() {
            break;
        }
    }
    Shrunk { minimal: !shrinker.undecided && !shrinker.is_over(), operations: shrinker.operations }
}

fn reducible<O: Object>(object: &O, timed: &Timed<O::Operation>) -> Option<u64> {
    weaker(object, timed).is_none_or(|other| other != *timed).then_some(u64::from(timed.origin))
}

/// What the operation may become; nothing, if it may go.
fn weaker<O: Object>(object: &O, timed: &Timed<O::Operation>) -> Option<Timed<O::Operation>> {
    let changes = !object.observes(&timed.operation);
    changes.then(|| Timed { complete: NEVER, ..timed.clone() })
}

struct Shrinker<'a, O: Object> {
    object: &'a O,
    operations: Vec<Timed<O::Operation>>,
    limits: Limits<'a>,
    checks: u32,
    steps: u64,
    /// In the last round, a limit kept a move from being judged.
    undecided: bool,
}

impl<O: Object> Shrinker<'_, O> {
    fn is_over(&self) -> bool {
        self.checks >= CHECKS || self.steps >= STEPS || (self.limits.exhausted)()
    }

    /// Takes these operations if they, too, have no order and are fewer. One of unknown outcome explains
    /// less than one that surely happened, so nothing is weakened in vain.
    fn adopt(&mut self, operations: Vec<Timed<O::Operation>>) -> bool {
        self.checks += 1;
        let (decision, steps) = decide(self.object, &operations, &self.limits);
        self.steps += steps;
        self.undecided |= matches!(decision, Decision::Undecided { .. });
        match decision {
            Decision::Violated { core } if core.len() < self.operations.len() => {
                self.operations = core;
                true
            }
            _ => false,
        }
    }

    /// Tries to reduce half of the groups, then quarters, down to each group alone.
    fn reduce_by_halves(
        &mut self,
        group_of: impl Fn(&Timed<O::Operation>) -> Option<u64>,
        reduce: impl Fn(&Timed<O::Operation>) -> Option<Timed<O::Operation>>,
    ) {
        let groups_of = |operations: &[Timed<O::Operation>]| -> Vec<u64> {
            operations.iter().filter_map(&group_of).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let mut groups = groups_of(&self.operations);
        let mut size = groups.len().div_ceil(2);
        while size > 0 {
            let mut start = 0;
            while start < groups.len() {
                if self.is_over() {
                    return;
                }
                let chosen = &groups[start..groups.len().min(start + size)];
                let is_chosen = |timed: &Timed<O::Operation>| {
                    group_of(timed).is_some_and(|group| chosen.binary_search(&group).is_ok())
                };
                let reduced = self.operations.iter().filter_map(|timed| match is_chosen(timed) {
                    true => reduce(timed),
                    false => Some(timed.clone()),
                });
                if self.adopt(reduced.collect()) {
                    groups = groups_of(&self.operations);
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
    }
}
