//! The run loop: the one place that juggles futures. It drives either world through its traits, asks
//! generators what is next, performs it, and records every event in the order it saw it.
//!
//! Phases: main (workload and nemesis) → heal (undo every fault, prove it) → recover (await a healthy
//! view, workload running) → drain (final reads). It never judges and never writes a file.

mod fault;
mod hit;
mod invoke;
mod office;
mod phase;
mod sink;
mod znode;

use std::collections::BTreeMap;

use futures::future::LocalBoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::time::{Instant, sleep_until};

pub use sink::{Interrupt, Sink};

use crate::cluster::{Action, Check, Client, Cluster, Concerning, FaultId, Observed, Role, View};
use crate::generator::{Context, Crew, Generator, Next, Step, Threads, To, What};
use crate::history::History;
use crate::nemesis::{Deed, Entry, FaultRecord, Phase, Schedule, Script, Turns};
use crate::op::{Call, Completion, Event, Kind, Nanos, NodeName, Process, Value};
use crate::rng::Rng;
use crate::scenario::NamedFault;
use crate::watch::Violation;
use phase::LastLook;

/// What a run is to do. All chance comes from `rng`.
pub struct Settings {
    pub operation_timeout: Nanos,
    /// Length of the main phase.
    pub main: Nanos,
    pub recover_within: Nanos,
    pub faults: Vec<NamedFault>,
    /// Whose leader faults mean that name no role.
    pub leader: Role,
    /// A schedule that is given, in place of `faults`.
    pub script: Option<Script>,
    /// Of nemeses whose faults come one at a time.
    pub turns: BTreeMap<String, Turns>,
    pub rng: Rng,
}

/// Makes a fresh client.
pub type MakeClient<'a, K> = Box<dyn Fn(Seat) -> K + 'a>;

/// Which client a call is for: its thread, the process that the thread now is, and its node.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    pub thread: usize,
    pub process: Process,
    pub node: NodeName,
}

/// Where operations come from and who performs them.
pub struct Work<'a, K> {
    /// Who performs them, and where.
    pub crew: Crew,
    /// Client operations for main, heal and recover; endless.
    pub main: Box<dyn Generator>,
    /// Final operations, made from what `main` has done so far.
    pub drain: Box<dyn FnOnce() -> Box<dyn Generator>>,
    /// A fresh client for this seat.
    pub client: MakeClient<'a, K>,
}

/// What a run left behind.
pub struct Ran {
    pub history: History,
    /// Arrivals that found no free process, by node.
    pub dropped: BTreeMap<NodeName, u64>,
    /// Failures of the harness itself, first one first.
    pub harness: Vec<String>,
    /// How often the user asked to stop.
    pub interrupts: u32,
}

/// Something that was under way and has ended.
enum Done<K> {
    Called { thread: usize, call: Call, client: Option<K>, completion: Completion },
    Viewed { position: usize, view: View, session: Option<i64> },
    Acted { fault: FaultId, position: usize, step: Step, deeds: Vec<Deed>, errors: Vec<String> },
    Looked { view: View },
    Verified { fault: FaultId, check: Check },
}

/// What a client thread is doing.
#[derive(Clone, Copy, Default)]
struct Asked {
    /// When its operation under way was invoked.
    at: Nanos,
    /// It has completed an `ok` that was invoked since recover began.
    answered: bool,
}

/// A fault that is installed, or may be.
struct InForce {
    position: usize,
    actions: Vec<Action>,
}

