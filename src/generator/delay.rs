//! A fixed gap between operations.

use std::time::Duration;

use super::{Context, Generator, Next, nanos};
use crate::op::{Event, Nanos};

/// Keeps operations at least this far apart, counted from when the last one began.
///
/// Where operations are slow this slows down with them; use `stagger` or `arrivals` for an open loop.
pub struct Delay<G> {
    gap: Nanos,
    due: Nanos,
    inner: G,
}

pub fn delay<G: Generator>(gap: Duration, inner: G) -> Delay<G> {
    Delay { gap: nanos(gap), due: 0, inner }
}

impl<G: Generator> Generator for Delay<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        if ctx.time < self.due {
            return Next::Wait { until: Some(self.due) };
        }
        let next = self.inner.next(ctx);
        if matches!(next, Next::Do { .. } | Next::Dropped { .. }) {
            self.due = ctx.time.saturating_add(self.gap);
        }
        next
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        self.inner.observe(ctx, event);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read};
    use super::super::{limit, repeat};
    use super::*;

    #[test]
    fn operations_are_a_gap_apart_or_as_slow_as_they_are() {
        let spaced = || limit(3, delay(Duration::from_millis(10), repeat(read())));
        expect![[r#"
            0ms 0 invoke read nil
            4ms 0 ok read nil
            10ms 0 invoke read nil
            14ms 0 ok read nil
            20ms 0 invoke read nil
            24ms 0 ok read nil
        "#]]
        .assert_eq(&lines(spaced(), 1, 1, ok_after(4)));
        expect![[r#"
            0ms 0 invoke read nil
            15ms 0 ok read nil
            15ms 0 invoke read nil
            30ms 0 ok read nil
            30ms 0 invoke read nil
            45ms 0 ok read nil
        "#]]
        .assert_eq(&lines(spaced(), 1, 1, ok_after(15)));
    }
}
