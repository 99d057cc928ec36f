//! Byte streams over the network: opened, accepted, read, written, closed.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::{Home, World};
use crate::sim::network::{ConnectionId, Endpoint, Side, Signal};
use crate::sim::parcel::Parcel;
use crate::sim::sockets::{Ending, Socket, SocketId};

/// Connections that nobody has accepted so far.
#[derive(Default)]
pub(super) struct Backlog {
    pid: u32,
    queue: VecDeque<(SocketId, SocketAddrV4)>,
    waker: Option<Waker>,
}

type Accepted = io::Result<(SocketId, SocketAddrV4)>;

fn ended() -> io::Error {
    io::Error::other("the simulation has ended")
}

impl World {
    /// Which node has this address.
    pub fn node_at(&self, address: Ipv4Addr) -> Option<u8> {
        let position = self.nodes.iter().position(|node| node.resident.address == address);
        position.map(|node| node as u8)
    }

    /// Begins to connect to a port of a node.
    pub fn open_socket(&mut self, host: u8, (node, port): (u8, u16)) -> SocketId {
        let caller = Endpoint::Caller { host, number: self.next_caller };
        self.next_caller += 1;
        let ends = (caller, Endpoint::Node(node));
        let connection = self.network.connect(&mut self.agenda, self.now, ends, port);
        let id = SocketId { connection, side: Side::Caller };
        self.sockets.insert(id, Socket::dialing(caller));
        id
    }

    /// The same for somebody who looks on from the clients' place: no fault counts it, no interposer
    /// stands in it.
    pub fn look_in(&mut self, node: u8, port: u16) -> SocketId {
        let clients = self.network.clients() as u8;
        let id = self.open_socket(clients, (node, port));
        self.network.leave_uncounted(id.connection);
        id
    }

    /// Something has arrived at the end of a stream. The kernel takes it, whatever its process does.
    pub(super) fn hand_to_socket(
        &mut self,
        to: Endpoint,
        connection: ConnectionId,
        signal: Signal<Parcel>,
    ) {
        if let (Endpoint::Node(node), Signal::Accepted { from, port }) = (to, &signal) {
            return self.queue((node, *port), connection, *from);
        }
        let side = match to {
            Endpoint::Node(_) => Side::Callee,
            Endpoint::Caller { .. } => Side::Caller,
        };
        let Some(socket) = self.sockets.get_mut(&SocketId { connection, side }) else { return };
        match signal {
            Signal::Opened => socket.opened(),
            Signal::Refused => socket.refused(),
            Signal::Message(Parcel::Bytes(bytes)) => socket.receive(bytes),
            Signal::Shut => socket.end(Ending::Shut),
            Signal::Closed => socket.end(Ending::Closed),
            Signal::Reset => socket.end(Ending::Reset),
            Signal::Message(Parcel::Message(_)) | Signal::Accepted { .. } => {}
        }
    }

    fn queue(&mut self, place: (u8, u16), connection: ConnectionId, from: Endpoint) {
        let (endpoint, from) = (Endpoint::Node(place.0), self.address(from));
        let Some(backlog) = self.ports.get_mut(&place) else {
            let end = (connection, endpoint);
            return self.network.reset(&mut self.agenda, self.now, end);
        };
        let id = SocketId { connection, side: Side::Callee };
        self.sockets.insert(id, Socket::accepted(endpoint));
        backlog.queue.push_back((id, from));
        if let Some(waker) = backlog.waker.take() {
            waker.wake();
        }
    }

    pub fn listen(&mut self, home: Home, port: u16) -> io::Result<()> {
        if self.pid(home.node) != Some(home.pid) {
            return Err(ended());
        }
        if self.ports.contains_key(&(home.node, port)) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let backlog = Backlog { pid: home.pid, ..Backlog::default() };
        self.ports.insert((home.node, port), backlog);
        self.network.listen(home.node, port);
        Ok(())
    }

