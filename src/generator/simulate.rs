//! Runs a generator against a simulated clock: a world of given latencies and outcomes, no cluster.
//!
//! For tests and benches. It checks what generators promise: that what they offer can be done at once.

use std::collections::BTreeMap;

use super::{Context, Generator, Next, Step, Threads, What};
use crate::name::Name;
use crate::op::{Event, Kind, Nanos, NodeName, Outcome, Process, Value};

/// An operation that the world is asked for.
pub struct Asked<'a> {
    pub time: Nanos,
    pub process: Process,
    /// The node's index; 0 for the nemesis.
    pub node: usize,
    pub what: &'a What,
    /// The operation's name: `read`, `write`, `begin`, ...
    pub f: &'a str,
}

/// What the world answers. The nemesis's steps only take time.
pub struct Reply {
    pub after: Nanos,
    pub outcome: Outcome,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Simulated {
    pub events: Vec<Event>,
    /// Invocations by node.
    pub invocations: Vec<u64>,
    /// Arrivals that found no free process, by node.
    pub dropped: Vec<u64>,
    /// When nothing more was to be done or to complete.
    pub end: Nanos,
    /// The generator waited for an event and none was to come.
    pub stuck: bool,
}

/// Runs the generator until it is done and everything has completed, or until nothing can happen.
///
/// The world answers each operation, or `None`: it never completes.
pub fn simulate(
    generator: &mut impl Generator,
    threads: Threads,
    world: impl FnMut(&Asked) -> Option<Reply>,
) -> Simulated {
    let nodes = threads.nodes() + threads.operators().len();
    let mut simulation = Simulation {
        threads,
        world,
        names: (0..nodes).map(|node| Name::from(format!("n{}", node + 1))).collect(),
        fs: ["begin", "end", "log"].map(Name::from),
        under_way: BTreeMap::new(),
        out: Simulated {
            invocations: vec![0; nodes],
            dropped: vec![0; nodes],
            ..Simulated::default()
        },
    };
    simulation.run(generator);
    simulation.out
}

struct Simulation<W> {
    threads: Threads,
    world: W,
    names: Vec<NodeName>,
    /// Shared names of operations: an event is made for each, so they are not made anew.
    fs: [Name; 3],
    /// Completions to come, by time and then by invocation; without a thread it is the nemesis's.
    under_way: BTreeMap<(Nanos, usize), (Option<usize>, Outcome)>,
    out: Simulated,
}

impl<W: FnMut(&Asked) -> Option<Reply>> Simulation<W> {
    fn run(&mut self, generator: &mut impl Generator) {
        let mut done = false;
        loop {
            let ctx = Context::new(self.out.end, &self.threads);
            let next = if done { Next::Done } else { generator.next(&ctx) };
            match next {
                Next::Do { what, to } => {
                    assert!(ctx.allows(&what, to), "{what:?} for {to:?} cannot be done now");
                    self.begin(generator, &what, to);
                }
                Next::Dropped { node } => self.out.dropped[node] += 1,
                Next::Wait { until } => {
                    if !self.advance(generator, until) {
                        self.out.stuck = true;
                        return;
                    }
                }
                Next::Done => {
                    done = true;
                    if !self.advance(generator, None) {
                        return;
                    }
                }
            }
        }
    }

    /// Goes on to the next completion, or to this time if that is earlier. False if there is neither.
    fn advance(&mut self, generator: &mut impl Generator, until: Option<Nanos>) -> bool {
        let completion = self.under_way.keys().next().map(|(time, _)| *time);
        match (completion, until) {
            (Some(time), until) if until.is_none_or(|until| time <= until) => {
                self.complete(generator);
                true
            }
            (_, Some(until)) => {
                assert!(until > self.out.end, "asked to wait until {until}, which has passed");
                self.out.end = until;
                true
            }
            (_, None) => false,
        }
    }

    fn begin(&mut self, generator: &mut impl Generator, what: &What, to: super::To) {
        let position = self.out.events.len();
        let thread = match what {
            What::Call(_) => {
                let thread = self.threads.pick(to).expect("just seen to be free");
                self.threads.take(thread);
                self.out.invocations[self.threads.node_of(thread)] += 1;
                Some(thread)
            }
            What::Nemesis(_) => {
                self.threads.nemesis_free = false;
                None
            }
            What::Log(_) => None,
        };
        let event = self.invocation(what, thread);
        self.record(generator, event);
        if !matches!(what, What::Log(_)) {
            self.ask(what, thread, position);
        }
    }

