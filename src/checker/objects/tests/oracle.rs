//! Decides few operations by trying every order. Slow, and too simple to be wrong.

use crate::checker::objects::{Object, Timed};

/// Whether some order of the completed operations, and of any of the open ones, explains them all.
pub(super) fn has_order<O: Object>(object: &O, operations: &[Timed<O::Operation>]) -> bool {
    assert!(operations.len() <= 16, "{} operations are too many to try", operations.len());
    explains(object, operations, 0, &object.init())
}

fn explains<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
    placed: u32,
    state: &O::State,
) -> bool {
    let is_left = |position: &usize| placed >> position & 1 == 0;
    let left: Vec<usize> = (0..operations.len()).filter(is_left).collect();
    if left.iter().all(|position| operations[*position].is_open()) {
        return true;
    }
    // Nothing may come before what completed before it was invoked.
    let bound = left.iter().map(|position| operations[*position].complete).min().unwrap_or(0);
    left.into_iter().filter(|position| operations[*position].invoke < bound).any(|position| {
        let timed = &operations[position];
        let what = match timed.is_open() {
            true => object.alternatives(&timed.operation, operations),
            false => vec![timed.operation.clone()],
        };
        what.iter().any(|operation| {
            object
                .step(state, operation)
                .is_some_and(|next| explains(object, operations, placed | 1 << position, &next))
        })
    })
}
