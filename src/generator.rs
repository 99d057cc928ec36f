//! Generators say what happens next. They are pure: no clock, no socket, all chance from a seeded stream.
//!
//! A generator is asked at a moment (`Context`) and answers with something to do *now*, with the time
//! from which it should be asked again, or that it is done. It may be asked as often as the loop likes:
//! answering `Wait` changes nothing that matters. What it answers with `Do` can be done at once by
//! somebody whom the context includes, and is done: nobody asks and then throws the answer away.
//!
//! Combinators take generators and are generators:
//! `both(clients(arrivals(rate, rng, mix)), nemesis(schedule))`.

mod any;
mod arrivals;
mod concurrency;
mod context;
mod crew;
mod cycle;
mod delay;
mod each;
mod limit;
mod mix;
mod rate;
mod scoped;
mod sequence;
mod simulate;
mod source;
mod stagger;
mod synchronize;
mod threads;
mod time_limit;
mod until_ok;

use std::sync::Arc;

pub use any::{Any, any, both};
pub use arrivals::{Arrivals, arrivals};
pub use concurrency::{Concurrency, ConcurrencyError};
pub use context::{Context, Scope};
pub use crew::Crew;
pub use cycle::{Cycle, cycle};
pub use delay::{Delay, delay};
pub use each::{Each, each_process, each_thread};
pub use limit::{Limit, limit};
pub use mix::{Mix, mix};
pub use rate::{Rate, RateError};
pub use scoped::{Scoped, clients, nemesis, reserve};
pub use sequence::{Sequence, sequence};
pub use simulate::{Asked, Reply, Simulated, simulate};
pub use source::{Calls, Once, Repeat, calls, log, once, repeat};
pub use stagger::{Stagger, stagger};
pub use synchronize::{Synchronize, phases, synchronize};
pub use threads::Threads;
pub use time_limit::{TimeLimit, time_limit};
pub use until_ok::{UntilOk, until_ok};

use crate::op::{Call, Event, Nanos};

/// Whom an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Any free thread that carries data.
    Any,
    /// A free thread of this place, by its position among the places of the crew.
    Node(usize),
    /// Exactly this thread, which may be an operator's.
    Thread(usize),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Call(Call),
    /// A step of the nemesis, by the plan it belongs to.
    Nemesis(Step),
    /// A line in the log and the history, done by nobody.
    Log(Arc<str>),
}

impl From<Call> for What {
    fn from(call: Call) -> What {
        What::Call(call)
    }
}

impl From<Step> for What {
    fn from(step: Step) -> What {
        What::Nemesis(step)
    }
}

/// One step of a nemesis schedule: begin or end the `fault`-th fault of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Begin { fault: usize },
    End { fault: usize },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Do this now.
    Do { what: What, to: To },
    /// An operation arrived on time and no process was free on its node: count it and go on.
    Dropped { node: usize },
    /// Nothing now. Ask again at this time, or (`None`) after the next event.
    Wait { until: Option<Nanos> },
    /// Nothing ever again.
    Done,
}

impl Next {
    /// Nothing before the next event.
    pub const WAIT: Next = Next::Wait { until: None };

    /// What two sources say together when neither has anything now: the earlier of two waits.
    fn sooner(self, other: Next) -> Next {
        match (self, other) {
            (Next::Wait { until: Some(a) }, Next::Wait { until: Some(b) }) => {
                Next::Wait { until: Some(a.min(b)) }
            }
            (Next::Wait { until: a }, Next::Wait { until: b }) => Next::Wait { until: a.or(b) },
            (Next::Done, other) => other,
            (one, _) => one,
        }
    }
}

/// A source of operations.
pub trait Generator {
    fn next(&mut self, ctx: &Context) -> Next;

    /// Called for every event that the loop records, in order.
    ///
    /// The invocation of an operation is observed before the generator is asked again.
    fn observe(&mut self, _ctx: &Context, _event: &Event) {}
}

impl<G: Generator + ?Sized> Generator for Box<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        (**self).next(ctx)
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        (**self).observe(ctx, event);
    }
}

fn nanos(duration: std::time::Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}
