//! A simulated world: the agenda, the network, ZooKeeper's servers and clients, and what programs use.
//!
//! It is stepped from outside (see [`super::driver`]) and knows no real clock. Programs' tasks are not
//! here: they call into it (see [`Handle`]).

mod faults;
mod handle;
mod interpose;
mod programs;
mod streams;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

pub use handle::Handle;

use super::agenda::Agenda;
use super::clock::NodeClock;
use super::disk::SimDisk;
use super::event::Event;
use super::interposer::Interposer;
use super::network::{Delivery, Endpoint, Network};
use super::parcel::{Parcel, for_ensemble};
use super::process::{Process, ProcessState};
use super::program::Program;
use super::sightings::Sightings;
use super::sockets::{Socket, SocketId};
use super::zookeeper::{Client, ClientTimer, Host, PORTS, Server, Timer, Tree, Variant};
use crate::cluster::Role;
use crate::op::{MILLISECOND, Nanos, NodeName};
use crate::rng::Rng;
use programs::Sleeper;
use streams::Backlog;

/// A server process takes this long to start, as a JVM does.
const SERVER_BOOT: (Nanos, Nanos) = (600 * MILLISECOND, 1200 * MILLISECOND);
/// A program of its own takes less.
const PROGRAM_BOOT: (Nanos, Nanos) = (60 * MILLISECOND, 250 * MILLISECOND);

/// What a frozen process finds when it is thawed.
#[derive(Debug)]
enum Kept {
    Packet(Delivery<Parcel>),
    Timer(Timer),
    Client(u32, ClientTimer),
    Boot,
    Sleep(u64),
}

/// A process of a node that something belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    pub node: u8,
    pub pid: u32,
}

/// Who lives in the world from the start: ZooKeeper's servers first, then programs.
pub struct Resident {
    pub name: NodeName,
    pub role: Role,
    pub address: Ipv4Addr,
    /// `None` for a server of the ensemble.
    pub program: Option<Program>,
}

struct Node {
    resident: Resident,
    process: Process<Kept>,
    clock: NodeClock,
    disk: Rc<SimDisk>,
    /// How often a process has been started here.
    starts: u64,
    /// What the last process said when it ended by itself.
    last_words: Option<String>,
}

/// A ZooKeeper client, and whose library it is; `None` in the clients' place.
struct Guest {
    client: Client,
    home: Option<Home>,
}

pub struct World {
    now: Nanos,
    agenda: Agenda<Event>,
    pub(super) network: Network<Parcel>,
    nodes: Vec<Node>,
    /// Of the first nodes.
    servers: Vec<Server>,
    clients: BTreeMap<u32, Guest>,
    next_caller: u32,
    next_pid: u32,
    sockets: BTreeMap<SocketId, Socket>,
    ports: BTreeMap<(u8, u16), Backlog>,
    sleepers: BTreeMap<u64, Sleeper>,
    next_sleeper: u64,
    /// Programs that are to begin.
    born: Vec<Home>,
    rng: Rng,
    programs_rng: Rng,
    client_clock: NodeClock,
    pub(super) interposer: Interposer,
    pub(super) sightings: Sightings,
    steps: u64,
    ended: bool,
    /// A program or a model has panicked.
    is_broken: bool,
    /// Woken when the world ends.
    mourner: Option<Waker>,
    trace: Option<Vec<u8>>,
    /// Woken when something earlier than what it waits for has been put in.
    pub(super) driver: Option<(Nanos, Waker)>,
}

