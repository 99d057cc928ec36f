//! Few values that keep another from coming out.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::Stay;

/// Values that are looked into; with more, all are blamed.
const MOST: usize = 200;

/// The lives that leave none of these moments free, and those because of which they were there that long. Stays
/// are in order of value.
pub(super) fn blame(stays: &[Stay], moments: Range<u32>) -> impl Iterator<Item = usize> + use<> {
    let mut blamed = FxHashSet::default();
    let mut open = vec![(moments, stays.len())];
    while let Some((moments, lesser)) = open.pop() {
        if blamed.len() > MOST {
            blamed = (0..stays.len()).collect();
            break;
        }
        for number in covering(&stays[..lesser], moments) {
            let stay = &stays[number];
            if blamed.insert(number) && stay.wanted < stay.until {
                open.push((stay.wanted..stay.until, number));
            }
        }
    }
    let mut numbers: Vec<usize> = blamed.into_iter().collect();
    numbers.sort_unstable();
    let lives: Vec<usize> = numbers.into_iter().map(|number| stays[number].life).collect();
    lives.into_iter()
}

/// As few of them as leave none of these moments free, by number.
fn covering(stays: &[Stay], moments: Range<u32>) -> Vec<usize> {
    let is_there =
        |stay: &&usize| stays[**stay].from < moments.end && moments.start < stays[**stay].until;
    let all: Vec<usize> = (0..stays.len()).collect();
    let mut there: Vec<usize> = all.iter().filter(is_there).copied().collect();
    there.sort_by_key(|stay| stays[*stay].from);
    let (mut chain, mut reached) = (Vec::new(), moments.start);
    let mut there = there.into_iter().peekable();
    while reached < moments.end {
        let mut longest = None;
        while let Some(stay) = there.next_if(|stay| stays[*stay].from <= reached) {
            longest = longest.max(Some((stays[stay].until, stay)));
        }
        let Some((until, stay)) = longest.filter(|(until, _)| *until > reached) else { break };
        chain.push(stay);
        reached = until;
    }
    chain
}
