//! Nothing new after a time.

use std::time::Duration;

use super::{Context, Generator, Next, nanos};
use crate::op::{Event, Nanos};

/// Is done this long after it was first asked. Operations under way then still complete.
pub struct TimeLimit<G> {
    length: Nanos,
    deadline: Option<Nanos>,
    inner: G,
}

pub fn time_limit<G: Generator>(length: Duration, inner: G) -> TimeLimit<G> {
    TimeLimit { length: nanos(length), deadline: None, inner }
}

impl<G: Generator> Generator for TimeLimit<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        let deadline = *self.deadline.get_or_insert_with(|| ctx.time.saturating_add(self.length));
        if ctx.time >= deadline {
            return Next::Done;
        }
        match self.inner.next(ctx) {
            Next::Wait { until } => {
                Next::Wait { until: Some(until.map_or(deadline, |until| until.min(deadline))) }
            }
            next => next,
        }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        self.inner.observe(ctx, event);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read};
    use super::super::{delay, once, phases, repeat};
    use super::*;

    #[test]
    fn counts_from_the_first_question_and_wakes_the_loop_at_its_end() {
        let limited = || {
            time_limit(Duration::from_millis(25), delay(Duration::from_millis(10), repeat(read())))
        };
        expect![[r#"
            0ms 0 invoke read nil
            3ms 0 ok read nil
            3ms 0 invoke read nil
            6ms 0 ok read nil
            13ms 0 invoke read nil
            16ms 0 ok read nil
            23ms 0 invoke read nil
            26ms 0 ok read nil
            28ms 0 invoke read nil
            31ms 0 ok read nil
        "#]]
        .assert_eq(&lines(
            phases(vec![Box::new(once(read())), Box::new(limited()), Box::new(once(read()))]),
            1,
            1,
            ok_after(3),
        ));
    }
}
