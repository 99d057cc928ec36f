//! The simulated network: connections between nodes and clients that behave like TCP.
//!
//! * Segments of one direction of a connection arrive in order, after a latency drawn per segment.
//! * A cut drops packets of one direction between two nodes. What an application has sent stays in
//!   its kernel's buffer and is retransmitted after 200 ms, 400 ms, 800 ms and so on, so a heal takes
//!   effect at the next retransmission, and the connection survives unless a peer gives up first.
//! * Where just the way back is cut, acknowledgements are lost: the first ten segments arrive, then
//!   the sender stalls.
//! * A handshake needs both directions; it is repeated after 1 s, 2 s, 4 s until the caller gives up.
//! * Closing sends a last segment behind the data, held back by cuts like the data. A process that
//!   dies closes all its connections. A host without process refuses.
//! * Between a client and a node nothing is ever cut or lost: faults here are between nodes.
//!
//! It knows nothing of what the messages mean, nor whether a process is frozen.

mod connection;
mod link;
mod pipe;
#[cfg(test)]
mod tests;
mod transport;

use connection::{Connection, Side};
pub use connection::{ConnectionId, Endpoint};
pub use link::Link;
use pipe::Segment;

use super::agenda::Agenda;
use crate::op::Nanos;
use crate::rng::Rng;

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
    /// The other end closed or died. The connection is gone.
    Closed,
}

/// A signal that has arrived.
#[derive(Debug)]
pub struct Delivery<M> {
    pub to: Endpoint,
    pub connection: ConnectionId,
    pub signal: Signal<M>,
}

/// All connections and links of a world.
pub struct Network<M> {
    nodes: usize,
    links: Vec<Link>,
    client_link: Link,
    listening: Vec<bool>,
    connections: Vec<Option<Connection<M>>>,
    free: Vec<u32>,
    generation: u32,
    probes: Vec<bool>,
    rng: Rng,
}

impl<M> Network<M> {
    pub fn new(nodes: usize, rng: &Rng) -> Network<M> {
        let mut links_rng = rng.fork("links");
        Network {
            nodes,
            links: (0..nodes * nodes).map(|_| Link::drawn(&mut links_rng)).collect(),
            client_link: Link::drawn(&mut links_rng),
            listening: vec![true; nodes],
            connections: Vec::new(),
            free: Vec::new(),
            generation: 0,
            probes: Vec::new(),
            rng: rng.fork("latency"),
        }
    }

    /// The link from one node to another.
    pub fn link(&mut self, from: usize, to: usize) -> &mut Link {
        &mut self.links[from * self.nodes + to]
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
        let latency = self.latency(caller, callee);
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

    /// The node's process is gone: nothing listens, and all its connections are closed.
    pub fn process_died<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        node: u8,
    ) {
        self.listening[node as usize] = false;
        let endpoint = Endpoint::Node(node);
        for index in 0..self.connections.len() {
            let Some(connection) = &self.connections[index] else { continue };
            if connection.caller == endpoint || connection.callee == endpoint {
                let id = ConnectionId { index: index as u32, generation: connection.generation };
                self.close(agenda, now, (id, endpoint));
            }
        }
    }

    pub fn process_started(&mut self, node: u8) {
        self.listening[node as usize] = true;
    }

    /// Sends one packet that only the hosts' kernels see. It is not counted as the workload's.
    pub fn probe<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        from: usize,
        to: usize,
    ) -> usize {
        self.probes.push(false);
        let probe = self.probes.len() - 1;
        if !self.link(from, to).is_cut() {
            let latency = self.links[from * self.nodes + to].latency(&mut self.rng);
            agenda.push(now + latency, NetworkEvent(Step::Probe { probe }));
        }
        probe
    }

    pub fn probe_arrived(&self, probe: usize) -> bool {
        self.probes[probe]
    }

    /// Performs a step that is due. Whoever gets `Closed` or `Refused` need not close.
    pub fn happen<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        event: NetworkEvent,
    ) -> Option<Delivery<M>> {
        match event.0 {
            Step::Arrive { connection, to } => return self.arrive(connection, to),
            Step::Handshake { connection, attempt } => {
                self.handshake(agenda, now, connection, attempt);
            }
            Step::Retransmit { connection, to } => self.retransmit(agenda, now, connection, to),
            Step::Probe { probe } => self.probes[probe] = true,
        }
        None
    }

    fn link_between(&mut self, from: Endpoint, to: Endpoint) -> Option<&mut Link> {
        match (from, to) {
            (Endpoint::Node(from), Endpoint::Node(to)) => {
                Some(self.link(from as usize, to as usize))
            }
            _ => None,
        }
    }

    fn is_cut(&mut self, from: Endpoint, to: Endpoint) -> bool {
        self.link_between(from, to).is_some_and(|link| link.is_cut())
    }

    fn drop_packet(&mut self, from: Endpoint, to: Endpoint) {
        if let Some(link) = self.link_between(from, to) {
            link.drop_packet();
        }
    }

    fn latency(&mut self, from: Endpoint, to: Endpoint) -> Nanos {
        let link = match (from, to) {
            (Endpoint::Node(from), Endpoint::Node(to)) => {
                &self.links[from as usize * self.nodes + to as usize]
            }
            _ => &self.client_link,
        };
        link.latency(&mut self.rng)
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
