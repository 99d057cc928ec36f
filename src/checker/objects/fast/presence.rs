//! Whether a container can have been empty when somebody found it so.

use super::reason::Moment;
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
    let (found, stays) = covered(values, from)?;
    let lives = stays.into_iter().flat_map(|stay| values.positions(&stay.life));
    Some(lives.chain([found]).collect())
}

/// Who found nothing, by position, and the stays of those values, one after the other.
fn covered(values: &Values, from: Option<u32>) -> Option<(usize, Vec<Stay>)> {
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
        Some((*position, links.into_iter().map(|link| stays[link]).collect()))
    })
}

/// Values that are told.
const TOLD: usize = 8;

/// Why something was there, in sentences; none where it is not this that is wrong.
pub(super) fn reason(values: &Values, moment: Moment) -> Vec<String> {
    let Some((found, stays)) = covered(values, None) else { return Vec::new() };
    let found = &values.operations[found];
    let (from, until) = (moment(found.invoke), moment(found.complete));
    let mut lines = vec![format!(
        "from {from} to {until}, when nothing was found, something was always there:"
    )];
    lines.extend(stays.iter().take(TOLD).map(|stay| {
        let value = stay.life.put.and_then(|put| values.operations[put].operation.value());
        let value = value.map_or(String::new(), |value| value.to_string());
        let until = match stay.life.taken {
            Some(_) => format!("nobody asked for it before {}", moment(stay.until)),
            None => "nobody took it".to_owned(),
        };
        format!("{value} had gone in by {}, and {until}", moment(stay.from))
    }));
    if stays.len() > TOLD {
        lines.push(format!("and {} more, one after the other", stays.len() - TOLD));
    }
    lines
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