    fn ask(&mut self, what: &What, thread: Option<usize>, position: usize) {
        let event = &self.out.events[position];
        let node = thread.map_or(0, |thread| self.threads.node_of(thread));
        let asked = Asked { time: event.time, process: event.process, node, what, f: &event.f };
        if let Some(Reply { after, outcome }) = (self.world)(&asked) {
            self.under_way.insert((event.time.saturating_add(after), position), (thread, outcome));
        }
    }

    fn complete(&mut self, generator: &mut impl Generator) {
        let Some(((time, invocation), (thread, outcome))) = self.under_way.pop_first() else {
            return;
        };
        self.out.end = time;
        let mut event = Event { time, ..self.out.events[invocation].clone() };
        match thread {
            None => self.threads.nemesis_free = true,
            Some(thread) => {
                event.kind = outcome.kind();
                match outcome {
                    Outcome::Ok(value) => event.value = value,
                    Outcome::Fail(why) | Outcome::Info(why) => event.error = Some(why.into()),
                }
                self.threads.release(thread);
            }
        }
        let retired = thread.filter(|_| event.kind == Kind::Info);
        self.record(generator, event);
        if let Some(thread) = retired {
            self.threads.retire(thread);
        }
    }

    fn record(&mut self, generator: &mut impl Generator, mut event: Event) {
        event.index = self.out.events.len() as u64;
        generator.observe(&Context::new(self.out.end, &self.threads), &event);
        self.out.events.push(event);
    }

    fn invocation(&self, what: &What, thread: Option<usize>) -> Event {
        let json = |value: serde_json::Value| Value::Json(Box::new(value));
        let (f, key, value) = match what {
            What::Call(call) => (call.f().into(), call.key(), call.value()),
            What::Nemesis(Step::Begin { fault }) => (self.fs[0], None, Value::Int(*fault as i64)),
            What::Nemesis(Step::End { fault }) => (self.fs[1], None, Value::Int(*fault as i64)),
            What::Log(text) => (self.fs[2], None, json((**text).into())),
        };
        Event {
            index: 0,
            time: self.out.end,
            kind: if thread.is_some() { Kind::Invoke } else { Kind::Info },
            process: thread.map_or(Process::Nemesis, |thread| self.threads.process(thread)),
            node: thread.map(|thread| self.names[self.threads.node_of(thread)]),
            f,
            key,
            value,
            error: None,
            route: None,
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    //! Compact forms of what a generator did, for the tests of the combinators.

    use std::fmt::Write;

    use super::*;
    use crate::op::{Call, MILLISECOND};

    pub fn read() -> Call {
        Call::Read { key: 0 }
    }

    pub fn write(value: i64) -> Call {
        Call::Write { key: 0, value }
    }

    /// A world in which everything is `ok` after so many milliseconds.
    pub fn ok_after(milliseconds: u64) -> impl Fn(&Asked) -> Option<Reply> {
        move |asked| {
            let value = match asked.what {
                What::Call(call) => call.value(),
                _ => Value::Nil,
            };
            Some(Reply { after: milliseconds * MILLISECOND, outcome: Outcome::Ok(value) })
        }
    }

    pub fn run(
        mut source: impl Generator,
        concurrency: usize,
        nodes: usize,
        world: impl FnMut(&Asked) -> Option<Reply>,
    ) -> Simulated {
        simulate(&mut source, Threads::new(concurrency, nodes), world)
    }

    pub fn invocations(
        source: impl Generator,
        concurrency: usize,
        nodes: usize,
        world: impl FnMut(&Asked) -> Option<Reply>,
    ) -> u64 {
        run(source, concurrency, nodes, world).invocations.iter().sum()
    }

    /// When and at which node operations began.
    pub fn starts(
        source: impl Generator,
        concurrency: usize,
        nodes: usize,
        mut world: impl FnMut(&Asked) -> Option<Reply>,
    ) -> Vec<(Nanos, usize)> {
        let mut starts = Vec::new();
        run(source, concurrency, nodes, |asked| {
            starts.push((asked.time, asked.node));
            world(asked)
        });
        starts
    }

    /// One line an event.
    pub fn lines(
        source: impl Generator,
        concurrency: usize,
        nodes: usize,
        world: impl FnMut(&Asked) -> Option<Reply>,
    ) -> String {
        let run = run(source, concurrency, nodes, world);
        let mut text = String::new();
        for event in &run.events {
            let Event { time, process, kind, f, value, error, .. } = event;
            let time = time / MILLISECOND;
            let _ = write!(text, "{time}ms {process} {} {f} {value}", kind.name());
            if let Some(error) = error {
                let _ = write!(text, " {error:?}");
            }
            text.push('\n');
        }
        if run.stuck {
            text.push_str("stuck\n");
        }
        text
    }
}
