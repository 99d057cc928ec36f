//! Routing: a generator that sees and uses only some of the processes.

use super::{Context, Generator, Next, Scope, To, What, any};
use crate::op::Event;

/// Asks its generator about fewer processes, and shows it their events only.
pub struct Scoped<G> {
    scope: Scope,
    inner: G,
}

/// For clients only: `synchronize` inside does not wait for the nemesis.
pub fn clients<G: Generator>(inner: G) -> Scoped<G> {
    Scoped { scope: Scope::CLIENTS, inner }
}

/// For the nemesis only.
pub fn nemesis<G: Generator>(inner: G) -> Scoped<G> {
    Scoped { scope: Scope::NEMESIS, inner }
}

/// Reserves client threads, from 0 upwards, for each generator in turn; `rest` has what is left.
///
/// A generator for which no thread is left counts as done.
pub fn reserve(
    ranges: Vec<(usize, Box<dyn Generator>)>,
    rest: impl Generator + 'static,
) -> super::Any {
    let mut branches: Vec<Box<dyn Generator>> = Vec::new();
    let mut first = 0;
    for (count, inner) in ranges {
        branches.push(Box::new(Scoped { scope: Scope::threads(first..first + count), inner }));
        first += count;
    }
    branches.push(Box::new(Scoped { scope: Scope::threads(first..usize::MAX), inner: rest }));
    any(branches)
}

impl<G> Scoped<G> {
    pub(super) fn new(scope: Scope, inner: G) -> Scoped<G> {
        Scoped { scope, inner }
    }
}

impl<G: Generator> Generator for Scoped<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        let within = ctx.within(self.scope);
        if within.is_nobody() {
            return Next::Done;
        }
        match self.inner.next(&within) {
            Next::Do { what: What::Call(call), to } if within.range() != ctx.range() => {
                // Outside the scope is settled who acts: the loop would pick from all threads.
                let thread = within.pick(to).expect("a generator offers what can be done at once");
                Next::Do { what: What::Call(call), to: To::Thread(thread) }
            }
            next => next,
        }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        let within = ctx.within(self.scope);
        if within.includes(event.process) {
            self.inner.observe(&within, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read, run, write};
    use super::super::{Asked, Step, both, limit, once, phases, repeat};
    use super::*;

    #[test]
    fn reserved_threads_serve_their_generator_only() {
        let source = reserve(
            vec![(2, Box::new(repeat(read())) as Box<dyn Generator>)],
            limit(6, repeat(write(1))),
        );
        let events = run(limit(40, source), 5, 2, ok_after(1)).events;
        for event in &events {
            let crate::op::Process::Client(id) = event.process else { panic!("no nemesis here") };
            assert_eq!(id < 2, &*event.f == "read", "{event:?}");
        }
        assert_eq!(events.iter().filter(|event| &*event.f == "write").count(), 12);
    }

    #[test]
    fn reserving_more_than_there_is_leaves_the_rest_done() {
        let source = reserve(
            vec![(9, Box::new(limit(3, repeat(read()))) as Box<dyn Generator>)],
            repeat(write(1)),
        );
        assert_eq!(run(source, 2, 1, ok_after(1)).invocations, [3]);
    }

    #[test]
    fn phases_of_clients_do_not_wait_for_the_nemesis() {
        let slow_fault = |asked: &Asked| {
            let fault = matches!(asked.what, What::Nemesis(_));
            ok_after(if fault { 100 } else { 1 })(asked)
        };
        let work = phases(vec![Box::new(once(read())), Box::new(once(write(1)))]);
        let all = both(nemesis(once(Step::Begin { fault: 2 })), clients(work));
        expect![[r#"
            0ms nemesis info begin 2
            0ms 0 invoke read nil
            1ms 0 ok read nil
            1ms 1 invoke write 1
            2ms 1 ok write 1
            100ms nemesis info begin 2
        "#]]
        .assert_eq(&lines(all, 2, 1, slow_fault));
    }
}
