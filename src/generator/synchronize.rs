//! Waiting until everybody is free.

use super::{Context, Generator, Next, Sequence, sequence};
use crate::op::Event;

/// Begins only when everybody who may be used is free.
pub struct Synchronize<G> {
    begun: bool,
    inner: G,
}

pub fn synchronize<G: Generator>(inner: G) -> Synchronize<G> {
    Synchronize { begun: false, inner }
}

/// One generator after another, each beginning when all operations of the one before have completed.
pub fn phases(parts: Vec<Box<dyn Generator>>) -> Sequence {
    let synchronized = |part| Box::new(synchronize(part)) as Box<dyn Generator>;
    sequence(parts.into_iter().map(synchronized).collect())
}

impl<G: Generator> Generator for Synchronize<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        self.begun |= ctx.all_free();
        if self.begun { self.inner.next(ctx) } else { Next::WAIT }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        if self.begun {
            self.inner.observe(ctx, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read, write};
    use super::super::{limit, once, repeat};
    use super::*;

    #[test]
    fn a_phase_begins_when_the_last_operation_before_it_has_completed() {
        let mut latency = 0;
        let slower_each_time = move |asked: &super::super::Asked| {
            latency += 10;
            ok_after(latency)(asked)
        };
        let source = phases(vec![
            Box::new(limit(2, repeat(read()))),
            Box::new(limit(2, repeat(write(1)))),
            Box::new(once(read())),
        ]);
        expect![[r#"
            0ms 0 invoke read nil
            0ms 1 invoke read nil
            10ms 0 ok read nil
            20ms 1 ok read nil
            20ms 0 invoke write 1
            20ms 1 invoke write 1
            50ms 0 ok write 1
            60ms 1 ok write 1
            60ms 0 invoke read nil
            110ms 0 ok read nil
        "#]]
        .assert_eq(&lines(source, 2, 1, slower_each_time));
    }
}
