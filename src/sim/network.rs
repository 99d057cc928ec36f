//! The simulated network: connections between nodes and clients that behave like TCP.
//!
//! * Segments of one direction of a connection arrive in order, after a latency drawn per segment.
//! * A cut drops packets of one direction between two hosts. What an application has sent stays in
//!   its kernel's buffer and is retransmitted after 200 ms, 400 ms, 800 ms and so on, so a heal takes
//!   effect at the next retransmission, and the connection survives unless a peer gives up first.
//! * Where just the way back is cut, acknowledgements are lost: the first ten segments arrive, then
//!   the sender stalls.
//! * A cut that refuses answers a segment with a reset: its sender learns at once that the connection
//!   is gone, the other end when it next sends. Handshakes are refused at once.
//! * A cut of a port concerns just the connections that the link's first host opens to that port of
//!   the second one: what it sends on them, and the answers.
//! * A handshake needs both directions; it is repeated after 1 s, 2 s, 4 s until the caller gives up.
//! * A capped link lets out one packet after the other, each in proportion to its size.
//! * Closing sends a last segment behind the data, held back by cuts like the data; one way can be
//!   closed alone. A process that dies closes all its connections. A port on which nobody listens
//!   refuses.
//! * All clients are on one host, which is the last one. Between it and a node nothing is ever lost.
//!
//! It knows nothing of what the messages mean, nor whether a process is frozen.

mod connection;
mod link;
mod pipe;
mod probe;
mod reset;
#[cfg(test)]
mod tests;
mod toxic;
mod transport;

use connection::Connection;
pub use connection::{ConnectionId, Endpoint, Side};
pub use link::{Link, duration};
use pipe::Segment;
use probe::Probe;
pub use probe::{Fate as ProbeFate, Route};
use toxic::ArmedToxic;
pub use toxic::Place;

use std::collections::BTreeSet;

use super::agenda::Agenda;
use crate::op::Nanos;
use crate::rng::Rng;

/// What a connection carries.
pub trait Wire {
    /// About how many bytes it is on the wire, headers of lower layers not counted.
    fn bytes(&self) -> u64;
}

/// A step of the network, to be handed back by the agenda's owner when it is due.
#[derive(Clone, Copy, Debug)]
pub struct NetworkEvent(Step);

#[derive(Clone, Copy, Debug)]
enum Step {
    Handshake { connection: ConnectionId, attempt: u32 },
    Arrive { connection: ConnectionId, to: Side },
    Retransmit { connection: ConnectionId, to: Side },
    Probe { probe: usize },
}

/// What an endpoint learns of a connection.
#[derive(Debug)]
pub enum Signal<M> {
    Accepted {
        from: Endpoint,
        port: u16,
    },
    Opened,
    Refused,
    Message(M),
    /// The other end sends nothing more; it still takes what it is sent.
    Shut,
    /// The other end closed or died. It is gone.
    Closed,
    /// The connection was reset. It is gone.
    Reset,
}

/// A signal that has arrived.
#[derive(Debug)]
pub struct Delivery<M> {
    pub to: Endpoint,
    pub connection: ConnectionId,
    pub signal: Signal<M>,
}

/// Who opened a connection to whom, and to which port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub caller: Endpoint,
    pub callee: Endpoint,
    pub port: u16,
}

/// What a packet shows to the rules on its way.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: usize,
    to: usize,
    port: u16,
    /// It goes to the port; otherwise it comes from there.
    asks: bool,
}

impl Way {
    fn back(self) -> Way {
        Way { from: self.to, to: self.from, port: self.port, asks: !self.asks }
    }
}

/// All connections and links of a world.
pub struct Network<M> {
    /// Nodes and the clients' host.
    hosts: usize,
    links: Vec<Link>,
    listening: BTreeSet<(u8, u16)>,
    connections: Vec<Option<Connection<M>>>,
    free: Vec<u32>,
    generation: u32,
    probes: Vec<Probe>,
    toxics: Vec<ArmedToxic>,
    rng: Rng,
}

impl<M: Wire> Network<M> {
    pub fn new(nodes: usize, rng: &Rng) -> Network<M> {
        let mut links_rng = rng.fork("links");
        let between: Vec<Link> = (0..nodes * nodes).map(|_| Link::drawn(&mut links_rng)).collect();
        let client_link = Link::drawn(&mut links_rng);
        let hosts = nodes + 1;
        let link = |place: usize| match (place / hosts, place % hosts) {
            (from, to) if from < nodes && to < nodes => between[from * nodes + to].clone(),
            _ => client_link.clone(),
        };
        Network {
            hosts,
            links: (0..hosts * hosts).map(link).collect(),
            listening: BTreeSet::new(),
            connections: Vec::new(),
            free: Vec::new(),
            generation: 0,
            probes: Vec::new(),
            toxics: Vec::new(),
            rng: rng.fork("latency"),
        }
    }

    /// Where the clients are.
    pub fn clients(&self) -> usize {
        self.hosts - 1
    }

    /// Where an endpoint is.
    pub fn host(&self, endpoint: Endpoint) -> usize {
        match endpoint {
            Endpoint::Node(node) => node as usize,
            Endpoint::Caller { host, .. } => host as usize,
        }
    }

