//! Queues in no order, of values that each go in once.
//!
//! Values do not disturb each other, so all that can go wrong is that one comes out twice, or before it went
//! in, or that somebody finds nothing while values were there all the time (the "unambiguous" case of sets
//! and multisets in Abdulla et al. 2025, and in Lee and Mathur 2024). O(n log n).

use super::Shortcut;
use super::openly;
use super::presence::never_empty;
use super::values::{Core, Values};
use crate::checker::objects::models::container::Operation;
use crate::checker::objects::seen::Timed;

pub(in crate::checker::objects) fn decide(operations: &[Timed<Operation>]) -> Shortcut {
    by(operations, false, never_empty)
}

/// Decides what goes wrong beyond single values by `wrong`, which is told from when on values may have
/// been taken by somebody of whom nothing is known.
pub(super) fn by(
    operations: &[Timed<Operation>],
    is_fifo: bool,
    wrong: impl Fn(&Values, Option<u32>) -> Option<Core>,
) -> Shortcut {
    let mut values = match Values::sound(operations) {
        Ok(values) => values,
        Err(decided) => return decided,
    };
    let from = values.first_open();
    let Some(core) = wrong(&values, None) else { return Shortcut::Linearizable };
    if values.open.is_empty() {
        return Shortcut::Violated { core };
    }
    // Takings of unknown outcome may explain it. If it is wrong even where each of them may have taken
    // everything, it is wrong.
    if let Some(mut core) = wrong(&values, from) {
        core.extend(&values.open);
        return Shortcut::Violated { core };
    }
    if !openly::assign(&mut values, is_fifo) {
        return Shortcut::Violated { core: (0..operations.len()).collect() };
    }
    match wrong(&values, None) {
        None => Shortcut::Linearizable,
        // Others may have taken other values: it takes a search to tell.
        Some(_) => Shortcut::None,
    }
}
