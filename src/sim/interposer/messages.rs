//! Interposers before servers of the ensemble model, which speaks in messages.

use std::collections::{BTreeMap, VecDeque};

use super::{Interposer, Line, seen};
use crate::cluster::{Concerning, Form, Protocol};
use crate::duration::Span;
use crate::op::Nanos;
use crate::sim::network::ConnectionId;
use crate::sim::sightings::{Sighting, Sightings};
use crate::sim::zookeeper::{Message, wording};

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
    /// Neither it nor anything behind it, and no request that comes later.
    Held,
    /// It is lost with its connection.
    Closed,
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
pub struct Messages {
    awaited: BTreeMap<ConnectionId, VecDeque<Awaited>>,
}

impl Messages {
    /// A rule is gone. What it hit is told all the same, though no reply has come so far.
    pub fn let_go(&mut self, sightings: &mut Sightings, by: Concerning) {
        for one in self.awaited.values_mut().flatten() {
            if let Some(sighting) = one.sighting.take_if(|sighting| sighting.concerning == by) {
                sightings.tell(sighting);
            }
        }
    }

    pub fn ended(&mut self, sightings: &mut Sightings, id: ConnectionId) {
        for awaited in self.awaited.remove(&id).into_iter().flatten() {
            if let Some(sighting) = awaited.sighting {
                sightings.tell(sighting);
            }
        }
    }
}

impl Interposer {
    /// Whether messages pass as if there were no interposer.
    pub fn is_idle(&self) -> bool {
        self.armory.is_empty() && self.messages.awaited.is_empty()
    }

    /// A message has reached a server's host.
    pub fn request(
        &mut self,
        sightings: &mut Sightings,
        (now, id, line): (Nanos, ConnectionId, &Line),
        message: &Message,
    ) -> Passage {
        if self.held.contains_key(&id) {
            return Passage::Never;
        }
        let Some(words) = wording::words(message) else { return Passage::Once };
        let mut passage = Passage::Once;
        for taken in self.armory.judge(line, Protocol::Zookeeper, &words) {
            let what = wording::request(message);
            let seen = seen(line, what.clone(), wording::subject(message), &taken);
            let node = taken.at as u8;
            let sighting =
                Sighting { concerning: taken.by, node, what, message: Some(seen), at: now };
            let fate = match taken.rule.form {
                Form::Watch | Form::DropRequest => {
                    sightings.tell(sighting);
                    if taken.rule.form == Form::DropRequest {
                        passage = Passage::Never;
                    }
                    continue;
                }
                Form::Hold => Fate::Held,
                Form::Close => Fate::Closed,
                Form::Delay => Fate::Late(taken.rule.delay.map_or(0, Span::nanos)),
                Form::Duplicate => Fate::Passes,
            };
            let awaited = self.messages.awaited.entry(id).or_default();
            let cxid = cxid(message);
            awaited.push_back(Awaited { cxid, fate, sighting: Some(sighting) });
            if taken.rule.form == Form::Duplicate {
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
        let Some(awaited) = self.messages.awaited.get_mut(&id) else { return Fate::Passes };
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
            self.messages.awaited.remove(&id);
        }
        let Some(mut sighting) = answered.sighting else {
            let swallowed = answered.fate == Fate::Swallowed;
            return if swallowed { Fate::Swallowed } else { Fate::Passes };
        };
        if answered.fate == Fate::Held {
            self.hold(id, sighting.concerning);
        }
        if let Some(seen) = &mut sighting.message {
            seen.reply = Some(words);
            seen.applied = applied;
        }
        sightings.tell(sighting);
        answered.fate
    }
}

fn cxid(message: &Message) -> Option<u32> {
    match message {
        Message::Request { cxid, .. } => Some(*cxid),
        _ => None,
    }
}
