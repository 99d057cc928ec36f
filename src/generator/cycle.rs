//! The same generator over and over.

use super::{Context, Generator, Next};
use crate::op::Event;

/// Makes a fresh generator whenever the last one is done. It ends only if a fresh one is done at once.
pub struct Cycle<F, G> {
    make: F,
    current: Option<G>,
}

pub fn cycle<G: Generator, F: FnMut() -> G>(make: F) -> Cycle<F, G> {
    Cycle { make, current: None }
}

impl<G: Generator, F: FnMut() -> G> Generator for Cycle<F, G> {
    fn next(&mut self, ctx: &Context) -> Next {
        if let Some(current) = &mut self.current {
            match current.next(ctx) {
                Next::Done => {}
                next => return next,
            }
        }
        self.current.insert((self.make)()).next(ctx)
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        if let Some(current) = &mut self.current {
            current.observe(ctx, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read, write};
    use super::super::{limit, log, once, sequence};
    use super::*;

    #[test]
    fn begins_again_when_done() {
        let round = || {
            sequence(vec![Box::new(once(read())) as Box<dyn Generator>, Box::new(once(write(1)))])
        };
        expect![[r#"
            0ms 0 invoke read nil
            1ms 0 ok read nil
            1ms 0 invoke write 1
            2ms 0 ok write 1
            2ms 0 invoke read nil
            3ms 0 ok read nil
        "#]]
        .assert_eq(&lines(limit(3, cycle(round)), 1, 1, ok_after(1)));
    }

    #[test]
    fn nothing_over_and_over_is_nothing() {
        assert_eq!(lines(cycle(|| limit(0, log("never"))), 1, 1, ok_after(1)), "");
    }
}
