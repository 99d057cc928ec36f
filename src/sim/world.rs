//! A simulated world with one ZooKeeper ensemble: the agenda, the network, the servers, the clients.
//!
//! It is stepped from outside (see [`super::driver`]) and knows no real clock.

mod faults;
mod handle;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::task::Waker;

pub use handle::Handle;

use super::agenda::Agenda;
use super::clock::NodeClock;
use super::network::{Delivery, Endpoint, Network, Signal};
use super::process::{Process, ProcessState};
use super::sightings::Sightings;
use super::zookeeper::{Client, Event, Host, Interposer, Message, Passage, Server, Timer, Variant};
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
    pub(super) interposer: Interposer,
    pub(super) sightings: Sightings,
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
            interposer: Interposer::default(),
            sightings: Sightings::default(),
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
                    _ => {
                        // Its log lines, and the runtime it stands for, look at the time of day.
                        self.nodes[node as usize].clock.read_wall_ms(self.now);
                        self.with_server(node, |server, host| server.timer(host, timer));
                    }
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
        let passage = self.interpose(&delivery);
        if passage == Passage::Never {
            return;
        }
        if let (Passage::Twice, Signal::Message(message)) = (passage, &delivery.signal) {
            let signal = Signal::Message(message.clone());
            self.hand_over(Delivery { signal, ..delivery });
        }
        self.hand_over(delivery);
    }

    /// What stands before a server sees what arrives there.
    fn interpose(&mut self, delivery: &Delivery<Message>) -> Passage {
        if self.interposer.is_idle() {
            return Passage::Once;
        }
        let id = delivery.connection;
        match &delivery.signal {
            Signal::Closed => self.interposer.ended(&mut self.sightings, id),
            Signal::Message(message) => {
                let Some(ends) = self.network.ends(id) else { return Passage::Once };
                if delivery.to == ends.callee {
                    let hosts = [ends.caller, ends.callee].map(|end| self.network.host(end));
                    let sightings = &mut self.sightings;
                    let here = ((id, ends), hosts);
                    return self.interposer.request(sightings, self.now, here, message);
                }
            }
            Signal::Accepted { .. } | Signal::Opened | Signal::Refused => {}
        }
        Passage::Once
    }

    fn hand_over(&mut self, delivery: Delivery<Message>) {
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
            interposer: &mut self.interposer,
            sightings: &mut self.sightings,
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
            interposer: &mut self.interposer,
            sightings: &mut self.sightings,
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
}
