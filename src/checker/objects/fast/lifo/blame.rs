//! Of values that nest in no way, a few that do not.

use std::ops::Range;

use super::peel::Stay;
use crate::checker::objects::fast::values::{Core, Values};

/// In longer chains no shorter ones are looked for: that takes their square.
const LONGEST: usize = 2_000;

/// Positions of operations.
pub(super) fn core(values: &Values, stays: &[Stay], block: &[usize]) -> Core {
    let blamed = blamed(stays, block);
    let lives = blamed.iter().map(|stay| &values.lives[stays[*stay].life]);
    lives.flat_map(|life| values.positions(life)).collect()
}

/// The block has no bottom, so as few of its values as leave none of its moments free have none, either; in order
/// of when they were surely there.
pub(super) fn blamed(stays: &[Stay], block: &[usize]) -> Vec<usize> {
    shortest(stays, &chain(stays, block))
}

/// Of the block, which is sorted by when its values were surely there, as few as leave nothing free; each
/// meets only its neighbours.
fn chain(stays: &[Stay], block: &[usize]) -> Vec<usize> {
    let mut chain = Vec::new();
    let mut rest = block.iter().copied().peekable();
    let mut reached = block.first().map_or(0, |first| stays[*first].surely.start);
    loop {
        let mut longest = None;
        while let Some(stay) = rest.next_if(|stay| stays[*stay].surely.start <= reached) {
            longest = longest.max(Some((stays[stay].surely.end, stay)));
        }
        let Some((end, stay)) = longest.filter(|(end, _)| *end > reached) else { return chain };
        chain.push(stay);
        reached = end;
    }
}

/// The fewest neighbours that have no bottom.
fn shortest(stays: &[Stay], chain: &[usize]) -> Vec<usize> {
    let mut shortest = 0..chain.len();
    if chain.len() > LONGEST {
        return chain.to_vec();
    }
    for first in 0..chain.len() {
        let from = stays[chain[first]].surely.start;
        // When those that may have gone in before all the others go out, at the latest.
        let mut outlasts = 0;
        for (place, stay) in chain.iter().enumerate().skip(first) {
            let Stay { enters, surely, leaves, .. } = &stays[*stay];
            if place + 1 - first >= shortest.len() {
                break;
            }
            if enters.start < from {
                outlasts = outlasts.max(leaves.end);
            }
            if outlasts <= surely.end {
                shortest = Range { start: first, end: place + 1 };
                break;
            }
        }
    }
    chain[shortest].to_vec()
}
