//! Interposers at the servers' client ports: they read requests and replies as they pass, and let
//! single ones come late, twice or never.
//!
//! A request is seen when it reaches the server's host, a reply when it leaves the server's process.

use std::collections::{BTreeMap, VecDeque};

use super::message::Message;
use super::wording;
use crate::cluster::{Concerning, FaultId, Form, MessageRule, MessageSeen};
use crate::op::Nanos;
use crate::sim::network::{ConnectionId, Endpoint, Ends, Place};
use crate::sim::sightings::{Sighting, Sightings};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    Once,
    Twice,
    Never,
}

/// What becomes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Passes,
    Late(Nanos),
    Swallowed,
    /// Neither it nor anything behind it.
    Held,
    /// It is lost with its connection.
    Closed,
}

/// A rule at work.
#[derive(Debug)]
struct Armed {
    by: Concerning,
    places: Vec<Place>,
    rule: MessageRule,
    matched: u64,
    hit: u64,
}

impl Armed {
    fn is(&self, by: Concerning, rule: &MessageRule) -> bool {
        self.by == by && self.rule == *rule
    }

    /// Counts a match and tells its number if it is one of those to be hit.
    fn counts(&mut self) -> Option<u64> {
        self.matched += 1;
        let nth = self.matched;
        let after = nth.checked_sub(self.rule.nth.max(1))?;
        self.rule.times.is_none_or(|times| after < times).then(|| {
            self.hit += 1;
            nth
        })
    }
}

/// A request that was hit and whose reply is waited for.
#[derive(Debug)]
struct Awaited {
    /// `None` for the request of a session.
    cxid: Option<u32>,
    fate: Fate,
    /// Told with the reply. `None` where the rule is gone, and for a second reply to one request.
    sighting: Option<Sighting>,
}

#[derive(Debug, Default)]
pub struct Interposer {
    armed: Vec<Armed>,
    awaited: BTreeMap<ConnectionId, VecDeque<Awaited>>,
    held: BTreeMap<ConnectionId, FaultId>,
}

impl Interposer {
    /// Whether anything is to be done here at all.
    pub fn is_idle(&self) -> bool {
        self.armed.is_empty() && self.awaited.is_empty()
    }

    /// Whether no rule is at work and no connection held.
    #[cfg(test)]
    pub fn is_unarmed(&self) -> bool {
        self.armed.is_empty() && self.held.is_empty()
    }

    /// False where it is armed so already.
    pub fn arm(&mut self, by: Concerning, places: Vec<Place>, rule: MessageRule) -> bool {
        if self.armed.iter().any(|it| it.is(by, &rule) && it.places == places) {
            return false;
        }
        self.armed.push(Armed { by, places, rule, matched: 0, hit: 0 });
        true
    }

    /// Whether this rule is at work here.
    pub fn is_armed(&self, by: Concerning, rule: &MessageRule, place: &Place) -> bool {
        self.armed.iter().any(|it| it.is(by, rule) && it.places.contains(place))
    }

    /// The rule is gone. Tells how many messages it hit, and which connections it holds.
    pub fn disarm(
        &mut self,
        sightings: &mut Sightings,
        (fault, rule): (FaultId, &MessageRule),
        places: &[Place],
    ) -> Option<(u64, Vec<ConnectionId>)> {
        let by = Concerning::Fault(fault);
        let its = |it: &Armed| it.is(by, rule) && it.places == places;
        let position = self.armed.iter().position(its)?;
        let armed = self.armed.remove(position);
        for one in self.awaited.values_mut().flatten() {
            // No reply has come so far: what was hit is told all the same.
            if let Some(sighting) = one.sighting.take_if(|sighting| sighting.concerning == by) {
                sightings.tell(sighting);
            }
        }
        let held = self.held.iter().filter(|(_, by)| **by == fault).map(|(id, _)| *id).collect();
        self.held.retain(|_, by| *by != fault);
        Some((armed.hit, held))
    }

    /// Lookouts are gone; faults stay.
    pub fn forget_lookouts(&mut self) {
        self.armed.retain(|armed| matches!(armed.by, Concerning::Fault(_)));
    }

