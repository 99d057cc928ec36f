//! A copy of a generator for each client.

use super::{Context, Generator, Next, Scope, Scoped};
use crate::op::{Event, Process};

/// Gives each client thread, or each process, a generator of its own.
pub struct Each<F, G> {
    make: F,
    /// A new process gets a fresh copy, rather than what the thread's copy has left.
    renew: bool,
    /// By thread; empty where nobody has asked for it yet.
    copies: Vec<Option<Copy<G>>>,
    turn: usize,
}

struct Copy<G> {
    process: Process,
    /// `None` when done.
    generator: Option<Scoped<G>>,
}

/// One copy for each thread; it outlives the thread's processes.
pub fn each_thread<G: Generator, F: FnMut() -> G>(make: F) -> Each<F, G> {
    Each { make, renew: false, copies: Vec::new(), turn: 0 }
}

/// One copy for each process; after an `info` the thread's next process begins anew.
pub fn each_process<G: Generator, F: FnMut() -> G>(make: F) -> Each<F, G> {
    Each { make, renew: true, copies: Vec::new(), turn: 0 }
}

impl<G: Generator, F: FnMut() -> G> Each<F, G> {
    fn ask(&mut self, ctx: &Context, thread: usize) -> Next {
        let process = ctx.threads.process(thread);
        let slot = &mut self.copies[thread];
        if !matches!(slot, Some(copy) if copy.process == process || !self.renew) {
            let scope = Scope::threads(thread..thread + 1);
            let generator = Some(Scoped::new(scope, (self.make)()));
            *slot = Some(Copy { process, generator });
        }
        let Some(Copy { generator: Some(generator), .. }) = slot else { return Next::Done };
        // A busy thread's copy may yet have more to do, but nothing to be asked for.
        if !ctx.threads.is_free(thread) {
            return Next::WAIT;
        }
        let next = generator.next(ctx);
        if next == Next::Done {
            *slot = Some(Copy { process, generator: None });
        }
        next
    }
}

impl<G: Generator, F: FnMut() -> G> Generator for Each<F, G> {
    fn next(&mut self, ctx: &Context) -> Next {
        let range = ctx.range();
        if self.copies.len() < range.end {
            self.copies.resize_with(range.end, || None);
        }
        let mut soonest = Next::Done;
        for offset in 0..range.len() {
            let thread = range.start + (self.turn + offset) % range.len();
            match self.ask(ctx, thread) {
                quiet @ (Next::Wait { .. } | Next::Done) => soonest = soonest.sooner(quiet),
                next => {
                    self.turn = thread - range.start + 1;
                    return next;
                }
            }
        }
        soonest
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        let Process::Client(id) = event.process else { return };
        let thread = ctx.threads.thread_of(id);
        if let Some(Some(Copy { generator: Some(generator), .. })) = self.copies.get_mut(thread) {
            generator.observe(ctx, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read, write};
    use super::super::{Asked, Reply, limit, once, phases, repeat, until_ok};
    use super::*;
    use crate::op::{MILLISECOND, Outcome, Value};

    /// Process 1's first operation is unknown, everything else is ok.
    fn first_of_1_unknown(asked: &Asked) -> Option<Reply> {
        let outcome = match asked.process {
            Process::Client(1) => Outcome::Info("timeout".into()),
            _ => Outcome::Ok(Value::Nil),
        };
        Some(Reply { after: MILLISECOND, outcome })
    }

    #[test]
    fn each_thread_has_its_own_phases() {
        let own = || phases(vec![Box::new(once(write(1))), Box::new(once(read()))]);
        expect![[r#"
            0ms 0 invoke write 1
            0ms 1 invoke write 1
            1ms 0 ok write nil
            1ms 0 invoke read nil
            1ms 1 info write 1 "timeout"
            1ms 3 invoke read nil
            2ms 0 ok read nil
            2ms 3 ok read nil
        "#]]
        .assert_eq(&lines(each_thread(own), 2, 1, first_of_1_unknown));
    }

    #[test]
    fn a_new_process_begins_anew() {
        expect![[r#"
            0ms 0 invoke read nil
            0ms 1 invoke read nil
            1ms 0 ok read nil
            1ms 1 info read nil "timeout"
            1ms 3 invoke read nil
            2ms 3 ok read nil
        "#]]
        .assert_eq(&lines(each_process(|| once(read())), 2, 1, first_of_1_unknown));
    }

    #[test]
    fn each_thread_tries_until_ok() {
        let source = limit(9, each_thread(|| until_ok(repeat(read()))));
        expect![[r#"
            0ms 0 invoke read nil
            0ms 1 invoke read nil
            0ms 2 invoke read nil
            2ms 0 ok read nil
            2ms 1 ok read nil
            2ms 2 ok read nil
        "#]]
        .assert_eq(&lines(source, 3, 3, ok_after(2)));
    }
}
