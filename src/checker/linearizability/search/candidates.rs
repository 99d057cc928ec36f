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
    ranked.clear();
    let slots = live.present.without(&live.observers).without(&config.done);
    ranked.waiting.extend(slots.ones().map(|slot| live.occupant(slot)));
    for (place, slot) in slots.ones().enumerate() {
        let operation = ranked.waiting[place];
        let effect = plan.operations[operation as usize].effect;
        let Some(result) = effect.apply(config.state) else { continue };
        if has_urgent_twin(plan, &ranked.waiting, operation) {
            continue;
        }
        // A write that can serve nobody hides behind whatever is written next.
        let hides = !plan.service.matters(operation, now) && matches!(effect, Effect::Write(_));
        if operation == target {
            itself = Some(slot as u32);
        } else if !hides {
            ranked.add(slot as u32, enables(wanted, result));
        }
    }
    for (members, class) in plan.classes.iter().zip(0..) {
        let result = members.effect.apply(config.state);
        let is_left = live.offered(class) > config.used.count(class);
        let Some(result) = result.filter(|_| is_left) else { continue };
        // What need not happen only happens for somebody who observes it next, and what must happen
        // anyway goes before it.
        let is_twin = |member: &u32| has_urgent_twin(plan, &ranked.waiting, *member);
        if observed_next(plan, live, config, result)
            && !members.members.first().is_some_and(is_twin)
        {
            ranked.add(of_class(class), enables(wanted, result));
        }
    }
    untried.extend(ranked.others.iter().rev());
    untried.extend(ranked.enabling.iter().rev());
    untried.extend(itself);
}

impl Ranked {
    fn clear(&mut self) {
        self.waiting.clear();
        self.enabling.clear();
        self.others.clear();
    }

    fn add(&mut self, candidate: u32, enables: bool) {
        let rank = if enables { &mut self.enabling } else { &mut self.others };
        rank.push(candidate);
    }
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