impl World {
    pub fn new(residents: Vec<Resident>, variant: Variant, rng: &Rng) -> World {
        let size = residents.len();
        let servers = residents.iter().filter(|resident| resident.program.is_none()).count() as u8;
        let node = |resident| Node {
            resident,
            process: Process::new(0),
            clock: NodeClock::default(),
            disk: Rc::default(),
            starts: 0,
            last_words: None,
        };
        let mut world = World {
            now: 0,
            agenda: Agenda::default(),
            network: Network::new(size, rng),
            nodes: residents.into_iter().map(node).collect(),
            servers: (1..=servers).map(|id| Server::new(id, servers, variant)).collect(),
            clients: BTreeMap::new(),
            next_caller: 1,
            next_pid: 1000,
            sockets: BTreeMap::new(),
            ports: BTreeMap::new(),
            sleepers: BTreeMap::new(),
            next_sleeper: 0,
            born: Vec::new(),
            rng: rng.fork("world"),
            programs_rng: rng.fork("programs"),
            client_clock: NodeClock::default(),
            interposer: Interposer::default(),
            sightings: Sightings::default(),
            steps: 0,
            ended: false,
            is_broken: false,
            mourner: None,
            trace: None,
            driver: None,
        };
        for node in 0..size as u8 {
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
        &self.servers[node as usize]
    }

    /// The newest state that any server has committed.
    pub fn committed(&self) -> Option<&Tree> {
        self.servers.iter().map(Server::tree).max_by_key(|tree| tree.zxid)
    }

    pub fn is_server(&self, node: u8) -> bool {
        usize::from(node) < self.servers.len()
    }

    pub fn process_state(&self, node: u8) -> ProcessState {
        self.nodes[node as usize].process.state()
    }

    pub fn pid(&self, node: u8) -> Option<u32> {
        self.nodes[node as usize].process.pid()
    }

    /// Performs the next event that is due by this time; false where none is.
    pub fn step(&mut self, until: Nanos) -> bool {
        let Some((at, event)) = self.agenda.pop_due(until) else { return false };
        self.now = at;
        self.steps += 1;
        self.perform(event);
        true
    }

    /// Nothing moves any more: all sessions are over, all streams broken.
    pub fn end(&mut self, is_broken: bool) {
        self.ended = true;
        self.is_broken = is_broken;
        if let Some(mourner) = self.mourner.take() {
            mourner.wake();
        }
        self.driver = None;
        self.clients.values_mut().for_each(|guest| guest.client.abandon());
        self.sockets.values_mut().for_each(Socket::wake);
    }

    pub fn poll_broken(&mut self, context: &Context) -> Poll<()> {
        if self.is_broken {
            return Poll::Ready(());
        }
        self.mourner = Some(context.waker().clone());
        Poll::Pending
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
                self.hand_to(Home { node, pid }, Kept::Timer(timer));
            }
            Event::Client { client, timer } => {
                self.note(&timer);
                match self.clients.get(&client).map(|guest| guest.home) {
                    Some(Some(home)) => self.hand_to(home, Kept::Client(client, timer)),
                    Some(None) => self.find(0, Kept::Client(client, timer)),
                    None => {}
                }
            }
            Event::Boot { node, pid } => self.hand_to(Home { node, pid }, Kept::Boot),
            Event::Sleep { node, pid, sleep } => {
                self.hand_to(Home { node, pid }, Kept::Sleep(sleep));
            }
        }
    }

    /// Something is due in a process: at once, or when it is thawed, or never if it is gone.
    fn hand_to(&mut self, home: Home, kept: Kept) {
        let process = &mut self.nodes[home.node as usize].process;
        match process.state() {
            _ if process.pid() != Some(home.pid) => {}
            ProcessState::Paused => process.keep_timer(kept),
            _ => {
                if matches!(kept, Kept::Timer(_) | Kept::Sleep(_)) {
                    // Its log lines, and the runtime it stands for, look at the time of day.
                    self.nodes[home.node as usize].clock.read_wall_ms(self.now);
                }
                self.find(home.node, kept);
            }
        }
    }

    /// A process finds this.
    fn find(&mut self, node: u8, kept: Kept) {
        match kept {
            Kept::Packet(delivery) => self.hand_over(delivery),
            Kept::Timer(timer) => {
                self.with_server(node, |server, host| server.timer(host, timer));
            }
            Kept::Client(client, timer) => {
                self.with_client(client, |client, host| client.timer(host, timer));
                self.remove_if_done(client);
            }
            Kept::Boot => self.bear(node),
            Kept::Sleep(sleep) => self.wake_sleeper(sleep),
        }
    }

    /// The process that this is for takes it, or its kernel keeps it.
    fn hand_over(&mut self, delivery: Delivery<Parcel>) {
        let home = match delivery.to {
            Endpoint::Node(node) if self.is_server(node) => Some(node),
            Endpoint::Caller { number, .. } => {
                self.clients.get(&number).and_then(|guest| guest.home).map(|home| home.node)
            }
            Endpoint::Node(_) => None,
        };
        if let Some(node) = home {
            let process = &mut self.nodes[node as usize].process;
            if process.state() == ProcessState::Paused {
                return process.keep_packet(Kept::Packet(delivery));
            }
        }
        let Delivery { to, connection, signal } = delivery;
        match to {
            Endpoint::Caller { number, .. } if self.clients.contains_key(&number) => {
                let Some(signal) = for_ensemble(signal) else { return };
                self.with_client(number, |client, host| client.signal(host, connection, signal));
                self.remove_if_done(number);
            }
            Endpoint::Node(node) if self.is_server(node) => {
                let Some(signal) = for_ensemble(signal) else { return };
                self.with_server(node, |server, host| server.signal(host, connection, signal));
            }
            _ => self.hand_to_socket(to, connection, signal),
        }
    }

    fn note(&mut self, what: &impl std::fmt::Debug) {
        if let Some(trace) = &mut self.trace {
            writeln!(trace, "{} {what:?}", self.now).expect("memory takes every write");
        }
    }

    fn with_server(&mut self, node: u8, f: impl FnOnce(&mut Server, &mut Host)) {
        let Some(server) = self.servers.get_mut(node as usize) else { return };
        let Node { process, clock, .. } = &mut self.nodes[node as usize];
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
        let Guest { client, home } = self.clients.get_mut(&id)?;
        let host = home.map_or(self.nodes.len() as u8, |home| home.node);
        let mut host = Host {
            now: self.now,
            endpoint: Endpoint::Caller { host, number: id },
            pid: home.map_or(0, |home| home.pid),
            network: &mut self.network,
            agenda: &mut self.agenda,
            rng: &mut self.rng,
            clock: home.map_or(&self.client_clock, |home| &self.nodes[home.node as usize].clock),
            interposer: &mut self.interposer,
            sightings: &mut self.sightings,
        };
        Some(f(client, &mut host))
    }

    fn remove_if_done(&mut self, client: u32) {
        if self.clients.get(&client).is_some_and(|guest| guest.client.is_done()) {
            self.clients.remove(&client);
        }
    }

    fn boot(&mut self, node: u8) {
        self.next_pid += 1;
        let pid = self.next_pid;
        let place = &mut self.nodes[node as usize];
        place.process.start(pid);
        place.starts += 1;
        place.last_words = None;
        if self.is_server(node) {
            PORTS.iter().for_each(|port| self.network.listen(node, *port));
            let after = self.rng.between(SERVER_BOOT.0, SERVER_BOOT.1);
            self.with_server(node, |server, host| server.boot(host, after));
        } else {
            let after = self.rng.between(PROGRAM_BOOT.0, PROGRAM_BOOT.1);
            self.agenda.push(self.now + after, Event::Boot { node, pid });
        }
    }
}
