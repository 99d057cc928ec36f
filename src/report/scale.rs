//! What moments of a drawn history stand for: times, or the events themselves where nobody kept times.

use crate::checker::moment::apart;
use crate::op::{Nanos, SECOND};
use crate::report::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Scale {
    #[default]
    Time,
    /// A second for each event.
    Events,
}

impl Scale {
    pub(super) fn moment(self, moment: Nanos) -> String {
        match self {
            Scale::Time => words::moment(moment),
            Scale::Events => event(moment),
        }
    }

    pub(super) fn fine_moment(self, moment: Nanos) -> String {
        match self {
            Scale::Time => words::fine_moment(moment),
            Scale::Events => event(moment),
        }
    }

    /// `0.900 s to 1.200 s`; moments that differ look different.
    pub(super) fn span(self, from: Nanos, to: Nanos) -> String {
        let usual = (self.moment(from), self.moment(to));
        let (from, to) = match usual.0 == usual.1 && from != to {
            true => apart(from, to),
            false => usual,
        };
        format!("{from} to {to}")
    }

    pub(super) fn length(self, length: Nanos) -> String {
        match self {
            Scale::Time => words::duration(length),
            Scale::Events => words::plural((length / SECOND) as usize, "event", "events"),
        }
    }

    /// The label of a moment on an axis with this step; none between two events.
    pub(super) fn tick(self, moment: Nanos, step: Nanos) -> Option<String> {
        match self {
            Scale::Events if !moment.is_multiple_of(SECOND) => None,
            Scale::Events => Some(event(moment)),
            Scale::Time => {
                let fits = |decimals: &u32| step.is_multiple_of(SECOND / 10_u64.pow(*decimals));
                let decimals = (0..6).find(fits).unwrap_or(6) as usize;
                Some(format!("{:.decimals$} s", moment as f64 / SECOND as f64))
            }
        }
    }
}

fn event(moment: Nanos) -> String {
    format!("event {}", moment / SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nobody_kept_times_none_are_told() {
        let scale = Scale::Events;
        assert_eq!(scale.span(0, 3 * SECOND), "event 0 to event 3");
        assert_eq!(scale.length(SECOND), "1 event");
        assert_eq!(scale.length(140 * SECOND), "140 events");
        assert_eq!(scale.tick(2 * SECOND, SECOND), Some("event 2".into()));
        assert_eq!(scale.tick(SECOND / 2, SECOND / 2), None);
    }

    #[test]
    fn moments_within_a_millisecond_look_different() {
        assert_eq!(Scale::Time.span(1_000, 5_000), "1.000 µs to 5.000 µs");
        assert_eq!(Scale::Time.span(SECOND, SECOND + 5_000), "1.000000 s to 1.000005 s");
        assert_eq!(Scale::Time.span(SECOND, 2 * SECOND), "1.000 s to 2.000 s");
        assert_eq!(Scale::Time.tick(1_000, 1_000), Some("0.000001 s".into()));
    }
}
