//! Whether a container can have been empty when somebody found it so.

use super::values::{Core, Life, Values};

/// A stretch of time in which a value was surely there.
#[derive(Clone, Copy)]
struct Stay {
    from: u32,
    until: u32,
    life: Life,
}

/// Somebody who found nothing, though at every moment at which that may have been some value was there; and
/// those values. O(n log n).
pub(super) fn never_empty(values: &Values, from: Option<u32>) -> Option<Core> {
    if values.empty.is_empty() {
        return None;
    }
    let stays = values.lives.iter().filter(|life| life.put.is_some()).map(|life| {
        let (from, until) = (values.is_in(life), values.is_out(life, from));
        Stay { from, until, life: *life }
    });
    let mut stays: Vec<Stay> = stays.filter(|stay| stay.from < stay.until).collect();
    stays.sort_by_key(|stay| (stay.from, stay.until));
    let chain = chains(&stays);
    values.empty.iter().find_map(|position| {
        let found = &values.operations[*position];
        let links = covering(&stays, &chain, found.invoke, found.complete)?;
        let lives = links.into_iter().flat_map(|link| values.positions(&stays[link].life));
        Some(lives.chain([*position]).collect())
    })
}

/// By place among the stays: which of those up to here lasts longest.
fn chains(stays: &[Stay]) -> Vec<usize> {
    let mut longest = Vec::with_capacity(stays.len());
    for (place, stay) in stays.iter().enumerate() {
        let before = longest.last().copied().filter(|last: &usize| stays[*last].until > stay.until);
        longest.push(before.unwrap_or(place));
    }
    longest
}

/// Stays that leave no moment between the two, if there are such: between two events there always is one.
fn covering(stays: &[Stay], longest: &[usize], from: u32, until: u32) -> Option<Vec<usize>> {
    let mut links = Vec::new();
    let mut reached = from;
    while reached < until {
        // Who came while the last was still there, or had come before.
        let begun = stays.partition_point(|stay| stay.from <= reached);
        let next = *longest.get(begun.checked_sub(1)?)?;
        if stays[next].until <= reached {
            return None;
        }
        reached = stays[next].until;
        links.push(next);
    }
    Some(links)
}
