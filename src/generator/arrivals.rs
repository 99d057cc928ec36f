//! The open loop: operations arrive at nodes at a global rate, whoever is free.

use super::rate::{Clock, Rate};
use super::{Context, Generator, Next, Scope, To, What};
use crate::op::Event;
use crate::rng::Rng;

/// Arrivals of a Poisson process, each at a node drawn from the stream.
///
/// An arrival at a node with no free process is dropped, so that a stalled node neither slows the
/// others nor is waited for. What arrives, and when, and where, is settled by the seed alone.
pub struct Arrivals<G> {
    clock: Clock,
    places: Rng,
    /// Where the next arrival will be, drawn once.
    node: Option<usize>,
    inner: G,
}

/// `inner` says what arrives; it is asked only when a process of the node is free, and sees nobody but
/// the one thread that is going to do it.
pub fn arrivals<G: Generator>(rate: Rate, rng: Rng, inner: G) -> Arrivals<G> {
    let places = rng.fork("places");
    Arrivals { clock: Clock::new(rate, rng.fork("times")), places, node: None, inner }
}

impl<G> Arrivals<G> {
    /// Nodes without any thread are not drawn: with fewer threads than nodes the last ones have none.
    fn node(&mut self, ctx: &Context) -> usize {
        *self.node.get_or_insert_with(|| {
            let range = ctx.range();
            let nodes = ctx.threads.nodes().min(range.len());
            ctx.threads.node_of(range.start + self.places.below(nodes as u64) as usize)
        })
    }

    fn advance(&mut self) {
        self.clock.advance();
        self.node = None;
    }
}

impl<G: Generator> Generator for Arrivals<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        let due = self.clock.due(ctx.time);
        if ctx.time < due {
            return Next::Wait { until: Some(due) };
        }
        let node = self.node(ctx);
        let Some(thread) = ctx.pick(To::Node(node)) else {
            self.advance();
            return Next::Dropped { node };
        };
        match self.inner.next(&ctx.within(Scope::threads(thread..thread + 1))) {
            Next::Do { what: what @ What::Call(_), to: To::Any | To::Thread(_) } => {
                self.advance();
                Next::Do { what, to: To::Thread(thread) }
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
    use std::time::Duration;

    use super::super::simulate::testing::{ok_after, read, run, starts};
    use super::super::{Asked, Reply, repeat, time_limit};
    use super::*;

    fn source() -> impl Generator {
        let rate = Rate::try_from(300.0).expect("a rate");
        time_limit(Duration::from_secs(10), arrivals(rate, Rng::from_seed(11), repeat(read())))
    }

    /// Node 1 never answers; the others answer in a millisecond.
    fn one_stalled(asked: &Asked) -> Option<Reply> {
        if asked.node == 1 { None } else { ok_after(1)(asked) }
    }

    #[test]
    fn arrivals_are_spread_over_the_nodes() {
        let run = run(source(), 30, 3, ok_after(1));
        let total = run.invocations.iter().sum::<u64>();
        assert!((2850..3150).contains(&total), "{total} at 300/s in 10 s");
        for count in &run.invocations {
            assert!((900..1100).contains(count), "{:?}", run.invocations);
        }
        assert_eq!(run.dropped, [0, 0, 0]);
    }

    #[test]
    fn a_stalled_node_drops_its_own_arrivals_and_slows_nobody() {
        let sound = run(source(), 30, 3, ok_after(1));
        let stalled = run(source(), 30, 3, one_stalled);
        assert_eq!(stalled.invocations[0], sound.invocations[0]);
        assert_eq!(stalled.invocations[2], sound.invocations[2]);
        assert_eq!(stalled.invocations[1], 10, "as many as it has threads");
        assert_eq!(stalled.dropped, [0, sound.invocations[1] - 10, 0]);
    }

    #[test]
    fn the_other_nodes_see_the_same_arrival_times() {
        let on = |node: usize, starts: Vec<(u64, usize)>| -> Vec<u64> {
            starts.into_iter().filter(|(_, at)| *at == node).map(|(time, _)| time).collect()
        };
        let sound = starts(source(), 30, 3, ok_after(1));
        let stalled = starts(source(), 30, 3, one_stalled);
        assert_eq!(on(0, sound.clone()), on(0, stalled.clone()));
        assert_eq!(on(2, sound), on(2, stalled));
    }

    #[test]
    fn what_arrives_may_depend_on_who_does_it() {
        let by_thread = super::super::calls(|ctx| {
            let thread = ctx.pick(To::Any).expect("somebody is free");
            crate::op::Call::Write { key: 1, value: thread as i64 }
        });
        let rate = Rate::try_from(300.0).expect("a rate");
        let all = time_limit(Duration::from_secs(1), arrivals(rate, Rng::from_seed(1), by_thread));
        let run = run(all, 7, 3, ok_after(20));
        assert!(run.events.len() > 200);
        for event in run.events.iter().filter(|event| event.kind == crate::op::Kind::Invoke) {
            let crate::op::Value::Int(thread) = event.value else { panic!("{event:?}") };
            assert_eq!(event.process, crate::op::Process::Client(thread as u32));
        }
    }

    #[test]
    fn a_node_without_threads_gets_no_arrivals() {
        let run = run(source(), 2, 3, ok_after(1));
        assert_eq!((run.invocations[2], run.dropped[2]), (0, 0));
    }
}
