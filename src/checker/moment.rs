//! Moments and lengths of time as checkers tell them: in seconds with three decimals, as runs of ours are
//! told; finer where an in-memory system does more within a millisecond.

use crate::op::{MILLISECOND, Nanos, SECOND};

const MICROSECOND: Nanos = 1_000;

/// Below this, a moment that is no whole millisecond is told in a finer unit: the history is short.
const EARLY: Nanos = 100 * MILLISECOND;

/// `12.405 s`, `18.017 ms`, `0.250 µs`.
pub fn seconds(time: Nanos) -> String {
    match time {
        _ if time >= EARLY || time.is_multiple_of(MILLISECOND) => in_seconds(time, 3),
        MILLISECOND.. => format!("{:.3} ms", time as f64 / MILLISECOND as f64),
        _ => format!("{:.3} µs", time as f64 / MICROSECOND as f64),
    }
}

/// Two moments, told so that they differ.
pub fn apart(one: Nanos, other: Nanos) -> (String, String) {
    let told = |decimals| (in_seconds(one, decimals), in_seconds(other, decimals));
    let usual = (seconds(one), seconds(other));
    match usual.0 == usual.1 && one != other {
        true if one / MICROSECOND == other / MICROSECOND => told(9),
        true => told(6),
        false => usual,
    }
}

/// A length of time: `12.405 ms`, `250 ns`.
pub fn milliseconds(length: Nanos) -> String {
    match length {
        1..MICROSECOND => format!("{length} ns"),
        _ => format!("{:.3} ms", length as f64 / MILLISECOND as f64),
    }
}

fn in_seconds(time: Nanos, decimals: usize) -> String {
    format!("{:.decimals$} s", time as f64 / SECOND as f64)
}

/// How finely the moments of a part of a history are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Usual,
    /// Several events happen within a millisecond.
    Fine,
}

impl Clock {
    /// By the mean distance of these moments.
    pub fn of(times: impl Iterator<Item = Nanos>) -> Clock {
        let fold = |(first, last, count): (Nanos, Nanos, u64), time: Nanos| {
            (first.min(time), last.max(time), count + 1)
        };
        let (first, last, count) = times.fold((Nanos::MAX, 0, 0), fold);
        match last.saturating_sub(first) / count.max(1) {
            MILLISECOND.. => Clock::Usual,
            _ if count < 2 => Clock::Usual,
            _ => Clock::Fine,
        }
    }

    pub fn told(self, time: Nanos) -> String {
        match self {
            Clock::Fine if time >= EARLY && !time.is_multiple_of(MILLISECOND) => {
                in_seconds(time, 6)
            }
            _ => seconds(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_in_milliseconds_unless_the_history_is_finer() {
        for (time, told) in [
            (0, "0.000 s"),
            (250, "0.250 µs"),
            (17_000, "17.000 µs"),
            (2 * MILLISECOND, "0.002 s"),
            (18_017_000, "18.017 ms"),
            (100_000_400, "0.100 s"),
            (12 * SECOND + 405_300_000, "12.405 s"),
        ] {
            assert_eq!(seconds(time), told);
        }
    }

    #[test]
    fn moments_that_matter_together_look_different() {
        let both = |one, other| {
            let (one, other) = apart(one, other);
            format!("{one}, {other}")
        };
        assert_eq!(both(SECOND, SECOND + 40 * MILLISECOND), "1.000 s, 1.040 s");
        assert_eq!(both(SECOND, SECOND + 40_000), "1.000000 s, 1.000040 s");
        assert_eq!(both(SECOND, SECOND + 4), "1.000000000 s, 1.000000004 s");
        assert_eq!(both(SECOND, SECOND), "1.000 s, 1.000 s");
    }

    #[test]
    fn a_clock_is_as_fine_as_its_events_are_close() {
        let each = |distance: Nanos| Clock::of((1..100).map(|n| SECOND + n * distance));
        assert_eq!((each(MILLISECOND * 2), each(1_000)), (Clock::Usual, Clock::Fine));
        assert_eq!(Clock::of(std::iter::once(5)), Clock::Usual);
        assert_eq!(Clock::Fine.told(SECOND + 1_600), "1.000002 s");
        assert_eq!(Clock::Usual.told(SECOND + 1_600), "1.000 s");
        assert_eq!((milliseconds(250), milliseconds(1_250)), ("250 ns".into(), "0.001 ms".into()));
    }
}
