//! Decides one object, by its own algorithm where there is one and by search.

use super::certificate;
use super::fast::Shortcut;
use super::machine::Machine;
use super::object::Object;
use super::search::{self, Limits, Plan, Searched, Taken};
use super::seen::{NEVER, Timed};
use crate::checker::Verdict;

/// Comparisons of open operations with others that may be made to find out which of them matter; with
/// more, all are taken to matter.
const COMPARISONS: usize = 20_000_000;

/// Configurations that may be tried on a mere suspicion.
const SUSPICION: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Shortcut,
    Search,
}

/// What is known of one object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision<T> {
    Linearizable(Method),
    /// These have no order, and with them nothing that holds them has.
    Violated {
        core: Vec<Timed<T>>,
    },
    /// So many completed operations have an order; then a limit was met.
    Undecided {
        settled: usize,
        why: &'static str,
    },
}

impl<T> Decision<T> {
    pub fn verdict(&self) -> Verdict {
        match self {
            Decision::Linearizable(_) => Verdict::Valid,
            Decision::Violated { .. } => Verdict::Invalid,
            Decision::Undecided { .. } => Verdict::Unknown,
        }
    }
}

/// Decides the operations, which are in order of invocation. Also says how many configurations it tried.
pub(super) fn decide<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
    limits: &Limits,
) -> (Decision<O::Operation>, u64) {
    let operations = relevant(object, operations);
    match object.shortcut(&operations) {
        Shortcut::Linearizable => (Decision::Linearizable(Method::Shortcut), 0),
        Shortcut::Ordered { order } if explains(object, &operations, &order) => {
            (Decision::Linearizable(Method::Shortcut), 0)
        }
        Shortcut::Violated { core } => (Decision::Violated { core: those(&operations, core) }, 0),
        Shortcut::Suspected { core } => suspected(object, &operations, core, limits),
        Shortcut::Refused { why } => (Decision::Undecided { settled: 0, why }, 0),
        Shortcut::None | Shortcut::Ordered { .. } => by_search(object, &operations, limits),
    }
}

/// Searches among these first.
fn suspected<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
    core: Vec<usize>,
    limits: &Limits,
) -> (Decision<O::Operation>, u64) {
    let core = relevant(object, &those(operations, core));
    let few = Limits { steps: limits.steps.min(SUSPICION), ..*limits };
    let (decision, tried) = by_search(object, &core, &few);
    if let Decision::Violated { .. } = decision {
        return (decision, tried);
    }
    let left = Limits { steps: limits.steps.saturating_sub(tried), ..*limits };
    let (decision, more) = by_search(object, operations, &left);
    (decision, tried + more)
}

/// The operations at these positions, in order of invocation.
fn those<T: Clone>(operations: &[Timed<T>], mut positions: Vec<usize>) -> Vec<Timed<T>> {
    positions.sort_unstable();
    positions.into_iter().filter_map(|position| operations.get(position).cloned()).collect()
}

fn explains<O: Object>(object: &O, operations: &[Timed<O::Operation>], order: &[usize]) -> bool {
    let order = order.iter().map(|position| {
        let timed = operations.get(*position)?;
        Some((*position as u32, timed.operation.clone()))
    });
    let order: Option<Vec<_>> = order.collect();
    order.is_some_and(|order| certificate::replay(object, operations, &order).is_ok())
}

/// Without a shortcut.
pub(super) fn by_search<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
    limits: &Limits,
) -> (Decision<O::Operation>, u64) {
    let mut machine = Machine::new(object);
    let plan = Plan::new(object, &mut machine, operations);
    let (searched, tried) = search::search(&plan, &mut machine, limits);
    let decision = match searched {
        Searched::Violated { last } => {
            let moment = operations[last as usize].complete;
            Decision::Violated { core: relevant(object, &until(operations, moment)) }
        }
        Searched::Undecided { settled, why } => Decision::Undecided { settled, why },
        Searched::Linearizable { order } if is_sound(object, &machine, operations, &order) => {
            Decision::Linearizable(Method::Search)
        }
        Searched::Linearizable { .. } => {
            // Never seen; but then the answer is worth nothing, and saying so is.
            Decision::Undecided { settled: 0, why: "the order found did not pass its replay" }
        }
    };
    (decision, tried)
}

fn is_sound<O: Object>(
    object: &O,
    machine: &Machine<O>,
    operations: &[Timed<O::Operation>],
    order: &[Taken],
) -> bool {
    let taken = order.iter().map(|t| (t.position, machine.operation(t.operation).clone()));
    let order: Vec<(u32, O::Operation)> = taken.collect();
    certificate::replay(object, operations, &order).is_ok()
}

/// The operations without the open ones that nobody can tell of: neither who surely happened, nor who may
/// have and matters.
pub(super) fn relevant<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
) -> Vec<Timed<O::Operation>> {
    let (mut kept, open): (Vec<_>, Vec<_>) = operations.iter().partition(|timed| !timed.is_open());
    let mut open: Vec<_> =
        open.into_iter().filter(|timed| !object.observes(&timed.operation)).collect();
    if open.len() * operations.len() > COMPARISONS {
        kept.append(&mut open);
    }
    let mut compared = 0;
    while compared < kept.len() && !open.is_empty() {
        let witnesses = compared..kept.len();
        compared = witnesses.end;
        let is_told = |timed: &&Timed<O::Operation>| {
            kept[witnesses.clone()].iter().any(|by| tells(object, by, timed))
        };
        let (told, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(is_told);
        kept.extend(told);
        open = rest;
    }
    kept.sort_by_key(|timed| timed.invoke);
    kept.into_iter().cloned().collect()
}

/// Whether `by`, if it happened, may tell that `open` did.
pub(super) fn tells<O: Object>(
    object: &O,
    by: &Timed<O::Operation>,
    open: &Timed<O::Operation>,
) -> bool {
    by.complete > open.invoke && object.may_tell(&by.operation, &open.operation)
}

/// The operations as they stood at this moment: who completed later was still in flight.
pub(super) fn until<T: Clone>(operations: &[Timed<T>], moment: u32) -> Vec<Timed<T>> {
    let begun = operations.iter().filter(|timed| timed.invoke < moment);
    begun
        .map(|timed| match timed.complete > moment {
            true => Timed { complete: NEVER, ..timed.clone() },
            false => timed.clone(),
        })
        .collect()
}
