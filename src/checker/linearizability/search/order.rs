//! Turns what a search did into an order of operations: which open operation was used when.

use super::candidates;
use super::plan::Plan;
use crate::checker::linearizability::operation::Effect;

/// Resolves uses of classes into operations, without the uses that nobody observed: a search may
/// waste open operations where there are plenty, and only without waste are there certainly enough.
pub(super) fn resolve(plan: &Plan, taken: &[u32]) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::with_capacity(taken.len());
    let mut is_observed = false;
    for entry in taken.iter().rev() {
        let effect = match candidates::class_of(*entry) {
            Some(_) if !is_observed => continue,
            Some(class) => plan.classes[class as usize].effect,
            None => plan.operations[*entry as usize].effect,
        };
        is_observed = !matches!(effect, Effect::Write(_));
        kept.push(*entry);
    }
    kept.reverse();
    let mut used = vec![0; plan.classes.len()];
    for entry in &mut kept {
        if let Some(class) = candidates::class_of(*entry) {
            let next = &mut used[class as usize];
            // Out of range only if a search was wrong; the replay then refuses the order.
            let member = plan.classes[class as usize].members.get(*next);
            *entry = member.copied().unwrap_or(u32::MAX);
            *next += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::linearizability::operation::{NEVER, Operation};

    #[test]
    fn uses_that_nobody_observed_are_left_out() {
        let operation =
            |effect, invoke, complete| Operation { effect, invoke, complete, origin: invoke };
        let operations = [
            operation(Effect::Write(1), 1, NEVER),
            operation(Effect::Write(1), 2, NEVER),
            operation(Effect::Write(2), 3, 4),
            operation(Effect::Read(1), 5, 6),
        ];
        let plan = Plan::new(&operations, 3);
        let use_of_one = candidates::of_class(0);
        let taken = [use_of_one, use_of_one, 2, use_of_one, 3];
        assert_eq!(resolve(&plan, &taken), [2, 0, 3]);
    }
}
