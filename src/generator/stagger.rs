//! Random gaps between operations, as in an open loop.

use super::rate::{Clock, Rate};
use super::{Context, Generator, Next};
use crate::op::Event;
use crate::rng::Rng;

/// Lets operations go at the arrivals of a Poisson process with this mean rate.
///
/// The arrivals do not depend on completions: operations that found nobody free go, late, as soon as
/// somebody is, until the schedule is caught up with. Where late ones are to be dropped, use
/// `arrivals`.
pub struct Stagger<G> {
    clock: Clock,
    inner: G,
}

pub fn stagger<G: Generator>(rate: Rate, rng: Rng, inner: G) -> Stagger<G> {
    Stagger { clock: Clock::new(rate, rng), inner }
}

impl<G: Generator> Generator for Stagger<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        let due = self.clock.due(ctx.time);
        if ctx.time < due {
            return Next::Wait { until: Some(due) };
        }
        let next = self.inner.next(ctx);
        if matches!(next, Next::Do { .. } | Next::Dropped { .. }) {
            self.clock.advance();
        }
        next
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        self.inner.observe(ctx, event);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::simulate::testing::{invocations, ok_after, read, starts};
    use super::super::{limit, repeat, time_limit};
    use super::*;

    fn rate(per_second: f64) -> Rate {
        Rate::try_from(per_second).expect("a rate")
    }

    #[test]
    fn the_schedule_is_kept_whatever_completions_do() {
        let staggered = |latency| {
            let source = stagger(rate(100.0), Rng::from_seed(1), limit(50, repeat(read())));
            starts(source, 64, 1, ok_after(latency))
        };
        assert_eq!(staggered(1), staggered(400), "enough processes: the same starts");
        assert_eq!(staggered(1).len(), 50);
    }

    #[test]
    fn one_process_catches_up_after_a_slow_operation() {
        let source = || {
            let staggered = stagger(rate(100.0), Rng::from_seed(1), repeat(read()));
            time_limit(Duration::from_secs(10), staggered)
        };
        let unhindered = invocations(source(), 64, 1, ok_after(1));
        let mut slow_once = true;
        let hindered = invocations(source(), 1, 1, move |asked| {
            let slow = std::mem::take(&mut slow_once);
            ok_after(if slow { 2000 } else { 1 })(asked)
        });
        assert!((900..1100).contains(&unhindered), "{unhindered} at 100/s in 10 s");
        assert!(unhindered - hindered <= 1, "{hindered} of {unhindered} after a slow start");
    }
}
