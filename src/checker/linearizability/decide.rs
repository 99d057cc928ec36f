//! Which algorithm decides a register, and what it says.

use crate::checker::linearizability::evident;
use crate::checker::linearizability::operation::{NEVER, Operation, Register};
use crate::checker::linearizability::relevance::Observed;
use crate::checker::linearizability::search::{Limits, Searched, search};
use crate::checker::linearizability::zones::{self, Zones};

/// How a decision was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Zones,
    Search,
}

/// What is known of a register.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision {
    Linearizable(Method),
    /// These operations alone have no order; what follows them is not looked at.
    Violated {
        core: Vec<Operation>,
        by: Method,
    },
    /// So many of its completed operations have an order; of the rest nothing is known.
    Undecided {
        settled: usize,
        why: &'static str,
    },
}

/// Decides a register by its zones where its values are all different, else by search. Also says
/// how many search steps it took.
pub(super) fn decide(register: &Register, limits: &Limits) -> (Decision, u64) {
    let observed = Observed::of(&register.operations, register.values);
    match zones::check(&register.operations, register.values, &observed) {
        Zones::Linearizable => (Decision::Linearizable(Method::Zones), 0),
        Zones::Violated(core) => (Decision::Violated { core, by: Method::Zones }, 0),
        Zones::Ambiguous => {
            let operations = observed.relevant(&register.operations);
            by_search(&operations, register.values, &observed, limits)
        }
    }
}

fn by_search(
    operations: &[Operation],
    values: usize,
    observed: &Observed,
    limits: &Limits,
) -> (Decision, u64) {
    let completion = |position: u32| operations.get(position as usize).map_or(0, |o| o.complete);
    let brief =
        Limits { steps: limits.steps.min(brief_steps(operations)), patience: u64::MAX, ..*limits };
    let (mut found, mut steps) = search(operations, values, observed, &brief);
    if let Searched::Undecided { .. } = found {
        // Where a search is not easy it may be hopeless, and the violation plain all the same.
        if let Some(evident) = evident::find(operations, values) {
            let core = evident.proof.unwrap_or_else(|| until(operations, evident.seen.complete));
            return (Decision::Violated { core, by: Method::Search }, steps);
        }
        if steps < limits.steps {
            let rest = Limits { steps: limits.steps - steps, ..*limits };
            let (later, more) = search(operations, values, observed, &rest);
            (found, steps) = (later, steps + more);
        }
    }
    let decision = match found {
        Searched::Linearizable { .. } => Decision::Linearizable(Method::Search),
        Searched::Violated { last } => {
            Decision::Violated { core: until(operations, completion(last)), by: Method::Search }
        }
        Searched::Undecided { last, why } => {
            let moment = completion(last);
            let settled = operations.iter().filter(|operation| operation.complete < moment).count();
            Decision::Undecided { settled, why }
        }
    };
    (decision, steps)
}

/// Steps that are enough for most searches that have an answer.
fn brief_steps(operations: &[Operation]) -> u64 {
    2 * operations.len() as u64 + 2_000
}

/// The operations as they stood at this moment: what had not completed yet may have happened.
pub(super) fn until(operations: &[Operation], moment: u32) -> Vec<Operation> {
    let invoked = operations.iter().filter(|operation| operation.invoke < moment);
    invoked
        .filter_map(|operation| match operation.complete <= moment {
            true => Some(*operation),
            false => weakened(operation),
        })
        .collect()
}

/// The operation if nobody had seen its result. Weaker, so what it leaves without an order had
/// none.
pub(super) fn weakened(operation: &Operation) -> Option<Operation> {
    operation.effect.produces().map(|_| Operation { complete: NEVER, ..*operation })
}
