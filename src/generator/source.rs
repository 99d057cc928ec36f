//! Where operations come from: a function of the moment, one operation for ever, one operation once.

use std::sync::Arc;

use super::{Context, Generator, Next, To, What};
use crate::op::Call;

/// Calls made by a function, whenever a process is free. It never ends.
pub struct Calls<F>(F);

pub fn calls<F: FnMut(&Context) -> Call>(make: F) -> Calls<F> {
    Calls(make)
}

impl<F: FnMut(&Context) -> Call> Generator for Calls<F> {
    fn next(&mut self, ctx: &Context) -> Next {
        match ctx.pick(To::Any) {
            Some(_) => Next::Do { what: What::Call((self.0)(ctx)), to: To::Any },
            None => Next::WAIT,
        }
    }
}

/// The same operation whenever it can be done. It never ends.
pub struct Repeat(What);

pub fn repeat(what: impl Into<What>) -> Repeat {
    Repeat(what.into())
}

impl Generator for Repeat {
    fn next(&mut self, ctx: &Context) -> Next {
        if ctx.allows(&self.0, To::Any) {
            Next::Do { what: self.0.clone(), to: To::Any }
        } else {
            Next::WAIT
        }
    }
}

/// One operation, as soon as it can be done.
pub struct Once(Option<What>);

pub fn once(what: impl Into<What>) -> Once {
    Once(Some(what.into()))
}

/// One line in the log and the history.
pub fn log(text: &str) -> Once {
    Once(Some(What::Log(Arc::from(text))))
}

impl Generator for Once {
    fn next(&mut self, ctx: &Context) -> Next {
        match self.0.take_if(|what| ctx.allows(what, To::Any)) {
            Some(what) => Next::Do { what, to: To::Any },
            None if self.0.is_some() => Next::WAIT,
            None => Next::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read, write};
    use super::super::{limit, sequence};
    use super::*;

    #[test]
    fn operations_wait_for_a_free_process() {
        let mut source = 0;
        let numbered = calls(move |_| {
            source += 1;
            write(source)
        });
        let all = sequence(vec![
            Box::new(log("begin")),
            Box::new(once(read())),
            Box::new(limit(2, numbered)),
        ]);
        expect![[r#"
            0ms nemesis info log "begin"
            0ms 0 invoke read nil
            0ms 1 invoke write 1
            5ms 0 ok read nil
            5ms 0 invoke write 2
            5ms 1 ok write 1
            10ms 0 ok write 2
        "#]]
        .assert_eq(&lines(all, 2, 1, ok_after(5)));
    }
}
