//! What a cluster does to a world from outside: to processes, clocks, sessions and connections.

use super::{Guest, Home, Kept, World};
use crate::cluster::{Clock, FaultId, MessageRule, Toxic};
use crate::sim::event::Event;
use crate::sim::network::{ConnectionId, Place, Route, Side};
use crate::sim::zookeeper::{Client, SESSION_TIMEOUT_MAX, SessionId};

impl World {
    /// The process is gone, its connections are closed, its disk stays. What sessions it had stay open
    /// until the ensemble misses it.
    pub fn kill(&mut self, node: u8) {
        self.drop_sockets(node);
        self.network.process_died(&mut self.agenda, self.now, node);
        self.nodes[node as usize].process.kill();
        self.clients.retain(|_, guest| guest.home.is_none_or(|home| home.node != node));
        if let Some(server) = self.servers.get_mut(node as usize) {
            server.crash();
        }
    }

    /// SIGTERM: a server gives up what it does, then its process is gone.
    pub fn stop_server(&mut self, node: u8) {
        self.with_server(node, |server, host| server.stop(host));
        self.kill(node);
    }

    pub fn start(&mut self, node: u8) {
        self.boot(node);
    }

    pub fn pause(&mut self, node: u8) {
        self.nodes[node as usize].process.pause();
    }

    /// What it finds has passed its interposers already.
    pub fn resume(&mut self, node: u8) {
        for kept in self.nodes[node as usize].process.resume() {
            if let Kept::Packet(delivery) = &kept {
                self.note(delivery);
            }
            self.find(node, kept);
        }
    }

    /// Steps a node's wall clock and sets how fast its clocks run.
    #[cfg(test)]
    pub fn skew(&mut self, node: u8, step_ns: i64, rate_ppm: i64) {
        let now = self.now;
        self.nodes[node as usize].clock.skew(now, step_ns, rate_ppm);
    }

    /// What a node's clock shows now.
    pub fn shows_ns(&self, node: u8, clock: Clock) -> i64 {
        self.nodes[node as usize].clock.shows_ns(self.now, clock)
    }

    /// Moves a clock. Timers of the process run on its monotonic clock: they are due when that says so.
    pub fn bump(&mut self, node: u8, clock: Clock, by_ns: i64) {
        let place = &mut self.nodes[node as usize];
        place.clock.bump(clock, by_ns);
        let Some(pid) = place.process.pid().filter(|_| clock == Clock::Monotonic) else { return };
        let earlier = place.clock.virtual_duration(by_ns.unsigned_abs());
        let clients = &self.clients;
        self.agenda.reschedule(self.now, |event, at| {
            let home = match event {
                Event::Server { node, pid, .. } | Event::Sleep { node, pid, .. } => {
                    Some(Home { node: *node, pid: *pid })
                }
                Event::Client { client, .. } => clients.get(client).and_then(|guest| guest.home),
                Event::Network(_) | Event::Boot { .. } => None,
            };
            match by_ns {
                _ if home != Some(Home { node, pid }) => at,
                0.. => at.saturating_sub(earlier),
                _ => at.saturating_add(earlier),
            }
        });
    }

    /// Takes a bump back and tells how often the clock was read meanwhile. A process that runs keeps
    /// the timers it has set by a monotonic clock: it must be restarted.
    pub fn unbump(&mut self, node: u8, clock: Clock, by_ns: i64) -> Option<u64> {
        self.nodes[node as usize].clock.unbump(clock, by_ns)
    }

    /// By how much a node's clock is off.
    pub fn offset_ns(&self, node: u8, clock: Clock) -> i64 {
        self.nodes[node as usize].clock.offset_ns(clock)
    }

    /// Somebody takes over a session at this server and closes it.
    pub fn usurp(&mut self, node: u8, session: SessionId) {
        let id = self.next_caller;
        self.next_caller += 1;
        let client = Client::usurper(node, session, SESSION_TIMEOUT_MAX);
        self.clients.insert(id, Guest { client, home: None });
        self.with_client(id, |client, host| client.start(host));
    }

    /// Whether a client that asks this node for its state gets an answer.
    pub fn reaches_clients(&self, node: u8) -> bool {
        let (port, _) = self.nodes[node as usize].resident.role.client_port();
        self.network.is_open(self.network.clients(), node.into(), port)
    }

    /// Whether nothing that was done to it from outside is in force.
    #[cfg(test)]
    pub fn is_untouched(&mut self) -> bool {
        let clocks = self.nodes.iter().all(|node| {
            [Clock::Wall, Clock::Monotonic].iter().all(|clock| node.clock.offset_ns(*clock) == 0)
        });
        clocks && self.interposer.is_unarmed() && self.network.is_untouched()
    }

    /// Sends a packet that shows what becomes of traffic on its way.
    pub fn probe(&mut self, route: Route) -> usize {
        self.network.probe(&mut self.agenda, self.now, route)
    }

    pub fn sever(&mut self, hosts: (usize, usize), port: Option<u16>) -> Vec<ConnectionId> {
        self.network.sever(&mut self.agenda, self.now, hosts, port)
    }

    /// Removes a cap, if there is one, and tells how many packets it has held up.
    pub fn unthrottle(&mut self, (from, to): (usize, usize), fault: FaultId) -> Option<u64> {
        let delayed = self.network.link(from, to).unthrottle(fault)?;
        self.network.hurry_link(&mut self.agenda, self.now, (from, to));
        Some(delayed)
    }

    pub fn poison(&mut self, fault: FaultId, toxic: Toxic, places: Vec<Place>) -> bool {
        self.network.poison(&mut self.agenda, self.now, (fault, toxic), places)
    }

    pub fn cleanse(&mut self, fault: FaultId, toxic: Toxic, places: &[Place]) -> Option<u64> {
        self.network.cleanse(&mut self.agenda, self.now, (fault, toxic), places)
    }

    /// Disarms a message rule; connections that it held end. Tells how many messages it hit.
    pub fn disarm(&mut self, fault: FaultId, rule: &MessageRule, places: &[Place]) -> Option<u64> {
        let disarmed = self.interposer.disarm(&mut self.sightings, (fault, rule), places)?;
        for connection in disarmed.held {
            self.network.abort(&mut self.agenda, self.now, connection);
        }
        for connection in disarmed.late {
            self.network.hurry(&mut self.agenda, self.now, connection, Side::Caller);
        }
        Some(disarmed.hit)
    }
}
