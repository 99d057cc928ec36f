//! Decides small registers by trying every order. Slow, and too simple to be wrong.

use crate::checker::linearizability::operation::{INITIAL, Operation, ValueId};

/// Whether some order of the completed operations, and of any of the open ones, explains them all.
pub(super) fn has_order(operations: &[Operation]) -> bool {
    has_order_from(operations, INITIAL)
}

/// The same for a register that holds this at first.
pub(super) fn has_order_from(operations: &[Operation], state: ValueId) -> bool {
    assert!(operations.len() <= 16, "{} operations are too many to try", operations.len());
    explains(operations, 0, state)
}

fn explains(operations: &[Operation], placed: u32, state: ValueId) -> bool {
    let is_left = |position: &usize| placed >> position & 1 == 0;
    let left: Vec<usize> = (0..operations.len()).filter(is_left).collect();
    if left.iter().all(|position| operations[*position].is_open()) {
        return true;
    }
    // Nothing may come before what completed before it was invoked.
    let bound = left.iter().map(|position| operations[*position].complete).min().unwrap_or(0);
    left.into_iter().any(|position| {
        let operation = operations[position];
        operation.invoke < bound
            && operation
                .effect
                .apply(state)
                .is_some_and(|next| explains(operations, placed | 1 << position, next))
    })
}
