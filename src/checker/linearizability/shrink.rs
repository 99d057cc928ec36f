//! Makes a core of operations that have no order smaller, so that a person can take it in.
//!
//! Only moves after which "the rest has no order" still proves "the whole has no order": a read may go,
//! a write may become one of unknown outcome, and whole chains of values may go. A completed write may
//! never simply go: reads of its value would then look like phantoms.

use rustc_hash::FxHashMap;

use crate::checker::linearizability::chain;
use crate::checker::linearizability::decide::{Decision, decide, weakened};
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, Register, ValueId};
use crate::checker::linearizability::search::Limits;

/// Decisions that shrinking one core may take.
const CHECKS: u32 = 2_000;
/// Search steps that each of them may take; a bound that does not depend on the machine.
const STEPS: u64 = 100_000;

/// A core after shrinking.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shrunk {
    pub operations: Vec<Operation>,
    /// No single move makes it smaller; false where a limit ended the shrinking.
    pub minimal: bool,
}

/// Shrinks a core until no move helps, or a limit is met.
pub(super) fn shrink(core: Vec<Operation>, limits: &Limits) -> Shrunk {
    let (operations, values) = renumber(&core);
    let limits = Limits { steps: STEPS, ..*limits };
    let mut shrinker = Shrinker { operations, values, limits, checks: 0 };
    shrinker.drop_chains();
    shrinker.weaken();
    Shrunk { minimal: !shrinker.is_over(), operations: shrinker.operations }
}

/// A core has few of its register's values; tables by value should be as small as it is.
fn renumber(core: &[Operation]) -> (Vec<Operation>, usize) {
    let mut numbers: FxHashMap<ValueId, ValueId> = FxHashMap::from_iter([(INITIAL, INITIAL)]);
    let mut number = |value| {
        let next = numbers.len() as ValueId;
        *numbers.entry(value).or_insert(next)
    };
    let operations = core
        .iter()
        .map(|operation| {
            let effect = match operation.effect {
                Effect::Read(value) => Effect::Read(number(value)),
                Effect::Write(value) => Effect::Write(number(value)),
                Effect::Cas { from, to } => Effect::Cas { from: number(from), to: number(to) },
                Effect::Differs(value) => Effect::Differs(number(value)),
            };
            Operation { effect, ..*operation }
        })
        .collect();
    (operations, numbers.len())
}

struct Shrinker<'a> {
    operations: Vec<Operation>,
    values: usize,
    limits: Limits<'a>,
    checks: u32,
}

impl Shrinker<'_> {
    fn is_over(&self) -> bool {
        self.checks >= CHECKS || (self.limits.exhausted)()
    }

    /// Takes these operations as the core if they, too, have no order.
    fn adopt(&mut self, operations: Vec<Operation>) -> bool {
        self.checks += 1;
        let register = Register { operations, values: self.values };
        match decide(&register, &self.limits) {
            Decision::Violated { core, .. } => {
                self.operations = core;
                true
            }
            Decision::Linearizable(_) | Decision::Undecided { .. } => false,
        }
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
        self.remove_by_halves(chain_of, |_| None);
    }

    /// Drops reads and opens writes, until a whole round changes nothing.
    fn weaken(&mut self) {
        loop {
            let before = self.operations.clone();
            self.remove_by_halves(|operation| operation.origin, weakened);
            if self.operations == before || self.is_over() {
                return;
            }
        }
    }

    /// Tries to weaken half of the parts, then quarters, down to each part alone.
    fn remove_by_halves(
        &mut self,
        part_of: impl Fn(&Operation) -> u32,
        weaken: impl Fn(&Operation) -> Option<Operation>,
    ) {
        let mut parts = self.parts(&part_of, &weaken);
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
                let weaker = self.operations.iter().filter_map(|operation| {
                    if chosen(operation) { weaken(operation) } else { Some(*operation) }
                });
                if self.adopt(weaker.collect()) {
                    parts = self.parts(&part_of, &weaken);
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
    }

    /// The parts in which anything can still be weakened, ascending.
    fn parts(
        &self,
        part_of: &impl Fn(&Operation) -> u32,
        weaken: &impl Fn(&Operation) -> Option<Operation>,
    ) -> Vec<u32> {
        let changes = |operation: &&Operation| weaken(operation).as_ref() != Some(*operation);
        let mut parts: Vec<u32> = self.operations.iter().filter(changes).map(part_of).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }
}
