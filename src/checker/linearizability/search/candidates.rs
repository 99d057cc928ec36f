//! What may take effect next, where something must.

use super::Config;
use super::live::Live;
use super::plan::Plan;
use crate::checker::linearizability::operation::{Effect, ValueId};

/// Marks a candidate that is a class of open operations; the others are slots.
const CLASS: u32 = 1 << 31;

/// The candidate that is a use of this class.
pub(super) fn of_class(class: u32) -> u32 {
    class | CLASS
}

/// The class that this candidate is, if it is one.
pub(super) fn class_of(candidate: u32) -> Option<u32> {
    (candidate & CLASS != 0).then_some(candidate & !CLASS)
}

/// Room for finding candidates, kept so that a step need not ask for any.
#[derive(Default)]
pub(super) struct Ranked {
    waiting: Vec<u32>,
    /// Candidates by promise: what makes the operation possible that has to happen, everything else.
    enabling: Vec<u32>,
    others: Vec<u32>,
}

/// Adds all that may take effect before the operation that completes at this position, the best last.
pub(super) fn find<const WORDS: usize>(
    plan: &Plan,
    live: &Live<WORDS>,
    config: &Config<WORDS>,
    position: usize,
    ranked: &mut Ranked,
    untried: &mut Vec<u32>,
) {
    let target = plan.event(position).operation;
    let wanted = plan.operations[target as usize].effect;
    let now = plan.now(position);
    let mut itself = None;
    let Ranked { waiting, enabling, others } = ranked;
    for list in [&mut *waiting, &mut *enabling, &mut *others] {
        list.clear();
    }
    let slots = live.present.without(&live.observers).without(&config.done);
    waiting.extend(slots.ones().map(|slot| live.occupant(slot)));
    for (slot, &operation) in slots.ones().zip(&*waiting) {
        let effect = plan.operations[operation as usize].effect;
        let Some(result) = effect.apply(config.state) else { continue };
        if has_urgent_twin(plan, waiting, operation) {
            continue;
        }
        if operation == target {
            itself = Some(slot as u32);
        } else if !plan.service.matters(operation, now) && matches!(effect, Effect::Write(_)) {
            // It hides behind whatever is written next.
            continue;
        } else if enables(wanted, result) {
            enabling.push(slot as u32);
        } else {
            others.push(slot as u32);
        }
    }
    for (class, members) in plan.classes.iter().enumerate() {
        let class = class as u32;
        if live.offered(class) <= config.used.count(class) {
            continue;
        }
        let Some(result) = members.effect.apply(config.state) else { continue };
        // What need not happen only happens for somebody who observes it next.
        if !observed_next(plan, live, config, result) {
            continue;
        }
        // What must happen anyway goes before what may.
        let is_twin = |member: &u32| has_urgent_twin(plan, waiting, *member);
        if members.members.first().is_some_and(is_twin) {
            continue;
        }
        let rank = match enables(wanted, result) {
            true => &mut *enabling,
            false => &mut *others,
        };
        rank.push(of_class(class));
    }
    untried.extend(others.iter().rev());
    untried.extend(enabling.iter().rev());
    untried.extend(itself);
}

/// Whether something in flight, or an open compare-and-set, may observe this value right away.
fn observed_next<const WORDS: usize>(
    plan: &Plan,
    live: &Live<WORDS>,
    config: &Config<WORDS>,
    value: ValueId,
) -> bool {
    let observes = |effect: Effect| match effect {
        Effect::Differs(other) => other != value,
        effect => effect.observes() == Some(value),
    };
    let mut waiting = live.present.without(&config.done).ones().map(|slot| live.occupant(slot));
    waiting.any(|operation| observes(plan.operations[operation as usize].effect))
        || plan.classes.iter().any(|class| observes(class.effect))
}

/// Whether another operation that waits has the same effect and completes earlier.
///
/// Wherever this one stands in an order and the other later, they can change places.
fn has_urgent_twin(plan: &Plan, waiting: &[u32], operation: u32) -> bool {
    let Some(kin) = plan.kin(operation) else { return false };
    let complete = |operation: u32| plan.operations[operation as usize].complete;
    let is_more_urgent =
        |other: &u32| plan.kin(*other) == Some(kin) && complete(*other) < complete(operation);
    waiting.iter().any(is_more_urgent)
}

/// Whether the operation can happen once the register holds this value, and depends on it.
fn enables(wanted: Effect, value: ValueId) -> bool {
    !matches!(wanted, Effect::Write(_)) && wanted.apply(value).is_some()
}