    /// A message has reached a host.
    pub fn request(
        &mut self,
        sightings: &mut Sightings,
        now: Nanos,
        ((id, ends), hosts): ((ConnectionId, Ends), [usize; 2]),
        message: &Message,
    ) -> Passage {
        let (Some(words), Endpoint::Node(node)) = (wording::words(message), ends.callee) else {
            return Passage::Once;
        };
        let mut passage = Passage::Once;
        let mut taken = false;
        for armed in &mut self.armed {
            let here = armed.places.iter().any(|place| place.concerns(hosts, ends.port));
            if !here || !armed.rule.pattern.matches(words.iter().copied()) {
                continue;
            }
            let Some(nth) = armed.counts() else { continue };
            let form = armed.rule.form;
            let sighting = sighting((armed.by, now, node), (message, ends), (form, nth));
            let late = armed.rule.delay.map_or(0, crate::duration::Span::nanos);
            let fate = match form {
                Form::Watch => {
                    sightings.tell(sighting);
                    continue;
                }
                // What one rule does to a message no other one can do again.
                _ if taken => continue,
                Form::DropRequest => {
                    sightings.tell(sighting);
                    passage = Passage::Never;
                    taken = true;
                    continue;
                }
                Form::Hold => Fate::Held,
                Form::Close => Fate::Closed,
                Form::Delay => Fate::Late(late),
                Form::Duplicate => Fate::Passes,
            };
            taken = true;
            let awaited = self.awaited.entry(id).or_default();
            let cxid = cxid(message);
            awaited.push_back(Awaited { cxid, fate, sighting: Some(sighting) });
            if form == Form::Duplicate {
                passage = Passage::Twice;
                awaited.push_back(Awaited { cxid, fate: Fate::Swallowed, sighting: None });
            }
        }
        passage
    }

    /// A process sends this.
    pub fn reply(
        &mut self,
        sightings: &mut Sightings,
        id: ConnectionId,
        message: &Message,
    ) -> Fate {
        let Some(awaited) = self.awaited.get_mut(&id) else { return Fate::Passes };
        let (cxid, (words, applied)) = match message {
            Message::Reply(reply) => (Some(reply.cxid), wording::reply(reply)),
            Message::Connected { session: 0, .. } => {
                (None, ("error SessionExpired".to_owned(), false))
            }
            Message::Connected { session, .. } => {
                (None, (format!("ok session=0x{session:x}"), true))
            }
            _ => return Fate::Passes,
        };
        let Some(position) = awaited.iter().position(|it| it.cxid == cxid) else {
            return Fate::Passes;
        };
        let Some(answered) = awaited.remove(position) else { return Fate::Passes };
        if awaited.is_empty() {
            self.awaited.remove(&id);
        }
        let mut fate = answered.fate;
        if let Some(mut sighting) = answered.sighting {
            if let (Fate::Held, Concerning::Fault(fault)) = (fate, sighting.concerning) {
                // The first to hold a connection holds it until it ends.
                self.held.entry(id).or_insert(fault);
            }
            if let Some(seen) = &mut sighting.message {
                seen.reply = Some(words);
                seen.applied = applied;
            }
            sightings.tell(sighting);
        } else if fate != Fate::Swallowed {
            fate = Fate::Passes;
        }
        fate
    }

    /// A connection is over: what was hit on it will not be answered.
    pub fn ended(&mut self, sightings: &mut Sightings, id: ConnectionId) {
        self.held.remove(&id);
        for awaited in self.awaited.remove(&id).into_iter().flatten() {
            if let Some(sighting) = awaited.sighting {
                sightings.tell(sighting);
            }
        }
    }
}

fn cxid(message: &Message) -> Option<u32> {
    match message {
        Message::Request { cxid, .. } => Some(*cxid),
        _ => None,
    }
}

fn sighting(
    (concerning, at, node): (Concerning, Nanos, u8),
    (message, ends): (&Message, Ends),
    (form, nth): (Form, u64),
) -> Sighting {
    let request = wording::request(message);
    let seen = MessageSeen {
        request: request.clone(),
        subject: wording::subject(message),
        reply: None,
        applied: false,
        connection: format!("{}→{}:{}", address(ends.caller), host(ends.callee), ends.port),
        form,
        nth,
    };
    Sighting { concerning, node, what: request, message: Some(seen), at }
}

fn host(endpoint: Endpoint) -> String {
    match endpoint {
        Endpoint::Node(node) => format!("10.0.0.{}", u16::from(node) + 1),
        Endpoint::Caller { .. } => "10.0.0.254".to_owned(),
    }
}

/// Clients are told apart by their ports.
fn address(endpoint: Endpoint) -> String {
    let port = match endpoint {
        Endpoint::Caller { number, .. } => 32_768 + number % 28_232,
        Endpoint::Node(_) => 32_768,
    };
    format!("{}:{port}", host(endpoint))
}
