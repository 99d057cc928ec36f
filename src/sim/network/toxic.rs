//! Capped links and toxics: what slows segments down or ends a connection, whatever they mean.
//!
//! An armed toxic stands where an interposer would: at connections opened by certain hosts to a port
//! of certain others. Slices are not told apart: a segment arrives when its last slice does.

use std::collections::BTreeMap;

use super::link::duration;
use super::pipe::Segment;
use super::{ConnectionId, Network, NetworkEvent, Side, Step, Wire};
use crate::cluster::{FaultId, Toxic};
use crate::op::Nanos;
use crate::sim::agenda::Agenda;

/// Headers of a packet below what it carries.
const HEADERS_BYTES: u64 = 66;

/// Connections: opened from one of these hosts to this port of one of those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node in whose namespace something stands.
    pub at: usize,
    pub callers: Vec<usize>,
    pub callees: Vec<usize>,
    pub port: u16,
}

impl Place {
    pub fn concerns(&self, [caller, callee]: [usize; 2], port: u16) -> bool {
        port == self.port && self.callers.contains(&caller) && self.callees.contains(&callee)
    }
}

#[derive(Debug)]
pub(super) struct ArmedToxic {
    fault: FaultId,
    places: Vec<Place>,
    toxic: Toxic,
    /// Segments that it has acted on.
    hit: u64,
    /// What the callee of each connection has sent since it was armed.
    sent_bytes: BTreeMap<ConnectionId, u64>,
}

impl ArmedToxic {
    fn is(&self, fault: FaultId, toxic: Toxic) -> bool {
        (self.fault, self.toxic) == (fault, toxic)
    }

    fn concerns(&self, hosts: [usize; 2], port: u16) -> bool {
        self.places.iter().any(|place| place.concerns(hosts, port))
    }
}

