//! Random small histories, most of them right, some spoiled: search, shortcut, core and shrinking against
//! the oracle, and changes of a history after which the verdict can only go one way.

use super::oracle::has_order;
use crate::checker::objects::decide::{Decision, by_search, decide, relevant};
use crate::checker::objects::search::Limits;
use crate::checker::objects::seen::NEVER;
use crate::checker::objects::shrink::shrink;
use crate::checker::objects::{Object, Timed};
use crate::rng::Rng;

/// How random operations on an object are drawn.
pub(super) struct Family<O: Object> {
    pub object: O,
    /// An operation that can happen in this state.
    pub draw: fn(&mut Rng, &O::State) -> O::Operation,
    /// One that may or may not.
    pub spoil: fn(&mut Rng) -> O::Operation,
    /// What is left of an operation whose result nobody saw; nothing, if it then says nothing.
    pub forget: fn(O::Operation) -> Option<O::Operation>,
    /// How many histories; see `agrees`.
    pub histories: u64,
}

const LIMITS: Limits = Limits { exhausted: &|| false, memory: 1 << 26, steps: u64::MAX };

impl<O: Object> Family<O> {
    /// Compares all decisions on random histories, some of them spoiled by an operation, with the oracle.
    pub fn agrees_with_the_oracle(&self) {
        self.agrees(|rng, operations| {
            let chosen = rng.below(operations.len() as u64) as usize;
            let spoiled = (self.spoil)(rng);
            let timed = &mut operations[chosen];
            let known = if timed.is_open() { (self.forget)(spoiled) } else { Some(spoiled) };
            timed.operation = known.unwrap_or_else(|| timed.operation.clone());
        });
    }

    /// The same, where some histories are spoiled by having two operations change places.
    pub fn agrees_with_the_oracle_after_swaps(&self) {
        self.agrees(swap::<O>);
    }

