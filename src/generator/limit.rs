//! At most so many operations.

use super::{Context, Generator, Next, What};
use crate::op::Event;

/// Passes on this many calls or steps, then is done. Log lines and dropped arrivals do not count.
pub struct Limit<G> {
    left: u64,
    inner: G,
}

pub fn limit<G: Generator>(count: u64, inner: G) -> Limit<G> {
    Limit { left: count, inner }
}

impl<G: Generator> Generator for Limit<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        if self.left == 0 {
            return Next::Done;
        }
        let next = self.inner.next(ctx);
        if matches!(&next, Next::Do { what: What::Call(_) | What::Nemesis(_), .. }) {
            self.left -= 1;
        }
        next
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        self.inner.observe(ctx, event);
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulate::testing::{invocations, ok_after, read};
    use super::super::{log, repeat, sequence};
    use super::*;

    #[test]
    fn stops_after_the_count_and_does_not_count_log_lines() {
        assert_eq!(invocations(limit(3, repeat(read())), 2, 1, ok_after(1)), 3);
        assert_eq!(invocations(limit(0, repeat(read())), 2, 1, ok_after(1)), 0);
        let logged = sequence(vec![Box::new(log("here")), Box::new(repeat(read()))]);
        assert_eq!(invocations(limit(2, logged), 2, 1, ok_after(1)), 2);
    }
}