    /// The link from one host to another.
    pub fn link(&mut self, from: usize, to: usize) -> &mut Link {
        &mut self.links[from * self.hosts + to]
    }

    /// Whether no link is cut or capped and no toxic armed.
    #[cfg(test)]
    pub fn is_untouched(&self) -> bool {
        let free = |link: &Link| link.rule(|_| true).is_none() && !link.is_capped();
        self.links.iter().all(free) && self.toxics.is_empty()
    }

    /// Who holds a connection, while there is one.
    pub fn ends(&self, id: ConnectionId) -> Option<Ends> {
        let connection = self.connections.get(id.index as usize)?.as_ref()?;
        (connection.generation == id.generation).then_some(Ends {
            caller: connection.caller,
            callee: connection.callee,
            port: connection.port,
        })
    }

    /// Begins a handshake. The caller learns how it went, or may close it at any time.
    pub fn connect<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (caller, callee): (Endpoint, Endpoint),
        port: u16,
    ) -> ConnectionId {
        self.generation += 1;
        let connection = Connection::new(self.generation, caller, callee, port);
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() as u32 - 1
        });
        self.connections[index as usize] = Some(connection);
        let id = ConnectionId { index, generation: self.generation };
        let (from, to) = (self.host(caller), self.host(callee));
        let latency = self.latency(from, to);
        agenda.push(now + latency, NetworkEvent(Step::Handshake { connection: id, attempt: 0 }));
        id
    }

    /// Sends behind all that this endpoint has sent before on the connection.
    pub fn send<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (id, from): (ConnectionId, Endpoint),
        message: M,
    ) {
        let Some(connection) = self.get(id) else { return };
        let side = connection.side_of(from);
        if connection.established && !connection.is_closed(side) {
            self.offer(agenda, now, id, side.other(), Segment::Data(message));
        }
    }

    /// Closes this endpoint's side; the other one learns of it after what was sent before.
    pub fn close<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (id, endpoint): (ConnectionId, Endpoint),
    ) {
        let Some(connection) = self.get(id) else { return };
        let side = connection.side_of(endpoint);
        if connection.is_closed(side) {
            return;
        }
        connection.close(side);
        if !connection.established || connection.is_closed(side.other()) {
            self.release(id);
        } else {
            self.offer(agenda, now, id, side.other(), Segment::Close);
        }
    }

    /// Nothing more comes from this endpoint; it still takes what it is sent.
    pub fn shut<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (id, endpoint): (ConnectionId, Endpoint),
    ) {
        let Some(connection) = self.get(id) else { return };
        let side = connection.side_of(endpoint);
        if connection.established && !connection.is_closed(side) {
            self.offer(agenda, now, id, side.other(), Segment::Shut);
        }
    }

    /// The node's process is gone: nothing listens, and all its connections are closed.
    pub fn process_died<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        node: u8,
    ) {
        self.listening.retain(|(its, _)| *its != node);
        for index in 0..self.connections.len() {
            let Some(connection) = &self.connections[index] else { continue };
            let id = ConnectionId { index: index as u32, generation: connection.generation };
            for endpoint in [connection.caller, connection.callee] {
                if self.host(endpoint) == usize::from(node) {
                    self.close(agenda, now, (id, endpoint));
                }
            }
        }
    }

    pub fn listen(&mut self, node: u8, port: u16) {
        self.listening.insert((node, port));
    }

    pub fn close_port(&mut self, node: u8, port: u16) {
        self.listening.remove(&(node, port));
    }

    pub fn is_listening(&self, node: u8, port: u16) -> bool {
        self.listening.contains(&(node, port))
    }

    /// What happens to this connection is counted nowhere.
    pub fn leave_uncounted(&mut self, id: ConnectionId) {
        if let Some(connection) = self.get(id) {
            connection.uncounted = true;
        }
    }

    pub fn is_uncounted(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(id.index as usize).and_then(Option::as_ref);
        connection.is_some_and(|it| it.generation == id.generation && it.uncounted)
    }

    /// Performs a step that is due. Whoever gets `Closed`, `Reset` or `Refused` need not close.
    pub fn happen<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        event: NetworkEvent,
    ) -> Option<Delivery<M>> {
        match event.0 {
            Step::Arrive { connection, to } => return self.arrive(now, connection, to),
            Step::Handshake { connection, attempt } => {
                self.handshake(agenda, now, connection, attempt);
            }
            Step::Retransmit { connection, to } => self.retransmit(agenda, now, connection, to),
            Step::Probe { probe } => self.probe_comes_out(now, probe),
        }
        None
    }

    fn latency(&mut self, from: usize, to: usize) -> Nanos {
        self.links[from * self.hosts + to].latency(&mut self.rng)
    }

    fn get(&mut self, id: ConnectionId) -> Option<&mut Connection<M>> {
        self.connections
            .get_mut(id.index as usize)?
            .as_mut()
            .filter(|connection| connection.generation == id.generation)
    }

    fn release(&mut self, id: ConnectionId) {
        if self.get(id).is_some() {
            self.connections[id.index as usize] = None;
            self.free.push(id.index);
        }
    }
}