    fn agrees(&self, spoil: impl Fn(&mut Rng, &mut [Timed<O::Operation>])) {
        // By default a quarter, which takes a few seconds for all families.
        let histories =
            std::env::var("STORMGLASS_SEEDS").map_or(self.histories / 4, |_| self.histories * 20);
        let (mut valid, mut invalid) = (0, 0);
        for seed in 0..histories {
            let mut rng = Rng::from_seed(seed);
            let mut operations = self.history(&mut rng);
            if rng.chance(0.5) && !operations.is_empty() {
                spoil(&mut rng, &mut operations);
            }
            let expected = has_order(&self.object, &operations);
            self.compare(seed, &operations, expected);
            if seed % 8 == 0 {
                self.weaken(seed, &mut rng, operations, expected);
            }
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
        let rarest = histories / 20;
        assert!(
            valid > rarest && invalid > rarest,
            "{valid} valid and {invalid} invalid histories"
        );
    }

    fn compare(&self, seed: u64, operations: &[Timed<O::Operation>], expected: bool) {
        let kept = relevant(&self.object, operations);
        let searched = by_search(&self.object, &kept, &LIMITS).0;
        let decided = decide(&self.object, operations, &LIMITS).0;
        for decision in [&searched, &decided] {
            let found = matches!(decision, Decision::Linearizable(_));
            let undecided = matches!(decision, Decision::Undecided { .. });
            let agrees = found == expected && !undecided;
            assert!(agrees, "seed {seed}: expected {expected}:\n{}", self.told(operations));
            let Decision::Violated { core } = decision else { continue };
            assert!(!has_order(&self.object, core), "seed {seed}: core\n{}", self.told(core));
            if seed.is_multiple_of(4) {
                let shrunk = shrink(&self.object, core, &LIMITS);
                let proves = !has_order(&self.object, &shrunk.operations);
                assert!(proves && shrunk.minimal, "seed {seed}: {shrunk:#?}");
                assert!(shrunk.operations.len() <= core.len(), "seed {seed}: {shrunk:#?}");
                self.has_no_smaller_core(seed, &shrunk.operations);
            }
        }
    }

    /// Whichever operation is left open, or out if it changes nothing: an order is found, or as many are
    /// needed to show that there is none.
    fn has_no_smaller_core(&self, seed: u64, operations: &[Timed<O::Operation>]) {
        for chosen in operations.iter().filter(|timed| !timed.is_open()) {
            let weaker = operations.iter().filter_map(|timed| match timed == chosen {
                true if self.object.observes(&timed.operation) => None,
                true => Some(Timed { complete: NEVER, ..timed.clone() }),
                false => Some(timed.clone()),
            });
            let weaker: Vec<Timed<O::Operation>> = weaker.collect();
            if let Decision::Violated { core } = decide(&self.object, &weaker, &LIMITS).0 {
                let told = || self.told(operations);
                assert!(core.len() >= operations.len(), "seed {seed}: smaller than\n{}", told());
            }
        }
    }

    fn told(&self, operations: &[Timed<O::Operation>]) -> String {
        let line = |timed: &Timed<O::Operation>| {
            let what = self.object.describe(&timed.operation);
            format!("{:>4} {:>10}: {what}\n", timed.invoke, timed.complete)
        };
        operations.iter().map(line).collect()
    }

    /// Never makes an invalid history of a valid one.
    fn weaken(
        &self,
        seed: u64,
        rng: &mut Rng,
        mut operations: Vec<Timed<O::Operation>>,
        was_valid: bool,
    ) {
        if operations.is_empty() {
            return;
        }
        let chosen = rng.below(operations.len() as u64) as usize;
        if rng.chance(0.3) && self.object.observes(&operations[chosen].operation) {
            operations.remove(chosen);
        } else if rng.chance(0.5) {
            operations[chosen].complete = NEVER;
        } else {
            let timed = &mut operations[chosen];
            timed.complete = timed.complete.saturating_add(10 * rng.below(10) as u32);
        }
        let decision = decide(&self.object, &operations, &LIMITS).0;
        let is_valid = matches!(decision, Decision::Linearizable(_));
        assert!(
            is_valid || !was_valid,
            "seed {seed}: weaker, yet invalid:\n{}",
            self.told(&operations)
        );
    }

    /// Operations of a few processes that took effect on one object.
    pub fn history(&self, rng: &mut Rng) -> Vec<Timed<O::Operation>> {
        let mut planned = self.times(rng);
        planned.sort_by_key(|(_, moment, _)| *moment);
        let mut state = self.object.init();
        let mut operations = Vec::new();
        let unknown = *rng.pick(&[0.0, 0.1, 0.4]).expect("one of them");
        for (invoke, moment, complete) in planned {
            let operation = (self.draw)(rng, &state);
            let is_open = rng.chance(unknown);
            if !(is_open && rng.chance(0.5)) {
                state = self.object.step(&state, &operation).expect("drawn to be possible");
            }
            let known = if is_open { (self.forget)(operation) } else { Some(operation) };
            let complete = if is_open { NEVER } else { complete };
            let Some(operation) = known else { continue };
            operations.push(Timed { operation, invoke, complete, origin: moment });
        }
        operations.sort_by_key(|timed| timed.invoke);
        operations
    }

    /// Invocation, effect and completion of up to 8 operations by up to 4 processes, all different.
    fn times(&self, rng: &mut Rng) -> Vec<(u32, u32, u32)> {
        let processes = rng.between(2, 4);
        let mut left = rng.between(2, 8);
        let mut planned = Vec::new();
        for process in 0..processes {
            let mut now = rng.below(30);
            let its = if process + 1 == processes { left } else { rng.below(left + 1) };
            left -= its;
            for _ in 0..its {
                let invoke = now + 1 + rng.below(12);
                let moment = invoke + rng.below(20);
                let complete = moment + 1 + rng.below(20);
                now = complete;
                let scaled = |time: u64| (time * 4 + process) as u32 + 1;
                planned.push((scaled(invoke), scaled(moment), scaled(complete)));
            }
        }
        planned
    }
}

/// Two operations that surely happened change places.
pub(super) fn swap<O: Object>(rng: &mut Rng, operations: &mut [Timed<O::Operation>]) {
    let certain: Vec<usize> =
        (0..operations.len()).filter(|at| !operations[*at].is_open()).collect();
    let drawn = (rng.pick(&certain).copied(), rng.pick(&certain).copied());
    if let (Some(one), Some(other)) = drawn {
        let swapped = operations[one].operation.clone();
        operations[one].operation = std::mem::replace(&mut operations[other].operation, swapped);
    }
}
