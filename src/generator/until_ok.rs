//! Trying again, as new operations, until one is `ok`.

use std::collections::BTreeSet;

use super::{Context, Generator, Next, What};
use crate::op::{Event, Kind, Process};

/// Passes operations on until one of them has completed `ok`, then is done.
pub struct UntilOk<G> {
    inner: G,
    /// The next invocation to be observed is of an operation of ours.
    offered: bool,
    pending: BTreeSet<Process>,
    succeeded: bool,
}

pub fn until_ok<G: Generator>(inner: G) -> UntilOk<G> {
    UntilOk { inner, offered: false, pending: BTreeSet::new(), succeeded: false }
}

impl<G: Generator> Generator for UntilOk<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        if self.succeeded {
            return Next::Done;
        }
        let next = self.inner.next(ctx);
        self.offered = matches!(next, Next::Do { what: What::Call(_), .. });
        next
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        if event.kind == Kind::Invoke {
            if std::mem::take(&mut self.offered) {
                self.pending.insert(event.process);
            }
        } else if self.pending.remove(&event.process) {
            self.succeeded |= event.kind == Kind::Ok;
        }
        self.inner.observe(ctx, event);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, read, write};
    use super::super::{Asked, Reply, any, once, repeat};
    use super::*;
    use crate::op::{MILLISECOND, Outcome, Value};

    #[test]
    fn tries_until_one_of_its_own_operations_is_ok() {
        let mut reads = 0;
        let world = move |asked: &Asked| {
            let outcome = match asked.f {
                "write" => Outcome::Ok(Value::Int(1)),
                _ => {
                    reads += 1;
                    match reads {
                        1 => Outcome::Fail("no".into()),
                        2 => Outcome::Info("timeout".into()),
                        _ => Outcome::Ok(Value::Nil),
                    }
                }
            };
            Some(Reply { after: MILLISECOND, outcome })
        };
        // The write's `ok` is not one of the reads'.
        let source = any(vec![Box::new(until_ok(repeat(read()))), Box::new(once(write(1)))]);
        expect![[r#"
            0ms 0 invoke read nil
            1ms 0 fail read nil "no"
            1ms 0 invoke write 1
            2ms 0 ok write 1
            2ms 0 invoke read nil
            3ms 0 info read nil "timeout"
            3ms 1 invoke read nil
            4ms 1 ok read nil
        "#]]
        .assert_eq(&lines(source, 1, 1, world));
    }
}
