//! One generator after another.

use std::collections::VecDeque;

use super::{Context, Generator, Next};
use crate::op::Event;

/// Goes on to the next generator as soon as one is done, without waiting for its operations.
pub struct Sequence(VecDeque<Box<dyn Generator>>);

pub fn sequence(parts: Vec<Box<dyn Generator>>) -> Sequence {
    Sequence(parts.into())
}

impl Generator for Sequence {
    fn next(&mut self, ctx: &Context) -> Next {
        while let Some(part) = self.0.front_mut() {
            match part.next(ctx) {
                Next::Done => drop(self.0.pop_front()),
                next => return next,
            }
        }
        Next::Done
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        if let Some(part) = self.0.front_mut() {
            part.observe(ctx, event);
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
    fn the_next_part_begins_while_the_last_one_s_operations_run() {
        let source = sequence(vec![
            Box::new(limit(2, repeat(read()))),
            Box::new(limit(0, repeat(read()))),
            Box::new(once(write(1))),
        ]);
        expect![[r#"
            0ms 0 invoke read nil
            0ms 1 invoke read nil
            0ms 2 invoke write 1
            9ms 0 ok read nil
            9ms 1 ok read nil
            9ms 2 ok write 1
        "#]]
        .assert_eq(&lines(source, 3, 1, ok_after(9)));
    }
}
