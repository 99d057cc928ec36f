//! What a server or a client of the model can do to the world: nothing but this.

use super::client::ClientTimer;
use super::message::Message;
use super::server::Timer;
use crate::op::Nanos;
use crate::rng::Rng;
use crate::sim::agenda::Agenda;
use crate::sim::clock::NodeClock;
use crate::sim::event::Event;
use crate::sim::interposer::{Fate, Interposer};
use crate::sim::network::{ConnectionId, Endpoint, Network};
use crate::sim::parcel::Parcel;
use crate::sim::sightings::Sightings;

/// The world as one endpoint may use it, at one moment.
pub struct Host<'a> {
    pub now: Nanos,
    pub endpoint: Endpoint,
    pub pid: u32,
    pub network: &'a mut Network<Parcel>,
    pub agenda: &'a mut Agenda<Event>,
    pub rng: &'a mut Rng,
    pub clock: &'a NodeClock,
    pub interposer: &'a mut Interposer,
    pub sightings: &'a mut Sightings,
}

impl Host<'_> {
    pub fn connect(&mut self, node: u8, port: u16) -> ConnectionId {
        let ends = (self.endpoint, Endpoint::Node(node));
        self.network.connect(self.agenda, self.now, ends, port)
    }

    pub fn send(&mut self, connection: ConnectionId, message: Message) {
        self.send_after(0, connection, message);
    }

    /// Sends what can be said only after something else took this long (a disk's flush).
    pub fn send_after(&mut self, delay: Nanos, connection: ConnectionId, message: Message) {
        let mut at = self.now + delay;
        if !self.interposer.is_idle() {
            match self.interposer.reply(self.sightings, connection, &message) {
                Fate::Passes => {}
                Fate::Late(late) => at = at.saturating_add(late),
                Fate::Swallowed => return,
                Fate::Held => return self.network.mute(connection),
                Fate::Closed => return self.network.abort(self.agenda, self.now, connection),
            }
        }
        let parcel = Parcel::Message(message);
        self.network.send(self.agenda, at, (connection, self.endpoint), parcel);
    }

    pub fn close(&mut self, connection: ConnectionId) {
        self.network.close(self.agenda, self.now, (connection, self.endpoint));
    }

    /// Wakes the server after this much of its own clock's time.
    pub fn wake_server(&mut self, after: Nanos, timer: Timer) {
        let Endpoint::Node(node) = self.endpoint else { return };
        let at = self.now.saturating_add(self.clock.virtual_duration(after));
        self.agenda.push(at, Event::Server { node, pid: self.pid, timer });
    }

    pub fn wake_client(&mut self, after: Nanos, timer: ClientTimer) {
        let Endpoint::Caller { number: client, .. } = self.endpoint else { return };
        let at = self.now.saturating_add(self.clock.virtual_duration(after));
        self.agenda.push(at, Event::Client { client, timer });
    }

    /// The time of day as the process reads it, in milliseconds since 1970.
    pub fn wall_ms(&self) -> i64 {
        self.clock.read_wall_ms(self.now)
    }

    /// What the process measures spans of time by.
    pub fn monotonic(&self) -> Nanos {
        self.clock.read_monotonic(self.now)
    }

    /// Writes a line to the server's log, if anybody looks out for one.
    pub fn log(&mut self, words: impl FnOnce() -> String) {
        let Endpoint::Node(node) = self.endpoint else { return };
        if self.sightings.hears(node) {
            let time = jiff::Timestamp::from_millisecond(self.wall_ms()).unwrap_or_default();
            let time = time.strftime("%Y-%m-%d %H:%M:%S,%3f");
            let line = format!("{time} [myid:{}] - INFO  [QuorumPeer] - {}", node + 1, words());
            self.sightings.line(self.now, node, &line);
        }
    }
}
