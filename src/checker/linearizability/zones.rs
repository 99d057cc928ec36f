//! Registers whose values are all different: decided in O(n log n) by zones (Gibbons and Korach
//! 1997).
//!
//! A value is then written once, so a write, its reads, the compare-and-set that replaces it, that
//! one's reads and so on happen without anything between them: a *block*. Block A must precede
//! block B if and only if one of A's operations completed before one of B's was invoked, that is,
//! if A's earliest completion comes before B's latest invocation. Such precedences have an order
//! exactly if no two blocks must precede each other. Open operations cost nothing: those that
//! matter happened.

mod block;
#[cfg(test)]
pub(super) mod order;

use crate::checker::linearizability::chain;
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, ValueId};
use crate::checker::linearizability::relevance::Observed;

/// What the zones say.
pub(super) enum Zones {
    /// A value may have been written twice, or there is evidence of difference: not for zones.
    Ambiguous,
    Linearizable,
    /// These operations alone have no order.
    Violated(Vec<Operation>),
}

const NOBODY: u32 = u32::MAX;
/// The initial value's producer.
const START: u32 = u32::MAX - 1;

/// One value: who made it, who replaced it, and when it was read.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    producer: u32,
    successor: u32,
    first_read_completion: u32,
    last_read_invocation: u32,
}

enum Refusal {
    Ambiguous,
    /// The blocks of these values have no order.
    Violated(ValueId),
}

/// Decides a register of different values.
pub(super) fn check(operations: &[Operation], values: usize, observed: &Observed) -> Zones {
    let offending = match clusters(operations, values, observed) {
        Ok(clusters) => match block::all(operations, &clusters).map(block::conflict) {
            Ok(None) => return Zones::Linearizable,
            Ok(Some((first, second))) => vec![first, second],
            Err(value) => vec![value],
        },
        Err(Refusal::Ambiguous) => return Zones::Ambiguous,
        Err(Refusal::Violated(value)) => vec![value],
    };
    Zones::Violated(joined_with(operations, values, observed, &offending))
}

fn clusters(
    operations: &[Operation],
    values: usize,
    observed: &Observed,
) -> Result<Vec<Cluster>, Refusal> {
    let unused = Cluster {
        producer: NOBODY,
        successor: NOBODY,
        first_read_completion: u32::MAX,
        last_read_invocation: 0,
    };
    let mut clusters = vec![unused; values];
    clusters[INITIAL as usize].producer = START;
    let relevant = || operations.iter().enumerate().filter(|(_, o)| observed.keeps(o));
    for (position, operation) in relevant() {
        if let Effect::Differs(_) = operation.effect {
            return Err(Refusal::Ambiguous);
        }
        if let Some(value) = operation.effect.produces() {
            let cluster = &mut clusters[value as usize];
            if cluster.producer != NOBODY {
                return Err(Refusal::Ambiguous);
            }
            cluster.producer = position as u32;
        }
        if let Effect::Cas { from, .. } = operation.effect {
            // Of two that replace the same value, only one is followed; the other's value then
            // counts as made from nothing, which is as impossible.
            clusters[from as usize].successor = position as u32;
        }
        if let Effect::Read(value) = operation.effect {
            let cluster = &mut clusters[value as usize];
            cluster.first_read_completion = cluster.first_read_completion.min(operation.complete);
            cluster.last_read_invocation = cluster.last_read_invocation.max(operation.invoke);
        }
    }
    let unmade = |(_, operation): (usize, &Operation)| {
        operation.effect.observes().filter(|value| clusters[*value as usize].producer == NOBODY)
    };
    // Only now is it known that every value is made at most once.
    match relevant().find_map(unmade) {
        Some(value) => Err(Refusal::Violated(value)),
        None => Ok(clusters),
    }
}

/// All operations on values that are joined with these by compare-and-sets; the others may be
/// removed from any order without disturbing it.
fn joined_with(
    operations: &[Operation],
    values: usize,
    observed: &Observed,
    offending: &[ValueId],
) -> Vec<Operation> {
    let chains = chain::of_values(operations.iter().filter(|o| observed.keeps(o)), values);
    let roots: Vec<ValueId> = offending.iter().map(|value| chains[*value as usize]).collect();
    let touches = |operation: &&Operation| {
        let value = operation.effect.observes().or(operation.effect.produces());
        observed.keeps(operation)
            && value.is_some_and(|value| roots.contains(&chains[value as usize]))
    };
    operations.iter().filter(touches).copied().collect()
}
