//! A simulated world with one ZooKeeper ensemble: the agenda, the network, the servers, the clients.
//!
//! It is stepped from outside (see [`super::driver`]) and knows no real clock.

mod handle;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::task::Waker;

pub use handle::Handle;

use super::agenda::Agenda;
use super::clock::NodeClock;
use super::network::{Delivery, Endpoint, Network};
use super::process::{Process, ProcessState};
use super::zookeeper::{Client, Event, Host, Message, Server, Timer, Variant};
use crate::op::{MILLISECOND, Nanos};
use crate::rng::Rng;

/// A server process takes this long to start, as a JVM does.
const BOOT: (Nanos, Nanos) = (600 * MILLISECOND, 1200 * MILLISECOND);

/// What a frozen process finds when it is thawed.
#[derive(Debug)]
enum Kept {
    Packet(Delivery<Message>),
    Timer(Timer),
}

struct Node {
    server: Server,
    process: Process<Kept>,
    clock: NodeClock,
}

pub struct World {
    now: Nanos,
    agenda: Agenda<Event>,
    pub(super) network: Network<Message>,
    nodes: Vec<Node>,
    clients: BTreeMap<u32, Client>,
    next_client: u32,
    next_pid: u32,
    rng: Rng,
    client_clock: NodeClock,
    steps: u64,
    ended: bool,
    trace: Option<Vec<u8>>,
    /// Woken when something earlier than what it waits for has been put in.
    pub(super) driver: Option<(Nanos, Waker)>,
}

impl World {
    pub fn new(servers: u8, rng: &Rng, variant: Variant) -> World {
        let node = |index: u8| Node {
            server: Server::new(index + 1, servers, variant),
            process: Process::new(0),
            clock: NodeClock::default(),
        };
        let mut world = World {
            now: 0,
            agenda: Agenda::default(),
            network: Network::new(servers as usize, rng),
            nodes: (0..servers).map(node).collect(),
            clients: BTreeMap::new(),
            next_client: 1,
            next_pid: 1000,
            rng: rng.fork("world"),
            client_clock: NodeClock::default(),
            steps: 0,
            ended: false,
            trace: None,
            driver: None,
        };
        for node in 0..servers {
            world.boot(node);
        }
        world
    }

    /// Records every event from now on, for comparing runs byte by byte.
    pub fn record_trace(&mut self) {
        self.trace = Some(Vec::new());
    }

