//! Which operations the latency plot shows: all of a small run, an honest sample of a large one.
//!
//! The page must open quickly whatever the history. What a reader looks for is never sampled away
//! first: the fastest and the slowest of each slice of time stay, and so do failures up to a bound.

use super::digest::{Digest, Operation};
use crate::op::{Kind, Nanos};

const OK_MAX: usize = 16_000;
const FAIL_OR_INFO_MAX: usize = 5_000;
/// Slices of time, about one for three pixels.
const SLICES: usize = 320;
/// The fastest, the slowest and one between.
const SLICE_MIN: usize = 3;

pub(super) struct Scatter {
    /// Positions in the digest's operations, in order of invocation.
    pub(super) shown: Vec<usize>,
    /// By outcome: how many of how many are shown, where it is not all.
    pub(super) reduced: Vec<Reduced>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reduced {
    pub(super) kind: Kind,
    pub(super) shown: usize,
    pub(super) total: usize,
}

pub(super) fn scatter(digest: &Digest) -> Scatter {
    let mut scatter = Scatter { shown: Vec::new(), reduced: Vec::new() };
    for (kind, limit) in
        [(Kind::Ok, OK_MAX), (Kind::Fail, FAIL_OR_INFO_MAX), (Kind::Info, FAIL_OR_INFO_MAX)]
    {
        let all: Vec<usize> = (0..digest.operations.len())
            .filter(|position| digest.operations[*position].kind() == kind)
            .collect();
        let total = all.len();
        let shown = if total <= limit { all } else { reduce(digest, all, limit) };
        if shown.len() < total {
            scatter.reduced.push(Reduced { kind, shown: shown.len(), total });
        }
        scatter.shown.extend(shown);
    }
    scatter.shown.sort_unstable();
    scatter
}

/// Gives each kind of operation its share of the limit, and at least a few points in each slice.
fn reduce(digest: &Digest, all: Vec<usize>, limit: usize) -> Vec<usize> {
    let total = all.len();
    let mut by_kind = vec![Vec::new(); digest.kinds.len()];
    for position in all {
        by_kind[digest.kind_index(&digest.operations[position].invoke.f)].push(position);
    }
    let mut shown = Vec::new();
    for positions in by_kind {
        let quota = (limit * positions.len() / total / SLICES).max(SLICE_MIN);
        for slice in slices(digest, positions) {
            shown.extend(thin(digest, slice, quota));
        }
    }
    shown
}

fn slices(digest: &Digest, positions: Vec<usize>) -> Vec<Vec<usize>> {
    let mut slices = vec![Vec::new(); SLICES];
    for position in positions {
        let time = digest.operations[position].invoke.time;
        slices[slice_of(time, digest.end)].push(position);
    }
    slices
}

fn slice_of(time: Nanos, end: Nanos) -> usize {
    (u128::from(time) * SLICES as u128 / (u128::from(end) + 1)) as usize
}

/// Keeps the slowest quarter of the quota whole, and an even sample by rank of the rest.
fn thin(digest: &Digest, mut slice: Vec<usize>, quota: usize) -> Vec<usize> {
    if slice.len() <= quota {
        return slice;
    }
    let latency = |position: &usize| {
        let operation: &Operation = &digest.operations[*position];
        operation.latency(digest.end)
    };
    slice.sort_by_key(|position| (latency(position), *position));
    let slowest = (quota / 4).max(1);
    let rest = slice.len() - slowest;
    let ranks = quota - slowest;
    let mut kept: Vec<usize> = (0..ranks).map(|rank| slice[rank * rest / ranks]).collect();
    kept.extend(&slice[rest..]);
    kept
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::history::History;
    use crate::op::{Event, MILLISECOND, Process, Value};

    /// One operation a millisecond; every 1,000th is slow, every 1,001st fails.
    fn history(operations: u64) -> History {
        let mut history = History::default();
        for number in 0..operations {
            let latency = if number % 1_000 == 7 { 900 } else { 1 + number % 5 };
            let kind = if number % 1_001 == 3 { Kind::Fail } else { Kind::Ok };
            let times = [number, number + latency];
            for (time, kind) in times.into_iter().zip([Kind::Invoke, kind]) {
                history.push(Event {
                    index: history.len() as u64,
                    time: time * MILLISECOND,
                    kind,
                    process: Process::Client(number as u32),
                    node: None,
                    f: crate::name::Name::from(if number % 50 == 0 { "cas" } else { "read" }),
                    key: None,
                    value: Value::Nil,
                    error: None,
                    route: None,
                });
            }
        }
        history
    }

    #[test]
    fn a_small_history_is_shown_whole() {
        let history = history(2_000);
        let scatter = scatter(&Digest::of(&history));
        assert_eq!(scatter.shown, (0..2_000).collect::<Vec<_>>());
        assert_eq!(scatter.reduced, []);
    }

    #[test]
    fn a_large_history_keeps_its_outliers_and_failures() {
        let history = history(100_000);
        let digest = Digest::of(&history);
        let scatter = scatter(&digest);
        assert!(scatter.shown.len() < OK_MAX + FAIL_OR_INFO_MAX, "{}", scatter.shown.len());
        let shown = |wanted: &dyn Fn(&Operation) -> bool| {
            scatter.shown.iter().filter(|position| wanted(&digest.operations[**position])).count()
        };
        assert_eq!(shown(&|op| op.latency(digest.end) == 900 * MILLISECOND), 100);
        assert_eq!(shown(&|op| op.kind() == Kind::Fail), 100);
        let [reduced] = scatter.reduced[..] else { panic!("{:?}", scatter.reduced) };
        assert_eq!((reduced.kind, reduced.total), (Kind::Ok, 99_900));
        assert!(scatter.shown.is_sorted() && scatter.shown.windows(2).all(|two| two[0] != two[1]));
    }
}