impl<M: Wire> Network<M> {
    /// False where this fault has armed it before.
    pub fn poison<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (fault, toxic): (FaultId, Toxic),
        places: Vec<Place>,
    ) -> bool {
        if self.toxics.iter().any(|it| it.is(fault, toxic) && it.places == places) {
            return false;
        }
        let sent_bytes = BTreeMap::new();
        let mut armed = ArmedToxic { fault, places, toxic, hit: 0, sent_bytes };
        if matches!(toxic, Toxic::Reset { after_bytes: 0 }) {
            let live = self.live(|_, hosts, port| armed.concerns(hosts, port));
            armed.hit = live.len() as u64;
            live.into_iter().for_each(|id| self.abort(agenda, now, id));
        }
        self.toxics.push(armed);
        true
    }

    /// Whether this fault has armed this toxic here.
    pub fn is_poisoned(&self, fault: FaultId, toxic: Toxic, place: &Place) -> bool {
        self.toxics.iter().any(|it| it.is(fault, toxic) && it.places.contains(place))
    }

    /// Disarms it: what it has held up comes at once. Tells how many segments it has acted on.
    pub fn cleanse<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (fault, toxic): (FaultId, Toxic),
        places: &[Place],
    ) -> Option<u64> {
        let its = |it: &ArmedToxic| it.is(fault, toxic) && it.places == places;
        let position = self.toxics.iter().position(its)?;
        let armed = self.toxics.remove(position);
        for id in self.live(|_, hosts, port| armed.concerns(hosts, port)) {
            self.hurry(agenda, now, id, Side::Caller);
            self.hurry(agenda, now, id, Side::Callee);
        }
        Some(armed.hit)
    }

    /// A cap is gone from this link: what it has held up comes at once.
    pub fn hurry_link<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        (from, to): (usize, usize),
    ) {
        for id in self.live(|_, hosts, _| hosts == [from, to]) {
            self.hurry(agenda, now, id, Side::Callee);
        }
        for id in self.live(|_, hosts, _| hosts == [to, from]) {
            self.hurry(agenda, now, id, Side::Caller);
        }
    }

    /// What is on its way to one end comes at once.
    pub fn hurry<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
    ) {
        let way = self.way(id, to);
        let soon = now + self.latency(way.from, way.to);
        let Some(connection) = self.get(id) else { return };
        let pipe = connection.pipe(to);
        pipe.busy_until = 0;
        pipe.last_arrival = pipe.last_arrival.min(soon);
        for (due, _) in pipe.transit.iter_mut().filter(|(due, _)| *due > soon) {
            *due = soon;
            agenda.push(soon, NetworkEvent(Step::Arrive { connection: id, to }));
        }
    }

    /// How much later a segment is for caps and toxics on its way.
    pub(super) fn slow_down(
        &mut self,
        now: Nanos,
        id: ConnectionId,
        to: Side,
        segment: &Segment<M>,
    ) -> Nanos {
        let way = self.way(id, to);
        let capped = self.links[way.from * self.hosts + way.to].is_capped();
        if !capped && self.toxics.is_empty() {
            return 0;
        }
        let payload = match segment {
            Segment::Data(message) => message.bytes(),
            _ => 0,
        };
        let counted = !self.is_uncounted(id);
        let slowed = self.link(way.from, way.to).serialize(now, payload + HEADERS_BYTES, counted);
        let asked = if to == Side::Callee { [way.from, way.to] } else { [way.to, way.from] };
        let Some(connection) = self.connections[id.index as usize].as_mut() else { return 0 };
        let pipe = connection.pipe(to);
        let mut late = 0;
        for armed in self.toxics.iter_mut().filter(|armed| armed.concerns(asked, way.port)) {
            match armed.toxic {
                Toxic::Reset { .. } => {
                    if to == Side::Caller {
                        *armed.sent_bytes.entry(id).or_insert(0) += payload;
                    }
                    continue;
                }
                Toxic::Latency { delay, jitter } => {
                    late += jittered(&mut self.rng, delay.nanos(), jitter.nanos());
                }
                ref toxic => pipe.busy_until = pipe.busy_until.max(now) + occupies(toxic, payload),
            }
            armed.hit += u64::from(counted);
        }
        slowed + late + pipe.busy_until.saturating_sub(now)
    }

    /// How long a probe of this size takes through the toxics at a place.
    pub(super) fn toxic_delay(&mut self, hosts: [usize; 2], port: u16, bytes: u64) -> Nanos {
        let mut late = 0;
        for armed in self.toxics.iter().filter(|armed| armed.concerns(hosts, port)) {
            late += match armed.toxic {
                Toxic::Latency { delay, jitter } => {
                    jittered(&mut self.rng, delay.nanos(), jitter.nanos())
                }
                ref toxic => occupies(toxic, bytes),
            };
        }
        late
    }

    /// Resets a connection that has brought as many bytes as a toxic lets pass.
    pub(super) fn reset_when_spent<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        id: ConnectionId,
        to: Side,
    ) {
        let way = self.way(id, to);
        if to != Side::Caller {
            return;
        }
        let spent = self.toxics.iter_mut().any(|armed| {
            let Toxic::Reset { after_bytes } = armed.toxic else { return false };
            let sent = armed.sent_bytes.get(&id).copied().unwrap_or(0);
            let spent = armed.concerns([way.to, way.from], way.port) && sent >= after_bytes;
            armed.hit += u64::from(spent);
            spent
        });
        if spent {
            self.abort(agenda, now, id);
        }
    }
}

/// How long a toxic keeps a connection busy with so many bytes.
fn occupies(toxic: &Toxic, payload: u64) -> Nanos {
    match toxic {
        Toxic::Bandwidth { bytes_per_second } => duration(payload, *bytes_per_second),
        Toxic::Slicer { bytes, pause } => {
            let pauses = payload.div_ceil(u64::from(*bytes).max(1)).saturating_sub(1);
            pause.nanos().saturating_mul(pauses)
        }
        Toxic::Latency { .. } | Toxic::Reset { .. } => 0,
    }
}

fn jittered(rng: &mut crate::rng::Rng, delay: Nanos, jitter: Nanos) -> Nanos {
    let least = delay.saturating_sub(jitter);
    least + rng.below((delay + jitter - least).max(1))
}
