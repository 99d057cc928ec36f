//! The moves by which a core gets smaller, and the renaming of values that some of them need.

use rustc_hash::FxHashMap;

use crate::checker::linearizability::decide::weakened;
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, ValueId};

/// The operations from this moment on. What was under way then may have taken effect before it.
pub(in crate::checker::linearizability) fn since(
    operations: &[Operation],
    moment: u32,
) -> Vec<Operation> {
    let later = operations.iter().filter(|operation| operation.complete >= moment);
    later
        .filter_map(|operation| match operation.invoke >= moment {
            true => Some(*operation),
            false => weakened(operation),
        })
        .collect()
}

/// The operations as they would be if the register's first state were this one.
pub(in crate::checker::linearizability) fn from_state(
    operations: &[Operation],
    state: ValueId,
) -> Vec<Operation> {
    let swapped = |value| match value {
        INITIAL => state,
        value if value == state => INITIAL,
        value => value,
    };
    operations.iter().map(|operation| renamed(operation, swapped)).collect()
}

/// A core has few of its register's values; tables by value should be as small as it is.
pub(super) fn renumbered(core: &[Operation]) -> (Vec<Operation>, usize) {
    let mut numbers: FxHashMap<ValueId, ValueId> = FxHashMap::from_iter([(INITIAL, INITIAL)]);
    let mut number = |value| {
        let next = numbers.len() as ValueId;
        *numbers.entry(value).or_insert(next)
    };
    let operations = core.iter().map(|operation| renamed(operation, &mut number)).collect();
    (operations, numbers.len())
}

fn renamed(operation: &Operation, mut name: impl FnMut(ValueId) -> ValueId) -> Operation {
    let effect = match operation.effect {
        Effect::Read(value) => Effect::Read(name(value)),
        Effect::Write(value) => Effect::Write(name(value)),
        Effect::Cas { from, to } => Effect::Cas { from: name(from), to: name(to) },
        Effect::Differs(value) => Effect::Differs(name(value)),
    };
    Operation { effect, ..*operation }
}

/// The parts in which something can still be reduced, ascending.
pub(super) fn reducible_parts(
    operations: &[Operation],
    part_of: &impl Fn(&Operation) -> u32,
    reduce: &impl Fn(&Operation) -> Option<Operation>,
) -> Vec<u32> {
    let changes = |operation: &&Operation| reduce(operation).as_ref() != Some(*operation);
    let mut parts: Vec<u32> = operations.iter().filter(changes).map(part_of).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}