    pub fn close_port(&mut self, home: Home, port: u16) {
        let place = (home.node, port);
        if self.ports.get(&place).is_none_or(|backlog| backlog.pid != home.pid) {
            return;
        }
        self.network.close_port(home.node, port);
        for (id, _) in self.ports.remove(&place).into_iter().flat_map(|backlog| backlog.queue) {
            self.drop_socket(id);
        }
    }

    pub fn poll_accept(&mut self, home: Home, port: u16, context: &Context) -> Poll<Accepted> {
        let Some(backlog) = self.ports.get_mut(&(home.node, port)) else {
            return Poll::Ready(Err(ended()));
        };
        let Some(arrived) = backlog.queue.pop_front() else {
            backlog.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(Ok(arrived))
    }

    /// An endpoint as its peer sees it. Callers are told apart by their ports.
    pub(super) fn address(&self, endpoint: Endpoint) -> SocketAddrV4 {
        let (host, port) = match endpoint {
            Endpoint::Node(node) => (usize::from(node), 32_768),
            Endpoint::Caller { host, number } => (usize::from(host), 32_768 + number % 28_232),
        };
        let node = self.nodes.get(host);
        let address = node.map_or(CLIENTS_ADDRESS, |node| node.resident.address);
        SocketAddrV4::new(address, port as u16)
    }

    pub fn poll_open(&mut self, id: SocketId, context: &Context) -> Poll<io::Result<()>> {
        self.socket(id)?.poll_open(context)
    }

    pub fn poll_read(
        &mut self,
        id: SocketId,
        context: &Context,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let read = self.socket(id)?.poll_read(context, into);
        if let Poll::Ready(Ok(length @ 1..)) = read
            && let Some(sender) = self.sockets.get_mut(&id.other())
        {
            sender.credit(length);
        }
        read
    }

    pub fn poll_write(
        &mut self,
        id: SocketId,
        context: &Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = self.socket(id)?;
        let room = match socket.poll_room(context, bytes.len()) {
            Poll::Ready(Ok(room)) => room,
            other => return other,
        };
        if !socket.is_over() && room > 0 && !self.pass_replies(id, Some(&bytes[..room])) {
            self.send(id, Bytes::copy_from_slice(&bytes[..room]));
        }
        Poll::Ready(Ok(room))
    }

    pub fn shut_socket(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let end = (id.connection, socket.endpoint);
        if socket.shut() && !socket.is_over() {
            self.pass_replies(id, None);
            self.network.shut(&mut self.agenda, self.now, end);
        }
    }

    /// Its owner is gone. What it has not read is lost, and its peer learns that.
    pub fn drop_socket(&mut self, id: SocketId) {
        self.pass_replies(id, None);
        let Some(socket) = self.sockets.remove(&id) else { return };
        let end = (id.connection, socket.endpoint);
        match socket.has_unread() {
            true => self.network.reset(&mut self.agenda, self.now, end),
            false => self.network.close(&mut self.agenda, self.now, end),
        }
        if self.network.ends(id.connection).is_none() {
            // Both ends were closed at once: nobody is told.
            self.interposer.ended(&mut self.sightings, self.now, id.connection);
        }
    }

    fn send(&mut self, id: SocketId, bytes: Bytes) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.charge(bytes.len());
        let from = (id.connection, socket.endpoint);
        self.network.send(&mut self.agenda, self.now, from, Parcel::Bytes(bytes));
    }

    fn socket(&mut self, id: SocketId) -> io::Result<&mut Socket> {
        match self.sockets.get_mut(&id) {
            Some(socket) if !self.ended => Ok(socket),
            _ => Err(ended()),
        }
    }

    /// A process is gone: so are its ports and all its ends of streams.
    pub(super) fn drop_sockets(&mut self, node: u8) {
        self.ports.retain(|(its, _), _| *its != node);
        let of_node = |socket: &Socket| self.network.host(socket.endpoint) == usize::from(node);
        let ids = self.sockets.iter().filter(|(_, socket)| of_node(socket)).map(|(id, _)| *id);
        for id in ids.collect::<Vec<_>>() {
            self.drop_socket(id);
        }
    }
}

/// Where all clients are.
pub(super) const CLIENTS_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 254);
