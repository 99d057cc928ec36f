//! Makes operations that have no order fewer, so that a person can take them in.
//!
//! Only moves after which "the rest has no order" still proves "the whole has no order": what happened
//! after may go, and a cluster of operations that can be left out of any order, and what changes nothing;
//! and a completed operation may become one of unknown outcome (with the result it had). A completed
//! change may never simply go: what others saw of it would then look like an invention.

use std::collections::BTreeSet;

use super::decide::{Decision, decide, relevant, until};
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
    shrinker.cut();
    shrinker.drop_clusters();
    shrinker.drop_observations();
    loop {
        shrinker.undecided = false;
        let before = shrinker.operations.len();
        shrinker.weaken();
        if shrinker.operations.len() == before || shrinker.is_over() {
            break;
        }
    }
    Shrunk { minimal: !shrinker.undecided && !shrinker.is_over(), operations: shrinker.operations }
}

type Operations<O> = Vec<Timed<<O as Object>::Operation>>;

struct Shrinker<'a, O: Object> {
    object: &'a O,
    operations: Operations<O>,
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

    /// What has no order of these operations, if they have none.
    fn core(&mut self, operations: &[Timed<O::Operation>]) -> Option<Operations<O>> {
        self.checks += 1;
        let (decision, steps) = decide(self.object, operations, &self.limits);
        self.steps += steps;
        self.undecided |= matches!(decision, Decision::Undecided { .. });
        match decision {
            Decision::Violated { core } => Some(core),
            Decision::Linearizable(_) | Decision::Undecided { .. } => None,
        }
    }

    /// Takes these operations if they, too, have no order and are fewer. One of unknown outcome explains
    /// less than one that surely happened, so nothing is weakened in vain.
    fn adopt_fewer(&mut self, operations: &[Timed<O::Operation>]) -> bool {
        match self.core(operations) {
            Some(core) if core.len() < self.operations.len() => {
                self.operations = core;
                true
            }
            _ => false,
        }
    }

    /// Cuts off what happened after the completion with which it shows.
    fn cut(&mut self) {
        let mut moments: Vec<u32> = self.operations.iter().map(|timed| timed.complete).collect();
        moments.retain(|moment| *moment != NEVER);
        moments.sort_unstable();
        let (mut low, mut high) = (0, moments.len().saturating_sub(1));
        while low < high && !self.is_over() {
            let middle = low.midpoint(high);
            let operations = until(&self.operations, moments[middle]);
            match self.core(&operations) {
                Some(core) => {
                    self.operations = core;
                    high = middle;
                }
                None => low = middle + 1,
            }
        }
    }

    fn drop_clusters(&mut self) {
        let object = self.object;
        let of = |operations: &[Timed<O::Operation>]| {
            operations.iter().flat_map(|timed| object.clusters(&timed.operation)).collect()
        };
        self.reduce_by_halves(of, |shrinker, chosen| {
            let left = shrinker.operations.iter().filter_map(|timed| {
                let operation = object.without(&timed.operation, chosen)?;
                Some(Timed { operation, ..timed.clone() })
            });
            let left: Operations<O> = left.collect();
            let Some(core) = shrinker.core(&left) else { return false };
            shrinker.operations = core;
            true
        });
    }

    fn drop_observations(&mut self) {
        let object = self.object;
        let of = |operations: &[Timed<O::Operation>]| {
            let observing = operations.iter().filter(|timed| object.observes(&timed.operation));
            observing.map(|timed| u64::from(timed.origin)).collect()
        };
        self.reduce_by_halves(of, |shrinker, chosen| {
            let mut left = shrinker.operations.clone();
            left.retain(|timed| chosen.binary_search(&u64::from(timed.origin)).is_err());
            shrinker.adopt_fewer(&left)
        });
    }

    /// Drops what changes nothing and opens the rest.
    fn weaken(&mut self) {
        let object = self.object;
        let of = |operations: &[Timed<O::Operation>]| {
            let certain = operations.iter().filter(|timed| !timed.is_open());
            certain.map(|timed| u64::from(timed.origin)).collect()
        };
        self.reduce_by_halves(of, |shrinker, chosen| {
            let weaker = shrinker.operations.iter().filter_map(|timed| {
                let is_chosen = chosen.binary_search(&u64::from(timed.origin)).is_ok();
                match is_chosen {
                    true if object.observes(&timed.operation) => None,
                    true => Some(Timed { complete: NEVER, ..timed.clone() }),
                    false => Some(timed.clone()),
                }
            });
            let weaker: Operations<O> = weaker.collect();
            shrinker.adopt_fewer(&weaker)
        });
    }

    /// Tries to reduce half of the groups, then quarters, down to each group alone.
    fn reduce_by_halves(
        &mut self,
        groups_of: impl Fn(&[Timed<O::Operation>]) -> BTreeSet<u64>,
        mut reduce: impl FnMut(&mut Self, &[u64]) -> bool,
    ) {
        let list = |shrinker: &Self| groups_of(&shrinker.operations).into_iter().collect();
        let mut groups: Vec<u64> = list(self);
        let mut size = groups.len().div_ceil(2);
        while size > 0 {
            let mut start = 0;
            while start < groups.len() {
                if self.is_over() {
                    return;
                }
                let end = groups.len().min(start + size);
                match reduce(self, &groups[start..end]) {
                    true => groups = list(self),
                    false => start = end,
                }
            }
            size /= 2;
        }
    }
}
