//! What TCP does with segments: handshakes, order, retransmission, the window.

use super::link::{Rule, answers};
use super::pipe::{Segment, WINDOW};
use super::{
    ConnectionId, Delivery, Endpoint, Network, NetworkEvent, Side, Signal, Step, Way, Wire,
};
use crate::op::{Nanos, SECOND};
use crate::sim::agenda::Agenda;

impl<M: Wire> Network<M> {
    pub(super) fn arrive(&mut self, now: Nanos, id: ConnectionId, to: Side) -> Option<Delivery<M>> {
        let connection = self.get(id)?;
        let pipe = connection.pipe(to);
        // What was hurried or reset leaves events behind that come for nothing.
        pipe.transit.front().filter(|(due, _)| *due <= now)?;
        let (_, segment) = pipe.transit.pop_front()?;
        if connection.is_closed(to) {
            return None;
        }
        let endpoint = connection.endpoint(to);
        let signal = match segment {
            Segment::Data(message) => Signal::Message(message),
            Segment::Accept => Signal::Accepted { from: connection.caller, port: connection.port },
            Segment::Open => Signal::Opened,
            Segment::Shut => Signal::Shut,
            Segment::Reset | Segment::Close => {
                let reset = matches!(segment, Segment::Reset);
                connection.close(to);
                if connection.is_closed(to.other()) {
                    self.release(id);
                }
                if reset { Signal::Reset } else { Signal::Closed }
            }
            Segment::Refuse => {
                self.release(id);
                Signal::Refused
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
        let callee = connection.callee;
        let way = self.way(id, Side::Callee);
        let obstacle = self.rule(way);
        if let Some(rule) = obstacle.or_else(|| self.rule(way.back())) {
            let asked = obstacle.is_some();
            self.count(id, if asked { way } else { way.back() }, rule);
            if asked && answers(rule) {
                self.schedule(agenda, now, id, Side::Caller, Segment::Refuse);
                return;
            }
            let retry = Step::Handshake { connection: id, attempt: attempt + 1 };
            agenda.push(now + (SECOND << attempt.min(6)), NetworkEvent(retry));
            return;
        }
        let listening = match callee {
            Endpoint::Node(node) => self.is_listening(node, way.port),
            Endpoint::Caller { .. } => false,
        };
        if !listening {
            self.offer(agenda, now, id, Side::Caller, Segment::Refuse);
            return;
        }
        if let Some(connection) = self.get(id) {
            connection.established = true;
            connection.to_callee.transit.push_back((now, Segment::Accept));
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
        if connection.is_gone(to.other()) || connection.muted && to == Side::Caller {
            return;
        }
        let waiting = connection.pipe(to).held.len();
        let obstacle = if waiting == 0 { self.obstacle(id, to) } else { Some(None) };
        let Some(rule) = obstacle else {
            self.schedule(agenda, now, id, to, segment);
            return;
        };
        if rule.is_some_and(answers) {
            self.refuse(agenda, now, id, to);
            return;
        }
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return };
        let pipe = connection.pipe(to);
        pipe.held.push_back(segment);
        if waiting == 0 {
            let timeout = pipe.next_timeout();
            agenda.push(now + timeout, NetworkEvent(Step::Retransmit { connection: id, to }));
        }
        if waiting < WINDOW as usize {
            self.count_drop(id, to);
        }
    }

    pub(super) fn retransmit<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
    ) {
        if self.get(id).is_none_or(|connection| connection.pipe(to).held.is_empty()) {
            return;
        }
        let obstacle = self.obstacle(id, to);
        let Some(connection) = self.get(id) else { return };
        let pipe = connection.pipe(to);
        match obstacle {
            None => {
                pipe.passed();
                for segment in std::mem::take(&mut pipe.held) {
                    self.schedule(agenda, now, id, to, segment);
                }
            }
            Some(Some(rule)) if answers(rule) => self.refuse(agenda, now, id, to),
            Some(_) => {
                let timeout = pipe.next_timeout();
                agenda.push(now + timeout, NetworkEvent(Step::Retransmit { connection: id, to }));
                self.count_drop(id, to);
            }
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
        let Some(connection) = self.connections[id.index as usize].as_ref() else { return };
        if connection.is_gone(to) {
            // The other kernel knows no such connection and says so.
            self.lose_end(agenda, now, id, to.other());
            return;
        }
        let (from, target) = (connection.endpoint(to.other()), connection.endpoint(to));
        let (from, target) = (self.host(from), self.host(target));
        let slowed = self.slow_down(now, id, to, &segment);
        let latency = self.latency(from, target);
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return };
        let pipe = connection.pipe(to);
        pipe.last_arrival = pipe.last_arrival.max(now + slowed + latency);
        pipe.transit.push_back((pipe.last_arrival, segment));
        agenda.push(pipe.last_arrival, NetworkEvent(Step::Arrive { connection: id, to }));
        if !self.toxics.is_empty() {
            self.reset_when_spent(agenda, now, id, to);
        }
    }

    pub(super) fn way(&self, id: ConnectionId, to: Side) -> Way {
        let Some(connection) = self.connections[id.index as usize].as_ref() else {
            return Way { from: 0, to: 0, port: 0, asks: true };
        };
        let (from, target) = (connection.endpoint(to.other()), connection.endpoint(to));
        Way {
            from: self.host(from),
            to: self.host(target),
            port: connection.port,
            asks: to == Side::Callee,
        }
    }

    /// The rule that stops a packet on this way.
    pub(super) fn rule(&self, way: Way) -> Option<Rule> {
        let there = &self.links[way.from * self.hosts + way.to];
        let rule = there.rule(|port| port.is_none() || port == Some(way.port) && way.asks);
        if rule.is_some() || way.asks {
            return rule;
        }
        // An answer is concerned by a cut of the port that it comes from.
        self.links[way.to * self.hosts + way.from].rule(|port| port == Some(way.port))
    }

    /// Whether packets pass from one host to a port of another one, and back.
    pub fn is_open(&self, from: usize, to: usize, port: u16) -> bool {
        let way = Way { from, to, port, asks: true };
        self.rule(way).is_none() && self.rule(way.back()).is_none()
    }

    /// This rule has dropped a packet of a connection.
    pub(super) fn count(&mut self, id: ConnectionId, way: Way, rule: Rule) {
        if self.is_uncounted(id) {
            return;
        }
        let asked = way.asks || rule.1.port.is_none();
        let (from, to) = if asked { (way.from, way.to) } else { (way.to, way.from) };
        self.link(from, to).drop_packet(rule);
    }

    /// Counts a segment that does not pass.
    fn count_drop(&mut self, id: ConnectionId, to: Side) {
        let way = self.way(id, to);
        if let Some(rule) = self.rule(way) {
            self.count(id, way, rule);
        }
    }

    /// What keeps a segment sent now from arriving: a rule on its way, or the lack of
    /// acknowledgements (`Some(None)`), which are counted where a cut of the way back drops them.
    fn obstacle(&mut self, id: ConnectionId, to: Side) -> Option<Option<Rule>> {
        let way = self.way(id, to);
        if let Some(rule) = self.rule(way) {
            return Some(Some(rule));
        }
        let back = self.rule(way.back());
        let connection = self.connections[id.index as usize].as_mut()?;
        let pipe = connection.pipe(to);
        let Some(rule) = back else {
            pipe.unacknowledged = 0;
            return None;
        };
        let within_window = pipe.unacknowledged < WINDOW;
        pipe.unacknowledged += u8::from(within_window);
        self.count(id, way.back(), rule);
        (!within_window).then_some(None)
    }
}
