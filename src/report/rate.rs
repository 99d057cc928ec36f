//! Completed operations a second, by kind of operation and outcome, in equal slices of time.

use super::digest::Digest;
use crate::op::{Kind, MILLISECOND, Nanos, SECOND};

const SLICES_MAX: u64 = 150;
/// Outcomes in the order of the plots' series.
pub(super) const OUTCOMES: [Kind; 3] = [Kind::Ok, Kind::Fail, Kind::Info];

pub(super) struct Rate {
    /// Where slices begin, and where the last one ends, in seconds.
    pub(super) edges: Vec<f64>,
    /// Operations a second by `kind of operation × 3 + outcome`, then by slice.
    pub(super) series: Vec<Vec<f64>>,
}

/// Operations that were never completed are in no slice.
pub(super) fn rate(digest: &Digest) -> Rate {
    let width = slice_width(digest.end);
    let slices = (digest.end / width).max(1);
    let mut counts = vec![vec![0_u64; slices as usize]; digest.kinds.len() * OUTCOMES.len()];
    for operation in &digest.operations {
        let Some(completion) = operation.completion else { continue };
        let slice = (completion.time / width).min(slices - 1) as usize;
        let series = digest.kind_index(&operation.invoke.f) * OUTCOMES.len();
        counts[series + outcome_index(completion.kind)][slice] += 1;
    }
    let seconds = |nanos: Nanos| nanos as f64 / SECOND as f64;
    // The last slice takes what is left over, so that it shows no false drop at the end.
    let edge = |slice: u64| if slice == slices { digest.end.max(1) } else { slice * width };
    let per_second = |slice: usize, count: u64| {
        let length = edge(slice as u64 + 1) - edge(slice as u64);
        (count as f64 / seconds(length) * 100.0).round() / 100.0
    };
    Rate {
        edges: (0..=slices).map(|slice| seconds(edge(slice))).collect(),
        series: counts
            .into_iter()
            .map(|row| row.iter().enumerate().map(|(at, count)| per_second(at, *count)).collect())
            .collect(),
    }
}

pub(super) fn outcome_index(kind: Kind) -> usize {
    OUTCOMES.iter().position(|outcome| *outcome == kind).unwrap_or(OUTCOMES.len() - 1)
}

/// The smallest round width that needs no more than `SLICES_MAX` slices.
fn slice_width(end: Nanos) -> Nanos {
    let mut width = 10 * MILLISECOND;
    for step in [2, 5, 2].into_iter().cycle() {
        if end / width <= SLICES_MAX {
            break;
        }
        width = if step == 5 { width / 2 * 5 } else { width * step };
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_round_and_bounded() {
        let widths: Vec<Nanos> = [0, 1, 2, 10, 60, 3_600, 86_400]
            .map(|seconds| slice_width(seconds * SECOND) / MILLISECOND)
            .into();
        assert_eq!(widths, [10, 10, 20, 100, 500, 50_000, 1_000_000]);
    }

    #[test]
    fn an_empty_history_has_one_empty_slice() {
        let rate = rate(&Digest::of(&crate::history::History::default()));
        assert_eq!((rate.edges.len(), rate.series.len()), (2, 0));
    }
}
