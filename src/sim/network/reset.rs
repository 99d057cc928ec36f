//! Connections that end before their time: refused by a cut, severed, reset, or held for good.

use super::pipe::Segment;
use super::{ConnectionId, Endpoint, Network, NetworkEvent, Side, Step, Wire};
use crate::op::Nanos;
use crate::sim::agenda::Agenda;

impl<M: Wire> Network<M> {
    /// A cut answers what was sent to this side with a reset, which its sender gets.
    pub(super) fn refuse<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
    ) {
        let way = self.way(id, to);
        if let Some(rule) = self.rule(way) {
            self.count(id, way, rule);
        }
        self.lose_end(agenda, now, id, to.other());
    }

    /// One end learns that there is no connection any more; the other one as soon as it sends.
    pub(super) fn lose_end<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        side: Side,
    ) {
        let way = self.way(id, side);
        let latency = self.latency(way.from, way.to);
        let Some(connection) = self.get(id) else { return };
        connection.lose(side);
        connection.pipe(side.other()).held.clear();
        if connection.is_closed(side) {
            return;
        }
        let due = now + latency;
        let pipe = connection.pipe(side);
        pipe.clear();
        pipe.last_arrival = due;
        pipe.transit.push_back((due, Segment::Reset));
        agenda.push(due, NetworkEvent(Step::Arrive { connection: id, to: side }));
    }

    /// This endpoint is gone without having read all: the other one learns that by a reset.
    pub fn reset<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (id, endpoint): (ConnectionId, Endpoint),
    ) {
        let Some(connection) = self.get(id) else { return };
        let side = connection.side_of(endpoint);
        if connection.established && !connection.is_closed(side) {
            if !connection.is_closed(side.other()) {
                self.offer(agenda, now, id, side.other(), Segment::Reset);
            }
            if let Some(connection) = self.get(id) {
                connection.close(side);
                if connection.is_closed(side.other()) {
                    self.release(id);
                }
            }
        } else {
            self.close(agenda, now, (id, endpoint));
        }
    }

    /// Whoever stands between both ends closes the connection to each of them, behind what was sent.
    pub fn part<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
    ) {
        for side in [Side::Caller, Side::Callee] {
            if self.get(id).is_some_and(|connection| !connection.is_closed(side)) {
                self.offer(agenda, now, id, side, Segment::Close);
            }
        }
    }

    /// Both ends learn that there is no connection any more. What was under way is lost.
    pub fn abort<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
    ) {
        for side in [Side::Caller, Side::Callee] {
            if let Some(connection) = self.get(id) {
                connection.pipe(side).clear();
                self.lose_end(agenda, now, id, side);
            }
        }
    }

    /// Closes all live connections between two hosts, of one port if one is given.
    pub fn sever<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (one, other): (usize, usize),
        port: Option<u16>,
    ) -> Vec<ConnectionId> {
        let severed = self.live(|id, [caller, callee], its_port| {
            let between = (caller, callee) == (one, other) || (callee, caller) == (one, other);
            between && port.is_none_or(|port| port == its_port) && !self.is_uncounted(id)
        });
        for id in &severed {
            self.abort(agenda, now, *id);
        }
        severed
    }

    /// Established connections that nobody has closed nor lost.
    pub(super) fn live(
        &self,
        wanted: impl Fn(ConnectionId, [usize; 2], u16) -> bool,
    ) -> Vec<ConnectionId> {
        let live = self.connections.iter().enumerate().filter_map(|(index, connection)| {
            let connection = connection.as_ref()?;
            let over = |side| connection.is_closed(side) || connection.is_gone(side);
            if !connection.established || over(Side::Caller) || over(Side::Callee) {
                return None;
            }
            let id = ConnectionId { index: index as u32, generation: connection.generation };
            let hosts = [self.host(connection.caller), self.host(connection.callee)];
            wanted(id, hosts, connection.port).then_some(id)
        });
        live.collect()
    }

    /// Whether both ends could still use it.
    pub fn is_live(&self, id: ConnectionId) -> bool {
        !self.live(|other, _, _| other == id).is_empty()
    }

    /// From now on nothing reaches the caller on this connection, not even its end.
    pub fn mute(&mut self, id: ConnectionId) {
        if let Some(connection) = self.get(id) {
            connection.muted = true;
        }
    }
}
