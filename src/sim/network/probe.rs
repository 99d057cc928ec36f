//! Packets that only the hosts' kernels see: they show what becomes of traffic, and are not counted.

use super::link::answers;
use super::{Network, NetworkEvent, Step, Way, Wire};
use crate::op::Nanos;
use crate::sim::agenda::Agenda;

/// No service has it, so no rule of a port concerns it.
const UNUSED_PORT: u16 = 0;

/// Which way a probe takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub from: usize,
    pub to: usize,
    /// As a caller of this port; `None`: of one that no rule names.
    pub port: Option<u16>,
    pub bytes: u64,
}

/// What became of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has not come out, so far.
    Missing,
    Refused,
    /// It has come out after so long.
    Passed(Nanos),
}

pub(super) struct Probe {
    sent: Nanos,
    fate: Fate,
}

impl<M: Wire> Network<M> {
    /// Sends one packet over a link and through the toxics at the port.
    pub fn probe<E: From<NetworkEvent>>(
        &mut self,
        agenda: &mut Agenda<E>,
        now: Nanos,
        route: Route,
    ) -> usize {
        let Route { from, to, port, bytes } = route;
        let way = Way { from, to, port: port.unwrap_or(UNUSED_PORT), asks: true };
        let probe = self.probes.len();
        let fate = match self.rule(way) {
            Some(rule) if answers(rule) => Fate::Refused,
            Some(_) => Fate::Missing,
            None => {
                let waits = self.link(from, to).serialize(now, bytes, false);
                let late = self.toxic_delay([from, to], way.port, bytes);
                let latency = self.latency(from, to);
                agenda.push(now + waits + late + latency, NetworkEvent(Step::Probe { probe }));
                Fate::Missing
            }
        };
        self.probes.push(Probe { sent: now, fate });
        probe
    }

    pub(super) fn probe_comes_out(&mut self, now: Nanos, probe: usize) {
        let probe = &mut self.probes[probe];
        probe.fate = Fate::Passed(now - probe.sent);
    }

    pub fn probe_fate(&self, probe: usize) -> Fate {
        self.probes[probe].fate
    }
}