    pub fn trace(&self) -> &[u8] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// Events performed so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub fn next_at(&self) -> Option<Nanos> {
        self.agenda.next_at()
    }

    pub fn server(&self, node: u8) -> &Server {
        &self.nodes[node as usize].server
    }

    pub fn process_state(&self, node: u8) -> ProcessState {
        self.nodes[node as usize].process.state()
    }

    pub fn pid(&self, node: u8) -> Option<u32> {
        self.nodes[node as usize].process.pid()
    }

    /// Steps a node's wall clock and sets how fast its clocks run.
    pub fn skew(&mut self, node: u8, step_ns: i64, rate_ppm: i64) {
        let now = self.now;
        self.nodes[node as usize].clock.skew(now, step_ns, rate_ppm);
    }

    /// Performs all that is due by this time, in order.
    pub fn advance(&mut self, until: Nanos) {
        while let Some((at, event)) = self.agenda.pop_due(until) {
            self.now = at;
            self.steps += 1;
            self.perform(event);
        }
        self.now = until;
    }

    /// Nothing moves any more: all sessions are over.
    pub fn end(&mut self) {
        self.ended = true;
        self.driver = None;
        self.clients.values_mut().for_each(Client::abandon);
    }

    /// Sets the clock for a call from outside.
    pub fn enter(&mut self, now: Nanos) {
        self.now = self.now.max(now);
    }

    fn perform(&mut self, event: Event) {
        match event {
            Event::Network(event) => {
                if let Some(delivery) = self.network.happen(&mut self.agenda, self.now, event) {
                    self.deliver(delivery);
                }
            }
            Event::Server { node, pid, timer } => {
                self.note(&timer);
                let process = &mut self.nodes[node as usize].process;
                match process.state() {
                    _ if process.pid() != Some(pid) => {}
                    ProcessState::Paused => process.keep_timer(Kept::Timer(timer)),
                    _ => self.with_server(node, |server, host| server.timer(host, timer)),
                }
            }
            Event::Client { client, timer } => {
                self.note(&timer);
                self.with_client(client, |client, host| client.timer(host, timer));
                self.remove_if_done(client);
            }
        }
    }

    fn deliver(&mut self, delivery: Delivery<Message>) {
        self.note(&delivery);
        let Delivery { to, connection, signal } = delivery;
        match to {
            Endpoint::Client(client) => {
                self.with_client(client, |client, host| client.signal(host, connection, signal));
                self.remove_if_done(client);
            }
            Endpoint::Node(node) => {
                let process = &mut self.nodes[node as usize].process;
                if process.state() == ProcessState::Paused {
                    process.keep_packet(Kept::Packet(Delivery { to, connection, signal }));
                } else {
                    self.with_server(node, |server, host| {
                        server.signal(host, connection, signal);
                    });
                }
            }
        }
    }

    fn note(&mut self, what: &impl std::fmt::Debug) {
        if let Some(trace) = &mut self.trace {
            writeln!(trace, "{} {what:?}", self.now).expect("memory takes every write");
        }
    }

    fn with_server(&mut self, node: u8, f: impl FnOnce(&mut Server, &mut Host)) {
        let Node { server, process, clock } = &mut self.nodes[node as usize];
        let mut host = Host {
            now: self.now,
            endpoint: Endpoint::Node(node),
            pid: process.pid().unwrap_or_default(),
            network: &mut self.network,
            agenda: &mut self.agenda,
            rng: &mut self.rng,
            clock,
        };
        f(server, &mut host);
    }

    pub(super) fn with_client<T>(
        &mut self,
        id: u32,
        f: impl FnOnce(&mut Client, &mut Host) -> T,
    ) -> Option<T> {
        let client = self.clients.get_mut(&id)?;
        let mut host = Host {
            now: self.now,
            endpoint: Endpoint::Client(id),
            pid: 0,
            network: &mut self.network,
            agenda: &mut self.agenda,
            rng: &mut self.rng,
            clock: &self.client_clock,
        };
        Some(f(client, &mut host))
    }

    fn remove_if_done(&mut self, client: u32) {
        if self.clients.get(&client).is_some_and(Client::is_done) {
            self.clients.remove(&client);
        }
    }

    fn boot(&mut self, node: u8) {
        self.next_pid += 1;
        self.nodes[node as usize].process.start(self.next_pid);
        self.network.process_started(node);
        let after = self.rng.between(BOOT.0, BOOT.1);
        self.with_server(node, |server, host| server.boot(host, after));
    }

    /// SIGKILL: the process is gone, its connections are closed, its disk stays.
    pub fn kill(&mut self, node: u8) {
        self.network.process_died(&mut self.agenda, self.now, node);
        let Node { server, process, .. } = &mut self.nodes[node as usize];
        process.kill();
        server.crash();
    }

    pub fn start(&mut self, node: u8) {
        self.boot(node);
    }

    pub fn pause(&mut self, node: u8) {
        self.nodes[node as usize].process.pause();
    }

    pub fn resume(&mut self, node: u8) {
        for kept in self.nodes[node as usize].process.resume() {
            match kept {
                Kept::Packet(delivery) => self.deliver(delivery),
                Kept::Timer(timer) => {
                    self.with_server(node, |server, host| server.timer(host, timer));
                }
            }
        }
    }

    /// Sends a packet that shows whether a link passes; see [`Network::probe`].
    pub fn probe(&mut self, from: usize, to: usize) -> usize {
        self.network.probe(&mut self.agenda, self.now, from, to)
    }
}
