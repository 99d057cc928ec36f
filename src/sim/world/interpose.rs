//! Interposers on their places: what they see of all that arrives, and of all that programs send.

use bytes::Bytes;

use super::World;
use crate::sim::interposer::{Line, Passage, Passing};
use crate::sim::network::{ConnectionId, Delivery, Endpoint, Ends, Side, Signal};
use crate::sim::parcel::Parcel;
use crate::sim::sockets::SocketId;

impl World {
    /// Something has reached a host. What stands before a server sees it first.
    pub(super) fn deliver(&mut self, delivery: Delivery<Parcel>) {
        self.note(&delivery);
        let id = delivery.connection;
        match &delivery.signal {
            Signal::Message(Parcel::Message(_)) if !self.interposer.is_idle() => {
                return self.pass_message(delivery);
            }
            Signal::Message(Parcel::Bytes(bytes)) if self.is_followed(&delivery) => {
                let bytes = bytes.clone();
                return self.pass_requests(&delivery, Some(&bytes));
            }
            Signal::Shut if self.is_followed(&delivery) => self.pass_requests(&delivery, None),
            Signal::Closed | Signal::Reset => {
                if self.is_followed(&delivery) {
                    self.pass_requests(&delivery, None);
                }
                self.interposer.ended(&mut self.sightings, self.now, id);
            }
            Signal::Accepted { .. } => self.follow(id),
            _ => {}
        }
        self.hand_over(delivery);
    }

    /// A message of the ensemble model passes once, twice or never.
    fn pass_message(&mut self, delivery: Delivery<Parcel>) {
        let id = delivery.connection;
        let ends = self.network.ends(id).filter(|ends| ends.callee == delivery.to);
        let Signal::Message(Parcel::Message(message)) = &delivery.signal else { return };
        let passage = ends.map_or(Passage::Once, |ends| {
            let line = self.line(ends);
            self.interposer.request(&mut self.sightings, (self.now, id, &line), message)
        });
        if passage == Passage::Twice {
            let signal = Signal::Message(Parcel::Message(message.clone()));
            self.hand_over(Delivery { signal, ..delivery });
        }
        if passage != Passage::Never {
            self.hand_over(delivery);
        }
    }

    fn line(&self, ends: Ends) -> Line {
        let both = [ends.caller, ends.callee];
        Line {
            hosts: both.map(|end| self.network.host(end)),
            ends: both.map(|end| self.address(end)),
            port: ends.port,
        }
    }

    /// A stream has been opened; an interposer that stands in it reads it from its first byte on.
    fn follow(&mut self, id: ConnectionId) {
        let Some(ends) = self.network.ends(id) else { return };
        let Endpoint::Node(node) = ends.callee else { return };
        if !self.network.is_uncounted(id) && !self.is_server(node) {
            let line = self.line(ends);
            self.interposer.opened(id, line);
        }
    }

    /// Whether this comes from the caller of a stream in which an interposer stands.
    fn is_followed(&self, delivery: &Delivery<Parcel>) -> bool {
        matches!(delivery.to, Endpoint::Node(_)) && self.interposer.follows(delivery.connection)
    }

    /// Hands over what the interposer lets pass of a caller's bytes, or what it has kept back of them.
    fn pass_requests(&mut self, delivery: &Delivery<Parcel>, bytes: Option<&[u8]>) {
        let id = delivery.connection;
        let passing = self.interposer.requests(&mut self.sightings, (self.now, id), bytes);
        let passed = passing.pieces.iter().map(|(_, piece)| piece.len()).sum();
        // What never reaches the reader never fills its buffer.
        let caller = SocketId { connection: id, side: Side::Caller };
        if let Some(socket) = self.sockets.get_mut(&caller) {
            socket.charge(passed);
            socket.credit(bytes.map_or(0, <[u8]>::len));
        }
        for (_, piece) in passing.pieces {
            let signal = Signal::Message(Parcel::Bytes(piece.into()));
            self.hand_over(Delivery { signal, ..*delivery });
        }
    }

    /// A program sends these bytes, or no more of them. True where an interposer has taken care of it.
    pub(super) fn pass_replies(&mut self, id: SocketId, bytes: Option<&[u8]>) -> bool {
        if id.side != Side::Callee || !self.interposer.follows(id.connection) {
            return false;
        }
        let here = (self.now, id.connection);
        let Passing { pieces, is_held, is_closed } =
            self.interposer.replies(&mut self.sightings, here, bytes);
        if let Some(socket) = self.sockets.get_mut(&id) {
            let from = (id.connection, socket.endpoint);
            for (after, piece) in pieces {
                socket.charge(piece.len());
                let (at, parcel) =
                    (self.now.saturating_add(after), Parcel::Bytes(Bytes::from(piece)));
                self.network.send(&mut self.agenda, at, from, parcel);
            }
        }
        if is_held {
            self.network.mute(id.connection);
        }
        if is_closed {
            self.network.part(&mut self.agenda, self.now, id.connection);
        }
        true
    }
}
