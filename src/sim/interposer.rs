//! Interposers: they read requests and replies as they pass, and let single ones come late, twice or
//! never.
//!
//! A request is seen when it reaches the server's host, a reply when it leaves the server's process.
//! Rules are the same for all; what passes is messages of the ensemble model, or bytes.

mod armory;
mod bytes;
mod messages;

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use super::network::{ConnectionId, Place};
use super::sightings::Sightings;
use crate::cluster::{Concerning, FaultId, MessageRule, MessageSeen};
use crate::op::Nanos;
use armory::Armory;
pub use bytes::Passing;
use bytes::Spliced;
use messages::Messages;
pub use messages::{Fate, Passage};

/// A connection as interposers know it: on which hosts its ends are, and how people call them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The caller's and the callee's.
    pub hosts: [usize; 2],
    pub ends: [SocketAddrV4; 2],
    pub port: u16,
}

impl Line {
    fn words(&self) -> String {
        let [caller, callee] = self.ends;
        format!("{caller}→{}:{}", callee.ip(), self.port)
    }
}

#[derive(Default)]
pub struct Interposer {
    armory: Armory,
    messages: Messages,
    bytes: Spliced,
    held: BTreeMap<ConnectionId, FaultId>,
}

/// What became of a rule that is gone.
pub struct Disarmed {
    /// Messages that it hit.
    pub hit: u64,
    /// These connections are held by it: they end now.
    pub held: Vec<ConnectionId>,
    /// Replies on these connections are late for nothing.
    pub late: Vec<ConnectionId>,
}

impl Interposer {
    /// Whether no rule is at work and no connection held.
    #[cfg(test)]
    pub fn is_unarmed(&self) -> bool {
        self.armory.is_empty() && self.held.is_empty()
    }

    /// Stands at these places from now on: byte streams opened through them are followed.
    pub fn stand(&mut self, places: Vec<Place>) {
        self.bytes.stand(places);
    }

    /// False where it is armed so already.
    pub fn arm(&mut self, by: Concerning, places: Vec<Place>, rule: MessageRule) -> bool {
        self.armory.arm(by, places, rule)
    }

    /// Whether this rule is at work here.
    pub fn is_armed(&self, by: Concerning, rule: &MessageRule, place: &Place) -> bool {
        self.armory.is_armed_at(by, rule, place)
    }

    /// The rule is gone.
    pub fn disarm(
        &mut self,
        sightings: &mut Sightings,
        (fault, rule): (FaultId, &MessageRule),
        places: &[Place],
    ) -> Option<Disarmed> {
        let by = Concerning::Fault(fault);
        let hit = self.armory.disarm(by, rule, places)?;
        self.messages.let_go(sightings, by);
        let held = self.held.iter().filter(|(_, by)| **by == fault).map(|(id, _)| *id).collect();
        self.held.retain(|_, by| *by != fault);
        Some(Disarmed { hit, held, late: self.bytes.let_go(by) })
    }

    /// Lookouts are gone; faults stay.
    pub fn forget_lookouts(&mut self) {
        self.armory.forget_lookouts();
    }

    /// The first to hold a connection holds it until it ends.
    fn hold(&mut self, id: ConnectionId, by: Concerning) {
        if let Concerning::Fault(fault) = by {
            self.held.entry(id).or_insert(fault);
        }
    }

    /// A connection is over: what was hit on it will not be answered.
    pub fn ended(&mut self, sightings: &mut Sightings, now: Nanos, id: ConnectionId) {
        self.held.remove(&id);
        self.messages.ended(sightings, id);
        self.bytes.ended(&mut self.armory, sightings, now, id);
    }
}

/// What is told of a request that was hit.
fn seen(line: &Line, request: String, subject: Option<String>, hit: &armory::Taken) -> MessageSeen {
    MessageSeen {
        request,
        subject,
        reply: None,
        applied: false,
        connection: line.words(),
        form: hit.rule.form,
        nth: hit.nth,
    }
}