struct Loop<'a, C: Cluster, K: Client> {
    cluster: &'a C,
    settings: &'a Settings,
    start: Instant,
    phase: Phase,
    phase_since: Nanos,
    crew: Crew,
    threads: Threads,
    /// Places of data threads, then each operator's.
    nodes: Vec<NodeName>,
    clients: Vec<Option<K>>,
    make_client: MakeClient<'a, K>,
    work: Box<dyn Generator>,
    drain: Option<Box<dyn FnOnce() -> Box<dyn Generator>>>,
    work_done: bool,
    schedule: Schedule,
    rng: Rng,
    next_fault: u32,
    in_force: BTreeMap<FaultId, InForce>,
    /// Of all faults that have begun, also those that are over.
    positions: BTreeMap<FaultId, usize>,
    asked: Vec<Asked>,
    looking: bool,
    look_at: Nanos,
    /// When the final reads were over.
    drained_at: Option<Nanos>,
    last_look: LastLook,
    healthy: bool,
    last_view: View,
    fallen: office::Fallen,
    /// When a view was last taken note of.
    viewed_at: Nanos,
    /// Nemesis steps under way.
    acting: usize,
    running: FuturesUnordered<LocalBoxFuture<'a, Done<K>>>,
    /// Watches on znodes: no phase waits for them.
    watching: FuturesUnordered<LocalBoxFuture<'a, Box<znode::Seen>>>,
    observing: LocalBoxFuture<'a, Observed>,
    trouble: Option<LocalBoxFuture<'a, String>>,
    sink: &'a mut dyn Sink,
    interrupt: &'a Interrupt,
    /// A promise was seen broken during main.
    violated: bool,
    ran: Ran,
}

