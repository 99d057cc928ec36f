//! Says why a few values nest in no way.

use super::peel::{Peeling, Stay};
use super::{Values, blame, stays};
use crate::checker::objects::fast::moments::Moments;
use crate::checker::objects::fast::reason::Moment;

/// Values that are told.
const TOLD: usize = 8;

/// Sentences; none where it is not this that is wrong.
pub(in crate::checker::objects::fast) fn reason(values: &Values, moment: Moment) -> Vec<String> {
    let moments = Moments::of(values);
    let mut peeling = Peeling::new(&moments, stays(values, &moments, None));
    peeling.peel();
    let chain = peeling.block().map(|block| blame::blamed(&peeling.stays, &block));
    chain.map_or(Vec::new(), |chain| told(values, &peeling.stays, &chain, moment))
}

fn told(values: &Values, stays: &[Stay], chain: &[usize], moment: Moment) -> Vec<String> {
    let put = |stay: usize| values.lives[stays[stay].life].put.map(|put| &values.operations[put]);
    let taken = |stay: usize| {
        let taken = values.lives[stays[stay].life].taken;
        taken.map(|taken| &values.operations[taken])
    };
    let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return Vec::new() };
    let since = put(first).map_or(String::new(), |put| moment(put.complete));
    let until = taken(last).map_or("the end".to_owned(), |taken| moment(taken.invoke));
    let mut lines = vec![format!(
        "from {since} to {until} the stack was never empty, so one of these values lay at its bottom all that time; but"
    )];
    let (from, end) = (stays[first].surely.start, stays[last].surely.end);
    for stay in chain.iter().take(TOLD) {
        let value = put(*stay).and_then(|put| put.operation.value());
        let value = value.map_or(String::new(), |value| value.to_string());
        let late = put(*stay).filter(|_| stays[*stay].enters.start >= from);
        let early = taken(*stay).filter(|_| stays[*stay].leaves.end <= end);
        let late = late.map(|put| format!("its push began only at {}", moment(put.invoke)));
        let early = early.map(|taken| format!("its pop was over at {}", moment(taken.complete)));
        let why: Vec<String> = late.into_iter().chain(early).collect();
        lines.push(format!("it was not {value}: {}", why.join(", and ")));
    }
    if chain.len() > TOLD {
        lines.push(format!("nor was it one of the {} others, alike", chain.len() - TOLD));
    }
    lines
}
