//! What one node's interposer is armed with, which connections that concerns, and what it has done.
//!
//! No socket: connections ask before they pass a message on. Matches are counted over all connections
//! and taps of the node.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use crate::agent::protocol::Spent;
use crate::cluster::{Concerning, Effect, Form, MessageSeen, Protocol, Side, Tap, Toxic};
use crate::op::NodeName;
use crate::wire::{Hit, Reply, Request, Rules};

/// A tap with its peers' addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedTap {
    pub tap: Tap,
    /// Empty: anybody.
    pub peers: Vec<Ipv4Addr>,
}

impl ResolvedTap {
    fn covers(&self, end: &End) -> bool {
        let is_peer = self.peers.is_empty() || self.peers.contains(&end.peer);
        self.tap.side == end.side && self.tap.port == end.port && is_peer
    }
}

/// Who talks to whom on one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub side: Side,
    /// The port that is connected to.
    pub port: u16,
    /// The other node's address.
    pub peer: Ipv4Addr,
    /// `10.0.0.1:4711→10.0.0.11:2181`
    pub connection: String,
}

/// Something seen, on its way to the orchestrator.
pub struct Sighting {
    pub concerning: Concerning,
    pub node: NodeName,
    pub message: MessageSeen,
    pub at: Instant,
}

struct Armed {
    taps: Vec<ResolvedTap>,
    effect: Effect,
    spent: Spent,
}

impl Armed {
    fn covers(&self, end: &End) -> bool {
        self.taps.iter().any(|tap| tap.covers(end))
    }
}

pub struct Armory {
    node: NodeName,
    armed: BTreeMap<Concerning, Armed>,
    sightings: SyncSender<Sighting>,
    /// Everything was taken back: connections are to be closed.
    pub is_closing: bool,
}

impl Armory {
    pub fn new(node: NodeName, sightings: SyncSender<Sighting>) -> Armory {
        Armory { node, armed: BTreeMap::new(), sightings, is_closing: false }
    }

    pub fn arm(&mut self, concerning: Concerning, taps: Vec<ResolvedTap>, effect: Effect) {
        self.armed.insert(concerning, Armed { taps, effect, spent: Spent::default() });
    }

    pub fn disarm(&mut self, concerning: Concerning) -> Option<Spent> {
        self.armed.remove(&concerning).map(|armed| armed.spent)
    }

    /// Takes everything back, and has all connections closed; what faults had done.
    pub fn close(&mut self) -> Vec<(Concerning, Spent)> {
        self.is_closing = true;
        let armed = std::mem::take(&mut self.armed);
        armed.into_iter().map(|(concerning, armed)| (concerning, armed.spent)).collect()
    }

    pub fn is_armed(&self, concerning: Concerning) -> bool {
        self.armed.contains_key(&concerning)
    }

    /// The protocol that rules expect on a connection, where there are any.
    pub fn expected(&self, end: &End) -> Option<Protocol> {
        self.armed.values().find_map(|armed| match &armed.effect {
            Effect::Message(rule) if armed.covers(end) => Some(rule.pattern.protocol),
            _ => None,
        })
    }

    /// What is done to all bytes of a connection, and in whose name.
    pub fn toxics(&self, end: &End) -> Vec<(Concerning, Toxic)> {
        let armed = self.armed.iter().filter(|(_, armed)| armed.covers(end));
        let toxics = armed.filter_map(|(concerning, armed)| match armed.effect {
            Effect::Toxic(toxic) => Some((*concerning, toxic)),
            Effect::Message(_) => None,
        });
        toxics.collect()
    }

    pub fn count_hit(&mut self, concerning: Concerning) {
        if let Some(armed) = self.armed.get_mut(&concerning) {
            armed.spent.hits += 1;
        }
    }

    /// What a direction of this connection says cannot be read as rules expect.
    pub fn count_unparsed(&mut self, end: &End) {
        let armed = self.armed.values_mut().filter(|armed| armed.covers(end));
        let rules = armed.filter(|armed| matches!(armed.effect, Effect::Message(_)));
        rules.for_each(|armed| armed.spent.unparsed += 1);
    }

    /// One more connection is held.
    pub fn hold(&mut self, concerning: Concerning) {
        if let Some(armed) = self.armed.get_mut(&concerning) {
            armed.spent.released += 1;
        }
    }

    /// A connection that was held has ended before its fault did.
    pub fn let_go(&mut self, concerning: Concerning) {
        if let Some(armed) = self.armed.get_mut(&concerning) {
            armed.spent.released = armed.spent.released.saturating_sub(1);
        }
    }

    /// Counts a request where it matches, tells those who watch, and finds the rule that it runs into.
    pub fn judge(&mut self, protocol: Protocol, end: &End, request: &Request) -> Option<Hit> {
        let (mut chosen, mut watched): (Option<Hit>, Vec<Hit>) = (None, Vec::new());
        for (concerning, armed) in &mut self.armed {
            let Effect::Message(rule) = &armed.effect else { continue };
            let is_meant = rule.pattern.protocol == protocol
                && armed.taps.iter().any(|tap| tap.covers(end))
                && rule.pattern.matches(request.words.iter().map(String::as_str));
            if !is_meant {
                continue;
            }
            armed.spent.matches += 1;
            let nth = armed.spent.matches;
            let past = nth.checked_sub(rule.nth.max(1));
            let is_hit = past.is_some_and(|past| rule.times.is_none_or(|times| past < times));
            // What another rule takes already cannot be hit twice.
            if !is_hit || (rule.form != Form::Watch && chosen.is_some()) {
                continue;
            }
            armed.spent.hits += 1;
            let (concerning, rule) = (*concerning, rule.clone());
            let hit = Hit { concerning, rule, nth, request: request.clone() };
            match hit.rule.form {
                Form::Watch => watched.push(hit),
                _ => chosen = Some(hit),
            }
        }
        for hit in watched {
            self.saw(end, hit, None);
        }
        chosen
    }

    /// Tells the orchestrator. If it listens so slowly that too much waits, this is not told.
    pub fn saw(&self, end: &End, hit: Hit, reply: Option<Reply>) {
        let message = MessageSeen {
            request: hit.request.text,
            subject: hit.request.subject,
            applied: reply.as_ref().is_some_and(|reply| reply.applied),
            reply: reply.map(|reply| reply.text),
            connection: end.connection.clone(),
            form: hit.rule.form,
            nth: hit.nth,
        };
        let (concerning, node, at) = (hit.concerning, self.node, Instant::now());
        // Passing bytes on must never wait for the orchestrator.
        let _ = self.sightings.try_send(Sighting { concerning, node, message, at });
    }
}

/// The armory as one connection faces it.
pub struct Facing<'a> {
    pub armory: &'a mut Armory,
    pub end: &'a End,
}

impl Rules for Facing<'_> {
    fn expected(&self) -> Option<Protocol> {
        self.armory.expected(self.end)
    }

    fn judge(&mut self, protocol: Protocol, request: &Request) -> Option<Hit> {
        self.armory.judge(protocol, self.end, request)
    }

    fn is_armed(&self, by: Concerning) -> bool {
        self.armory.is_armed(by)
    }

    fn saw(&mut self, hit: Hit, reply: Option<Reply>) {
        self.armory.saw(self.end, hit, reply);
    }

    fn count_unparsed(&mut self) {
        self.armory.count_unparsed(self.end);
    }
}
