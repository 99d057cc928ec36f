//! How lengths of time are spread, in the two figures that people ask for.

use serde::{Deserialize, Serialize};

use crate::op::{MILLISECOND, Nanos};

/// Median and maximum of lengths of time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub count: u64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// `None` where there is nothing to spread.
    pub fn of(mut lengths: Vec<Nanos>) -> Option<Spread> {
        lengths.sort_unstable();
        let last = *lengths.last()?;
        let middle = lengths.len() / 2;
        let median = match lengths.len() % 2 {
            0 => lengths[middle - 1].midpoint(lengths[middle]),
            _ => lengths[middle],
        };
        let (median, max) = (milliseconds(median), milliseconds(last));
        Some(Spread { count: lengths.len() as u64, median, max })
    }
}

/// To the microsecond, so that results.json reads well.
fn milliseconds(nanos: Nanos) -> f64 {
    (nanos as f64 / MILLISECOND as f64 * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let of = |lengths: &[u64]| {
            let lengths = lengths.iter().map(|length| length * MILLISECOND).collect();
            Spread::of(lengths).map(|spread| (spread.count, spread.median, spread.max))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some((1, 7.0, 7.0)));
        assert_eq!(of(&[9, 1, 4]), Some((3, 4.0, 9.0)));
        assert_eq!(of(&[1, 4, 9, 5]), Some((4, 4.5, 9.0)));
    }
}
