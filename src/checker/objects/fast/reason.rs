//! Says why a few operations on a container have no order.

use super::values::Values;
use super::{lifo, presence};
use crate::checker::objects::models::container::{Operation, Taken};
use crate::checker::objects::seen::{NEVER, Timed};

/// Tells when an event was.
pub(super) type Moment<'a> = &'a dyn Fn(u32) -> String;

/// Sentences; none where it is not this that is wrong.
pub(in crate::checker::objects) fn of_queue(
    core: &[Timed<Operation>],
    moment: Moment,
) -> Vec<String> {
    of(core, |values| presence::reason(values, moment))
}

/// The same.
pub(in crate::checker::objects) fn of_stack(
    core: &[Timed<Operation>],
    moment: Moment,
) -> Vec<String> {
    of(core, |values| match presence::reason(values, moment) {
        none if none.is_empty() => lifo::reason(values, moment),
        sentences => sentences,
    })
}

fn of(core: &[Timed<Operation>], told: impl Fn(&Values) -> Vec<String>) -> Vec<String> {
    let certain: Vec<Timed<Operation>> = core.iter().map(certain).collect();
    let Some(Ok(values)) = Values::of(&certain) else { return Vec::new() };
    let values = Values { operations: core, ..values };
    match values.open.is_empty() && values.invented().is_none() {
        true => told(&values),
        false => Vec::new(),
    }
}

/// A taking of which only the end is not known counts as any other.
fn certain(timed: &Timed<Operation>) -> Timed<Operation> {
    match &timed.operation {
        Operation::Take(Taken::Value(_)) => Timed { complete: NEVER - 1, ..timed.clone() },
        _ => timed.clone(),
    }
}
