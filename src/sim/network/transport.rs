//! What TCP does with segments: handshakes, order, retransmission, the window.

use super::pipe::{Segment, WINDOW};
use super::{ConnectionId, Delivery, Endpoint, Network, NetworkEvent, Side, Signal, Step};
use crate::op::{Nanos, SECOND};
use crate::sim::agenda::Agenda;

impl<M> Network<M> {
    pub(super) fn arrive(&mut self, id: ConnectionId, to: Side) -> Option<Delivery<M>> {
        let connection = self.get(id)?;
        let segment = connection.pipe(to).transit.pop_front()?;
        if connection.is_closed(to) {
            return None;
        }
        let endpoint = connection.endpoint(to);
        let signal = match segment {
            Segment::Data(message) => Signal::Message(message),
            Segment::Accept => Signal::Accepted { from: connection.caller, port: connection.port },
            Segment::Open => Signal::Opened,
            Segment::Refuse | Segment::Close => {
                let refused = matches!(segment, Segment::Refuse);
                self.release(id);
                if refused { Signal::Refused } else { Signal::Closed }
            }
        };
        Some(Delivery { to: endpoint, connection: id, signal })
    }

    pub(super) fn handshake<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        attempt: u32,
    ) {
        let Some(connection) = self.get(id) else { return };
        let (caller, callee) = (connection.caller, connection.callee);
        let cut = self.is_cut(caller, callee);
        if cut || self.is_cut(callee, caller) {
            if cut {
                self.drop_packet(caller, callee);
            } else {
                self.drop_packet(callee, caller);
            }
            let retry = Step::Handshake { connection: id, attempt: attempt + 1 };
            agenda.push(now + (SECOND << attempt.min(6)), NetworkEvent(retry));
            return;
        }
        let listening = match callee {
            Endpoint::Node(node) => self.listening[node as usize],
            Endpoint::Client(_) => false,
        };
        if !listening {
            self.offer(agenda, now, id, Side::Caller, Segment::Refuse);
            return;
        }
        if let Some(connection) = self.get(id) {
            connection.established = true;
            connection.to_callee.transit.push_back(Segment::Accept);
            connection.to_callee.last_arrival = now;
            agenda.push(now, NetworkEvent(Step::Arrive { connection: id, to: Side::Callee }));
            self.offer(agenda, now, id, Side::Caller, Segment::Open);
        }
    }

    pub(super) fn offer<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
        segment: Segment<M>,
    ) {
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return };
        let waiting = connection.pipe(to).held.len();
        if waiting == 0 && self.passes(id, to) {
            self.schedule(agenda, now, id, to, segment);
            return;
        }
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return };
        let (from, target) = (connection.endpoint(to.other()), connection.endpoint(to));
        let pipe = connection.pipe(to);
        pipe.held.push_back(segment);
        if waiting == 0 {
            let timeout = pipe.next_timeout();
            agenda.push(now + timeout, NetworkEvent(Step::Retransmit { connection: id, to }));
        }
        if waiting < WINDOW as usize {
            self.drop_packet(from, target);
        }
    }

    pub(super) fn retransmit<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
    ) {
        if self.get(id).is_none() {
            return;
        }
        let passes = self.passes(id, to);
        let Some(connection) = self.get(id) else { return };
        let (from, target) = (connection.endpoint(to.other()), connection.endpoint(to));
        let pipe = connection.pipe(to);
        if passes {
            pipe.passed();
            for segment in std::mem::take(&mut pipe.held) {
                self.schedule(agenda, now, id, to, segment);
            }
        } else {
            let timeout = pipe.next_timeout();
            agenda.push(now + timeout, NetworkEvent(Step::Retransmit { connection: id, to }));
            self.drop_packet(from, target);
        }
    }

    pub(super) fn schedule<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
        segment: Segment<M>,
    ) {
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return };
        let (from, target) = (connection.endpoint(to.other()), connection.endpoint(to));
        let latency = self.latency(from, target);
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return };
        let pipe = connection.pipe(to);
        pipe.last_arrival = pipe.last_arrival.max(now + latency);
        pipe.transit.push_back(segment);
        agenda.push(pipe.last_arrival, NetworkEvent(Step::Arrive { connection: id, to }));
    }

    /// Whether a segment sent now arrives. Counts acknowledgements that a cut of the way back drops.
    pub(super) fn passes(&mut self, id: ConnectionId, to: Side) -> bool {
        let Some(connection) = self.connections[id.index as usize].as_ref() else { return false };
        let (from, target) = (connection.endpoint(to.other()), connection.endpoint(to));
        if self.is_cut(from, target) {
            return false;
        }
        let way_back_cut = self.is_cut(target, from);
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return false };
        let pipe = connection.pipe(to);
        if !way_back_cut {
            pipe.unacknowledged = 0;
            return true;
        }
        let within_window = pipe.unacknowledged < WINDOW;
        pipe.unacknowledged += u8::from(within_window);
        self.drop_packet(target, from);
        within_window
    }
}
