//! Makes a core of operations that have no order smaller, so that a person can take it in.
//!
//! Only moves after which "the rest has no order" still proves "the whole has no order": a read may
//! go, a write may become one of unknown outcome, whole chains of values may go, and the past may
//! go if the rest has no order whatever the past left. A completed write may never simply go: reads
//! of its value would then look like phantoms.

pub(super) mod moves;

use std::collections::BTreeSet;

use crate::checker::linearizability::chain;
use crate::checker::linearizability::decide::{Decision, decide, weakened};
use crate::checker::linearizability::evident;
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, Register, ValueId};
use crate::checker::linearizability::relevance::relevant;
use crate::checker::linearizability::search::Limits;

/// Decisions that shrinking one core may take, and search steps in all of them and in each: bounds
/// that do not depend on the machine.
const CHECKS: u32 = 2_000;
const STEPS: u64 = 1_000_000;
const STEPS_EACH: u64 = 50_000;
/// Operations in the shortest stretch that is tried without its past, and in the longest.
const SHORTEST_STRETCH: usize = 8;
const LONGEST_STRETCH: usize = 256;
/// Up to this size a core is shrunk with its past, which explains more.
const SMALL: usize = 64;
/// Up to this size a core need not lose its past.
const HANDY: usize = 12;

/// A core after shrinking.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shrunk {
    pub operations: Vec<Operation>,
    /// The operations have no order whatever the register held before them.
    pub from_any_state: bool,
    /// No single move makes it smaller; false where a limit ended the shrinking.
    pub minimal: bool,
}

/// Shrinks a core until no move helps, or a limit is met.
pub(super) fn shrink(core: &[Operation], limits: &Limits) -> Shrunk {
    let (mut operations, values) = moves::renumbered(core);
    if operations.len() > HANDY
        && let Some(proof) = evident::find(&operations, values).and_then(|evident| evident.proof)
    {
        operations = proof;
    }
    let limits = Limits { steps: STEPS_EACH, ..*limits };
    let mut shrinker = Shrinker {
        operations,
        values,
        limits,
        from_any_state: false,
        checks: 0,
        steps: 0,
        undecided: false,
    };
    shrinker.drop_chains();
    if shrinker.operations.len() > SMALL {
        shrinker.forget_past();
    }
    shrinker.weaken();
    if shrinker.operations.len() > HANDY && !shrinker.from_any_state {
        shrinker.forget_past();
        shrinker.weaken();
    }
    Shrunk {
        minimal: !shrinker.undecided && !shrinker.is_over(),
        from_any_state: shrinker.from_any_state,
        operations: shrinker.operations,
    }
}

struct Shrinker<'a> {
    operations: Vec<Operation>,
    values: usize,
    limits: Limits<'a>,
    from_any_state: bool,
    checks: u32,
    steps: u64,
    /// In the last round, a limit kept a move from being judged.
    undecided: bool,
}

impl Shrinker<'_> {
    fn is_over(&self) -> bool {
        self.checks >= CHECKS || self.steps >= STEPS || (self.limits.exhausted)()
    }

    /// The smaller core in these operations, if they have no order from the register's first state.
    fn core_of(&mut self, operations: Vec<Operation>) -> Option<Vec<Operation>> {
        self.checks += 1;
        // One more value than there are, for a state that nobody knows.
        let register = Register { operations, values: self.values + 1 };
        let (decision, steps) = decide(&register, &self.limits);
        self.steps += steps;
        self.undecided |= matches!(decision, Decision::Undecided { .. });
        match decision {
            Decision::Violated { core, .. } => Some(core),
            Decision::Linearizable(_) | Decision::Undecided { .. } => None,
        }
    }

    /// Whether these operations have no order from any state.
    fn fails_from_any_state(&mut self, operations: &[Operation]) -> bool {
        let observed = operations.iter().filter_map(|operation| operation.effect.observes());
        let unknown = self.values as ValueId;
        let states: BTreeSet<ValueId> = observed.chain([INITIAL, unknown]).collect();
        states.into_iter().all(|state| {
            !self.is_over() && self.core_of(moves::from_state(operations, state)).is_some()
        })
    }

    /// Takes these operations as the core if they, too, have no order.
    fn adopt(&mut self, operations: Vec<Operation>) -> bool {
        if !self.from_any_state {
            let core = self.core_of(operations);
            let found = core.is_some();
            self.operations = core.unwrap_or_else(|| std::mem::take(&mut self.operations));
            return found;
        }
        let fails = self.fails_from_any_state(&operations);
        if fails {
            self.operations = relevant(&operations, self.values);
        }
        fails
    }

    fn drop_chains(&mut self) {
        let differs = |operation: &Operation| matches!(operation.effect, Effect::Differs(_));
        if self.operations.iter().any(differs) {
            // Without a chain the register holds something else for a while, and evidence of
            // difference may then fail.
            return;
        }
        let chains = chain::of_values(&self.operations, self.values);
        let chain_of = move |operation: &Operation| {
            let value = operation.effect.observes().or(operation.effect.produces());
            chains[value.unwrap_or(INITIAL) as usize]
        };
        self.reduce_by_halves(chain_of, |_| None);
    }

    /// Keeps the shortest stretch at the end that has no order whatever was before it.
    fn forget_past(&mut self) {
        let count = self.operations.len();
        let mut stretch = SHORTEST_STRETCH;
        while stretch < count.min(LONGEST_STRETCH) && !self.is_over() {
            let rest = moves::since(&self.operations, self.operations[count - stretch].invoke);
            if self.fails_from_any_state(&rest) {
                self.operations = rest;
                self.from_any_state = true;
                return;
            }
            stretch *= 2;
        }
    }

    /// Drops reads and opens writes, until a whole round changes nothing.
    fn weaken(&mut self) {
        loop {
            self.undecided = false;
            let before = self.operations.clone();
            self.reduce_by_halves(|operation| operation.origin, weakened);
            if self.operations == before || self.is_over() {
                return;
            }
        }
    }

    /// Tries to reduce half of the parts, then quarters, down to each part alone.
    fn reduce_by_halves(
        &mut self,
        part_of: impl Fn(&Operation) -> u32,
        reduce: impl Fn(&Operation) -> Option<Operation>,
    ) {
        let mut parts = moves::reducible_parts(&self.operations, &part_of, &reduce);
        let mut size = parts.len().div_ceil(2);
        while size > 0 {
            let mut start = 0;
            while start < parts.len() {
                if self.is_over() {
                    return;
                }
                let chunk = &parts[start..parts.len().min(start + size)];
                let chosen =
                    |operation: &Operation| chunk.binary_search(&part_of(operation)).is_ok();
                let reduced = self.operations.iter().filter_map(|operation| {
                    if chosen(operation) { reduce(operation) } else { Some(*operation) }
                });
                if self.adopt(reduced.collect()) {
                    parts = moves::reducible_parts(&self.operations, &part_of, &reduce);
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
    }
}