/// Runs the whole scenario against a cluster that is up.
pub async fn run<'a, C: Cluster, K: Client + 'a>(
    cluster: &'a C,
    settings: &'a Settings,
    work: Work<'a, K>,
    sink: &'a mut dyn Sink,
    interrupt: &'a Interrupt,
) -> Ran {
    let Work { crew, main, drain, client } = work;
    let nodes = crew.places.iter().chain(&crew.operators).copied().collect();
    let threads = Threads::of(&crew);
    let entries = settings.faults.iter();
    let entries = entries.map(|named| Entry { nemesis: &named.nemesis, fault: &named.fault });
    let rng = settings.rng.fork("schedule");
    let run = Loop {
        cluster,
        settings,
        start: Instant::now(),
        phase: Phase::Up,
        phase_since: 0,
        clients: (0..crew.threads()).map(|_| None).collect(),
        asked: vec![Asked::default(); crew.threads()],
        crew,
        threads,
        nodes,
        make_client: client,
        work: main,
        drain: Some(drain),
        work_done: false,
        schedule: match &settings.script {
            Some(script) => Schedule::scripted(script, settings.main),
            None => {
                let (turns, leader) = (&settings.turns, settings.leader);
                Schedule::new(entries, turns, leader, settings.main, &rng)
            }
        },
        rng: settings.rng.fork("nemesis"),
        next_fault: 1,
        in_force: BTreeMap::new(),
        positions: BTreeMap::new(),
        looking: false,
        look_at: 0,
        drained_at: None,
        last_look: LastLook::NotYet,
        healthy: false,
        last_view: View::default(),
        fallen: office::Fallen::default(),
        viewed_at: 0,
        acting: 0,
        running: FuturesUnordered::new(),
        watching: FuturesUnordered::new(),
        observing: cluster.observed().boxed_local(),
        trouble: Some(cluster.trouble().boxed_local()),
        sink,
        interrupt,
        violated: false,
        ran: Ran {
            history: History::default(),
            dropped: BTreeMap::new(),
            harness: Vec::new(),
            interrupts: 0,
        },
    };
    run.drive().await
}

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    async fn drive(mut self) -> Ran {
        self.watch_znodes();
        self.enter(Phase::Main);
        self.leave_out_lacking();
        loop {
            self.note_interrupts();
            self.note_violation();
            let wake = self.dispatch();
            if self.phase_is_over() {
                if !self.next_phase() {
                    return self.finish();
                }
                continue;
            }
            let wake = wake.map(|at| self.start + std::time::Duration::from_nanos(at));
            tokio::select! {
                biased;
                Some(done) = self.running.next() => self.complete(done),
                observed = &mut self.observing => self.observed(observed),
                Some(seen) = self.watching.next() => self.znode_seen(*seen),
                what = async { self.trouble.as_mut().expect("checked").await }, if self.trouble.is_some() => {
                    self.trouble = None;
                    self.fail_harness(what);
                }
                () = self.interrupt.raised() => {}
                () = async { sleep_until(wake.unwrap_or(self.start)).await }, if wake.is_some() => {}
            }
        }
    }

    /// Something that the world was asked to look out for, or a message that a fault has hit.
    fn observed(&mut self, observed: Observed) {
        self.observing = self.cluster.observed().boxed_local();
        match observed.concerning {
            Concerning::Lookout(lookout) => self.lookout_saw(lookout, &observed),
            Concerning::Fault(fault) => self.hit(fault, observed),
        }
    }

    fn note_interrupts(&mut self) {
        let count = self.interrupt.count();
        if count > self.ran.interrupts {
            self.ran.interrupts = count;
            self.record_nemesis("interrupted", &FaultRecord::Interrupted { count });
        }
    }

    /// The first one ends the main phase; what follows is as ever, so that it is judged as ever.
    fn note_violation(&mut self) {
        if self.violated || self.phase != Phase::Main {
            return;
        }
        if let Some(Violation { kind, summary }) = self.sink.violation() {
            self.violated = true;
            self.record_nemesis("violation", &FaultRecord::Violation { kind, summary });
        }
    }

    fn now(&self) -> Nanos {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
    }

    /// Starts all that is due and returns the time at which to look again, if any.
    fn dispatch(&mut self) -> Option<Nanos> {
        let work = self.dispatch_work();
        let nemesis = self.dispatch_nemesis();
        let phase = self.dispatch_phase();
        [work, nemesis, phase].into_iter().flatten().min()
    }

    fn dispatch_work(&mut self) -> Option<Nanos> {
        while !self.work_done {
            let context = Context::new(self.now(), &self.threads);
            match self.work.next(&context) {
                Next::Do { what, to } => self.begin(what, to),
                Next::Dropped { node } => *self.dropped_on(node) += 1,
                Next::Wait { until } => return until,
                Next::Done => self.work_done = true,
            }
        }
        None
    }

    fn dropped_on(&mut self, node: usize) -> &mut u64 {
        self.ran.dropped.entry(self.nodes[node]).or_default()
    }

    fn begin(&mut self, what: What, to: To) {
        match what {
            What::Call(call) => match self.threads.pick(to) {
                Some(thread) => self.invoke(thread, call),
                None => self.fail_harness(format!("no free process for {call:?}, sent to {to:?}")),
            },
            What::Nemesis(step) => self.begin_step(step),
            What::Log(line) => {
                let value = Value::Json(Box::new(line.as_ref().into()));
                self.record(Event { value, ..Event::new(Kind::Info, Process::Nemesis, "log") });
            }
        }
    }

    fn complete(&mut self, done: Done<K>) {
        match done {
            Done::Called { thread, call, client, completion } => {
                self.returned(thread, &call, client, completion);
            }
            Done::Viewed { position, view, session } => {
                self.plan(position, self.fallen.disown(view), session);
            }
            Done::Acted { fault, position, step, deeds, errors } => {
                self.acted(fault, position, step, deeds, errors);
            }
            Done::Looked { view } => self.looked(self.fallen.disown(view)),
            Done::Verified { fault, check } => self.verified(fault, check),
        }
    }

    /// Numbers, stores and announces one event.
    fn record(&mut self, event: Event) {
        let index = self.ran.history.len() as u64;
        let event = Event { index, time: self.now(), ..event };
        self.sink.record(&event);
        self.schedule.observe(&event);
        self.work.observe(&Context::new(event.time, &self.threads), &event);
        self.ran.history.push(event);
    }

    fn record_nemesis(&mut self, f: &str, record: &FaultRecord) {
        let value = record.to_value();
        self.record(Event { value, ..Event::new(Kind::Info, Process::Nemesis, f) });
    }

    /// The first failure of the harness is sticky: the run heals, collects and ends.
    fn fail_harness(&mut self, error: String) {
        self.record_nemesis("harness", &FaultRecord::Harness { error: error.clone() });
        self.ran.harness.push(error);
    }

    fn finish(mut self) -> Ran {
        for (node, count) in self.ran.dropped.clone() {
            self.record_nemesis("dropped", &FaultRecord::Dropped { node, count });
        }
        self.enter(Phase::Down);
        self.ran
    }
}
