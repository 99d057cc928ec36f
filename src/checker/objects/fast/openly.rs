//! Which values may have been taken by takings of unknown outcome.

use super::values::{Life, Values};
use crate::checker::objects::seen::NEVER;

/// Gives the values that must have come out, but that nobody is known to have taken, to the takings of
/// unknown outcome: the most urgent value to the first of them. False where there are too few of them for
/// an order in which values come out as they went in.
///
/// What was found empty is taken to have been so at its end, which need not be right: so the caller looks at
/// what came of it. The rest is exact: each taking serves any value whose deadline comes after it was asked
/// for, so the first of one must serve the first of the other.
pub(super) fn assign(values: &mut Values, is_fifo: bool) -> bool {
    let mut takings = values.open.clone();
    takings.sort_by_key(|taking| values.operations[*taking].invoke);
    let by_order = match is_fifo {
        true => deadlines(values, values.lives.iter().filter_map(|life| values.stay(life))),
        false => vec![NEVER; values.lives.len()],
    };
    if is_late(values, &urgent(values, &by_order), &takings) {
        return false;
    }
    let empty = values.empty.iter().map(|empty| &values.operations[*empty]);
    let by_emptiness = deadlines(values, empty.map(|found| (found.invoke, found.complete)));
    let both = by_order.into_iter().zip(by_emptiness).map(|(one, other)| one.min(other));
    let urgent = urgent(values, &both.collect::<Vec<_>>());
    for ((_, life), taking) in urgent.into_iter().zip(takings) {
        values.lives[life].taken = Some(taking);
    }
    true
}

/// The values that must have come out by some moment, in order of that moment.
fn urgent(values: &Values, deadlines: &[u32]) -> Vec<(u32, usize)> {
    let lives = deadlines.iter().copied().zip(0..);
    let mut urgent: Vec<(u32, usize)> = lives
        .filter(|(deadline, life)| *deadline != NEVER && values.lives[*life].taken.is_none())
        .collect();
    urgent.sort_unstable();
    urgent
}

/// Whether there is no taking in time for some value.
fn is_late(values: &Values, urgent: &[(u32, usize)], takings: &[usize]) -> bool {
    urgent.iter().enumerate().any(|(place, (deadline, _))| {
        let taking = takings.get(place).map(|taking| values.operations[*taking].invoke);
        taking.is_none_or(|invoke| invoke > *deadline)
    })
}

/// By life: the first end of a span (from, until) that began after the value had surely gone in.
fn deadlines(values: &Values, spans: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut spans: Vec<(u32, u32)> = spans.collect();
    spans.sort_unstable();
    // From the last to the first, the earliest end among all that begin later.
    let mut earliest = NEVER;
    for (_, until) in spans.iter_mut().rev() {
        earliest = earliest.min(*until);
        *until = earliest;
    }
    let deadline = |life: &Life| {
        let later = spans.partition_point(|(from, _)| *from <= values.is_in(life));
        spans.get(later).map_or(NEVER, |(_, until)| *until)
    };
    values.lives.iter().map(deadline).collect()
}
