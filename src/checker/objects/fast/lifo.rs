//! Stacks of values that each go in once: decided in O(n log n), after the idea of Lee and Mathur 2024 (and of
//! Abdulla et al. 2025, who found earlier algorithms for stacks wrong; so here is why this one is right).
//!
//! A value is in the stack from some moment of its push to some later moment of its pop. An order of all
//! operations is a choice of those moments so that, of two values, the one that went in during the other's
//! stay is gone before the other (stays *nest*), and so that whoever found nothing did at a moment in
//! nobody's stay. Between the end of its push and the begin of its pop a value is *surely* there; if
//! there is no such time, push and pop may follow each other at once and disturb nobody.
//!
//! - A moment at which no value is surely there is *free*. All stays that hold a free moment can be cut
//!   there: those of values not surely there before go in just after it, the others go out just before it.
//!   Cutting keeps them nested, so the stack may as well be empty at every free moment, and the times
//!   between free moments (*blocks*) are decided each by itself.
//! - Within a block the stack is never empty, so one value is at the bottom all the time. Such a value can
//!   have gone in at a free moment before the block and out at one after it. Conversely whoever can may as
//!   well be at the bottom: outside all the others it crosses none of them. So it can be left out of the
//!   question, which leaves more moments free.
//! - Hence: as long as there is a value with a free moment in its push and one in its pop, take it out.
//!   If none is left over, the values nest as they were taken out; if some are, their blocks have no bottom.
//!
//! What is never popped leaves after the end, and nobody is disturbed. Pops of unknown outcome: see `Unclaimed`.

mod blame;
mod order;
mod peel;
mod reason;
mod spare;
mod waiting;

use super::Shortcut;
use super::moments::Moments;
use super::presence::never_empty;
use super::values::{Core, Life, Values};
use crate::checker::objects::models::container::Operation;
use crate::checker::objects::seen::Timed;
use peel::{Peeling, Stay};
pub(super) use reason::reason;

pub(in crate::checker::objects) fn decide(operations: &[Timed<Operation>]) -> Shortcut {
    let values = match Values::sound(operations) {
        Ok(values) => values,
        Err(decided) => return decided,
    };
    match values.open.is_empty() {
        true => surely(&values),
        false => spare::decide(&values),
    }
}

/// Where nobody but those that are known to have taken values did.
fn surely(values: &Values) -> Shortcut {
    if let Some(core) = never_empty(values, None) {
        return Shortcut::Violated { core };
    }
    let moments = Moments::of(values);
    let mut peeling = Peeling::new(&moments, stays(values, &moments, None));
    peeling.peel();
    match peeling.block() {
        None => Shortcut::Ordered { order: order::order(values, &moments, &peeling, &[]) },
        Some(block) => Shortcut::Violated { core: blame::core(values, &peeling.stays, &block) },
    }
}

/// The values that are surely there at some moment. With `from`, somebody of whom nothing else is known may
/// have taken those that nobody is known to have taken, at any time after that.
fn stays(values: &Values, moments: &Moments, from: Option<u32>) -> Vec<Stay> {
    let lives = values.lives.iter().enumerate();
    lives.filter_map(|(number, life)| stay(values, moments, number, life, from)).collect()
}

fn stay(
    values: &Values,
    moments: &Moments,
    number: usize,
    life: &Life,
    from: Option<u32>,
) -> Option<Stay> {
    let put = &values.operations[life.put?];
    let taken = life.taken.map(|taken| &values.operations[taken]);
    let (asked, gone) = match (taken, from) {
        // As well after the end as never.
        (Some(taken), _) if taken.is_open() => (moments.after(taken.invoke), moments.end() + 1),
        (Some(taken), _) => (moments.after(taken.invoke), moments.after(taken.complete)),
        (None, Some(from)) => (moments.after(from), moments.end() + 1),
        (None, None) => (moments.end(), moments.end() + 1),
    };
    let surely = moments.after(put.complete)..asked;
    (!surely.is_empty()).then(|| Stay {
        life: number,
        enters: moments.between(put.invoke, put.complete),
        surely,
        leaves: asked..gone,
    })
}

/// Why these values nest in no way, if they do not.
fn no_bottom(values: &Values, from: Option<u32>) -> Option<Core> {
    let moments = Moments::of(values);
    let mut peeling = Peeling::new(&moments, stays(values, &moments, from));
    peeling.peel();
    let block = peeling.block()?;
    Some(blame::core(values, &peeling.stays, &block))
}
