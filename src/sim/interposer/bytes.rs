//! Interposers on byte streams: they follow what is said from the first byte on, and act as those of the
//! other world do, by the same code.

use std::collections::BTreeMap;

use super::armory::{Armory, Taken};
use super::{Interposer, Line, seen};
use crate::cluster::{Concerning, Form, Protocol};
use crate::op::Nanos;
use crate::sim::network::{ConnectionId, Place};
use crate::sim::sightings::{Sighting, Sightings};
use crate::wire::{Deed, Hit, Reply, Request, Rules, Splice};

/// A stream that an interposer stands in.
struct Followed {
    line: Line,
    splice: Splice,
    /// Who has made replies late.
    late: Option<Concerning>,
}

#[derive(Default)]
pub struct Spliced {
    places: Vec<Place>,
    followed: BTreeMap<ConnectionId, Followed>,
}

/// What becomes of bytes that reach an interposer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// In this order, each so much later than now.
    pub pieces: Vec<(Nanos, Vec<u8>)>,
    /// Nothing more ever comes from the server.
    pub is_held: bool,
    /// Behind all that the connection ends.
    pub is_closed: bool,
}

impl Spliced {
    pub fn stand(&mut self, places: Vec<Place>) {
        self.places = places;
    }

    /// A rule is gone: on which connections replies are late for nothing.
    pub fn let_go(&mut self, by: Concerning) -> Vec<ConnectionId> {
        let late = self.followed.iter_mut().filter(|(_, it)| it.late == Some(by));
        late.map(|(id, it)| (it.late = None, *id).1).collect()
    }

    pub fn ended(
        &mut self,
        armory: &mut Armory,
        sightings: &mut Sightings,
        now: Nanos,
        id: ConnectionId,
    ) {
        if let Some(mut followed) = self.followed.remove(&id) {
            let line = &followed.line;
            followed.splice.finish(&mut Facing { armory, sightings, line, now });
        }
    }
}

impl Interposer {
    /// A stream has been opened. It is followed where an interposer stands.
    pub fn opened(&mut self, id: ConnectionId, line: Line) {
        let here = |place: &Place| place.concerns(line.hosts, line.port);
        if self.bytes.places.iter().any(here) {
            let followed = Followed { line, splice: Splice::default(), late: None };
            self.bytes.followed.insert(id, followed);
        }
    }

    pub fn follows(&self, id: ConnectionId) -> bool {
        !self.bytes.followed.is_empty() && self.bytes.followed.contains_key(&id)
    }

    /// Bytes have reached a server's host, or no more come (`None`).
    pub fn requests(
        &mut self,
        sightings: &mut Sightings,
        (now, id): (Nanos, ConnectionId),
        bytes: Option<&[u8]>,
    ) -> Passing {
        self.pass(id, |splice, armory, line| match bytes {
            Some(bytes) => splice.requests(bytes, &mut Facing { armory, sightings, line, now }),
            None => splice.end_of_requests(),
        })
    }

    /// A server's process sends bytes, or no more (`None`).
    pub fn replies(
        &mut self,
        sightings: &mut Sightings,
        (now, id): (Nanos, ConnectionId),
        bytes: Option<&[u8]>,
    ) -> Passing {
        self.pass(id, |splice, armory, line| match bytes {
            Some(bytes) => splice.replies(bytes, &mut Facing { armory, sightings, line, now }),
            None => splice.end_of_replies(),
        })
    }

    fn pass(
        &mut self,
        id: ConnectionId,
        say: impl FnOnce(&mut Splice, &mut Armory, &Line) -> Vec<Deed>,
    ) -> Passing {
        let mut passing = Passing::default();
        let Some(Followed { line, splice, late }) = self.bytes.followed.get_mut(&id) else {
            return passing;
        };
        let (mut after, mut holder) = (0, None);
        for deed in say(splice, &mut self.armory, line) {
            match deed {
                Deed::Pass(bytes) => passing.pieces.push((after, bytes)),
                Deed::Delay(delay, by) => {
                    after = Nanos::try_from(delay.as_nanos()).unwrap_or(Nanos::MAX);
                    *late = Some(by);
                }
                Deed::Hold(by) => holder = Some(by),
                Deed::Close => passing.is_closed = true,
            }
        }
        if let Some(by) = holder {
            self.hold(id, by);
            passing.is_held = true;
        }
        passing
    }
}

/// The armory as one stream faces it.
struct Facing<'a> {
    armory: &'a mut Armory,
    sightings: &'a mut Sightings,
    line: &'a Line,
    now: Nanos,
}

impl Facing<'_> {
    fn tell(&mut self, taken: &Taken, request: &Request, reply: Option<Reply>) {
        let what = request.text.clone();
        let mut seen = seen(self.line, what.clone(), request.subject.clone(), taken);
        seen.applied = reply.as_ref().is_some_and(|reply| reply.applied);
        seen.reply = reply.map(|reply| reply.text);
        let (concerning, node) = (taken.by, taken.at as u8);
        self.sightings.tell(Sighting { concerning, node, what, message: Some(seen), at: self.now });
    }
}

impl Rules for Facing<'_> {
    fn expected(&self) -> Option<Protocol> {
        self.armory.expected(self.line)
    }

    fn judge(&mut self, protocol: Protocol, request: &Request) -> Option<Hit> {
        let words: Vec<&str> = request.words.iter().map(String::as_str).collect();
        let mut hit = None;
        for taken in self.armory.judge(self.line, protocol, &words) {
            if taken.rule.form == Form::Watch {
                self.tell(&taken, request, None);
            } else {
                let (concerning, rule, nth) = (taken.by, taken.rule, taken.nth);
                hit = Some(Hit { concerning, rule, nth, request: request.clone() });
            }
        }
        hit
    }

    fn is_armed(&self, by: Concerning) -> bool {
        self.armory.is_armed(by)
    }

    fn saw(&mut self, hit: Hit, reply: Option<Reply>) {
        let Hit { concerning: by, rule, nth, request } = hit;
        let at = self.armory.stands_at(by, self.line);
        self.tell(&Taken { by, rule, nth, at }, &request, reply);
    }

    fn count_unparsed(&mut self) {}
}
