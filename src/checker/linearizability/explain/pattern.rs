//! Shapes of violations that have a plain name. Each is a proof by itself, whatever the core.

use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, Register, ValueId};

/// What a core shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// Somebody saw a value before anybody could have written it.
    Unwritten { seen: Operation, written_later: Option<Operation> },
    /// A value that was there once was replaced by two compare-and-sets.
    ReplacedTwice { one: Operation, other: Operation },
    /// Somebody saw a value after it had surely been replaced.
    Stale(Stale),
    /// None of these: only the search knows.
    Tangled { last: Operation },
}

/// A value seen after it had surely been replaced.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stale {
    /// Who saw it.
    pub seen: Operation,
    pub value: ValueId,
    /// Completed before `seen` was invoked, and the register held another value then.
    pub evidence: Operation,
    /// The moment after which the value was not written again (0: it is the initial one).
    pub settled: u32,
    /// Writes that surely happened between the value and `seen`.
    pub newer: usize,
}

/// Finds the plainest shape in which the core's violation shows; failing that, what it showed at
/// last.
pub(super) fn find(register: &Register, core: &[Operation], last: Operation) -> Pattern {
    let mut seers: Vec<(Operation, ValueId)> = core
        .iter()
        .filter(|operation| !operation.is_open())
        .filter_map(|operation| Some((*operation, operation.effect.observes()?)))
        .collect();
    seers.sort_by_key(|(operation, _)| operation.complete);
    let unwritten = seers.iter().find_map(|(seen, value)| unwritten(register, *seen, *value));
    unwritten
        .or_else(|| {
            seers.iter().rev().find_map(|(seen, value)| stale(register, core, *seen, *value))
        })
        .or_else(|| replaced_twice(register, &seers))
        .unwrap_or(Pattern::Tangled { last })
}

fn producers(register: &Register, value: ValueId) -> impl Iterator<Item = &Operation> {
    register.operations.iter().filter(move |o| o.effect.produces() == Some(value))
}

fn unwritten(register: &Register, seen: Operation, value: ValueId) -> Option<Pattern> {
    let mut others = producers(register, value).filter(|operation| **operation != seen);
    let first = others.next().copied();
    let possible = |operation: Operation| operation.invoke < seen.complete;
    let written = value == INITIAL || first.is_some_and(possible) || others.any(|o| possible(*o));
    (!written).then_some(Pattern::Unwritten { seen, written_later: first })
}

fn replaced_twice(register: &Register, seers: &[(Operation, ValueId)]) -> Option<Pattern> {
    let mut replacers = seers.iter().filter(|(operation, _)| operation.effect.produces().is_some());
    replacers.find_map(|(one, value)| {
        let other = seers.iter().find(|(other, seen)| {
            seen == value && other != one && other.effect.produces().is_some()
        })?;
        let times = producers(register, *value).count() + usize::from(*value == INITIAL);
        (times == 1).then_some(Pattern::ReplacedTwice { one: *one, other: other.0 })
    })
}

fn stale(
    register: &Register,
    core: &[Operation],
    seen: Operation,
    value: ValueId,
) -> Option<Pattern> {
    let settled = settled_before(register, seen, value)?;
    let proves = |operation: &&Operation| {
        let replaced = match operation.effect {
            Effect::Differs(other) => other == value,
            effect => effect.produces().or(effect.observes()) != Some(value),
        };
        replaced && operation.complete < seen.invoke && operation.invoke > settled
    };
    // Writes speak for themselves wherever they stand; what other operations prove may rest on
    // more.
    let writes = register.operations.iter().filter(|o| matches!(o.effect, Effect::Write(_)));
    let changes = core.iter().filter(|operation| operation.effect.produces().is_some());
    let change = writes.chain(changes).filter(proves).min_by_key(|operation| operation.complete);
    let evidence = change.or_else(|| {
        let sights = core.iter().filter(|operation| operation.effect.produces().is_none());
        sights.filter(proves).min_by_key(|operation| operation.complete)
    })?;
    let newer = register.operations.iter().filter(|operation| {
        let changes = operation.effect.produces().is_some();
        changes && operation.invoke > settled && operation.complete < seen.invoke
    });
    let newer = newer.count();
    Some(Pattern::Stale(Stale { seen, value, evidence: *evidence, settled, newer }))
}

/// The moment from which on, until `seen` completed, nobody can have written the value; 0 if nobody
/// ever did. `None` if somebody may have written it just before it was seen.
fn settled_before(register: &Register, seen: Operation, value: ValueId) -> Option<u32> {
    let possible = |operation: &&Operation| **operation != seen && operation.invoke < seen.complete;
    let mut writers = producers(register, value).filter(possible);
    let Some(first) = writers.next() else { return Some(0) };
    let last = writers.map(|operation| operation.complete).max();
    let settled = match last {
        Some(last) => last.max(first.complete),
        // Written once: the first sight of it proves that it had been.
        None if value != INITIAL => first_sight(register, value).min(first.complete),
        None => first.complete,
    };
    (settled < seen.invoke).then_some(settled)
}

fn first_sight(register: &Register, value: ValueId) -> u32 {
    let sights = register.operations.iter().filter(|o| o.effect.observes() == Some(value));
    sights.map(|operation| operation.complete).min().unwrap_or(u32::MAX)
}

impl Stale {
    /// The few operations that prove it alone, where plain writes and reads do.
    pub fn proof(&self, register: &Register) -> Option<Vec<Operation>> {
        let plain =
            |operation: &Operation| matches!(operation.effect, Effect::Write(_) | Effect::Read(_));
        if !matches!(self.evidence.effect, Effect::Write(_)) {
            return None;
        }
        let possible = |operation: &&Operation| {
            **operation != self.seen && operation.invoke < self.seen.complete
        };
        let mut proof: Vec<Operation> =
            producers(register, self.value).filter(possible).copied().collect();
        // Where a sight of the value settled it, rather than the completion of its write.
        let settled = |operation: &&Operation| operation.complete == self.settled;
        if proof.iter().all(|operation| operation.complete != self.settled) {
            proof.extend(register.operations.iter().find(settled));
        }
        proof.extend([self.evidence, self.seen]);
        proof.iter().all(|o| plain(o) || *o == self.seen).then_some(proof)
    }
}
