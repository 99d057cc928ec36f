//! Queues that are first in, first out, of values that each go in once.
//!
//! Beyond what can go wrong with values in no order, two of them can come out the wrong way round (Henzinger,
//! Sezgin and Vafeiadis 2013 show that nothing else can; Abdulla et al. 2025 and Lee and Mathur 2024 have
//! algorithms of the same cost). O(n log n).

use super::presence::never_empty;
use super::values::{Core, Values};
use super::{Shortcut, bag};
use crate::checker::objects::models::container::Operation;
use crate::checker::objects::seen::Timed;

pub(in crate::checker::objects) fn decide(operations: &[Timed<Operation>]) -> Shortcut {
    bag::by(operations, true, |values, from| {
        out_of_turn(values, from).or_else(|| never_empty(values, from))
    })
}

/// A value that came out before another was asked for that had gone in before it went in.
fn out_of_turn(values: &Values, from: Option<u32>) -> Option<Core> {
    let put = |life: usize| values.lives[life].put.map(|put| &values.operations[put]);
    let lives = 0..values.lives.len();
    let mut earlier: Vec<usize> = lives.clone().filter(|life| put(*life).is_some()).collect();
    earlier.sort_by_key(|life| put(*life).map(|put| put.complete));
    let mut later: Vec<usize> =
        earlier.iter().copied().filter(|life| values.lives[*life].taken.is_some()).collect();
    later.sort_by_key(|life| put(*life).map(|put| put.invoke));
    let mut earlier = earlier.into_iter().peekable();
    // Of those that had gone in, the one that stayed longest.
    let mut longest: Option<(u32, usize)> = None;
    for life in later {
        let went_in = put(life)?.invoke;
        while let Some(before) = earlier.next_if(|b| put(*b).is_some_and(|p| p.complete < went_in))
        {
            longest = longest.max(Some((values.is_out(&values.lives[before], from), before)));
        }
        let came_out = values.operations[values.lives[life].taken?].complete;
        if let Some((_, before)) = longest.filter(|(stayed, _)| *stayed > came_out) {
            let both = [&values.lives[before], &values.lives[life]];
            return Some(both.into_iter().flat_map(|life| values.positions(life)).collect());
        }
    }
    None
}
