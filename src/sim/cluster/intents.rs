//! What is meant to be in force, by the actions performed so far: what probes are held against.
//!
//! It never looks into the network: it must be able to contradict it.

use crate::cluster::{Action, Effect, FaultId, Link, Manner, Refusal, Side, Tap, Toxic};
use crate::op::Nanos;
use crate::sim::network::duration;

/// Actions that have not been taken back, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Intents(Vec<Action>);

impl Intents {
    pub fn add(&mut self, action: &Action) {
        self.0.push(action.clone());
    }

    /// Notes that this action is taken back; false where it is not in force.
    pub fn remove(&mut self, action: &Action) -> bool {
        let position = self.0.iter().position(|other| other == action);
        position.map(|position| self.0.remove(position)).is_some()
    }

    /// Who stops a caller of this port on the link, and how. Without port: of one that nobody names.
    pub fn blocked_by(&self, link: &Link, port: Option<u16>) -> Option<(FaultId, Refusal)> {
        let cuts = self.0.iter().filter_map(|action| match action {
            Action::Cut { fault, links, manner } if links.contains(link) => {
                concerns(*manner, port).then_some((*fault, *manner))
            }
            _ => None,
        });
        cuts.min().map(|(fault, manner)| (fault, manner.refusal))
    }

    /// How long so many bytes to this port take at least, for caps and toxics.
    pub fn least_delay(&self, link: &Link, port: Option<u16>, bytes: u64) -> Nanos {
        let caps = self.0.iter().filter_map(|action| match action {
            Action::Throttle { links, bytes_per_second, .. } if links.contains(link) => {
                Some(*bytes_per_second)
            }
            _ => None,
        });
        let capped = caps.min().map_or(0, |lowest| duration(bytes, lowest));
        let toxics = self.0.iter().filter_map(|action| match action {
            Action::Interpose { taps, effect: Effect::Toxic(toxic), .. } => {
                let taken = taps.iter().any(|tap| leads_through(tap, link, port));
                taken.then(|| least(toxic, bytes))
            }
            _ => None,
        });
        capped + toxics.sum::<Nanos>()
    }
}

fn concerns(manner: Manner, port: Option<u16>) -> bool {
    manner.port.is_none() || manner.port == port
}

fn leads_through(tap: &Tap, link: &Link, port: Option<u16>) -> bool {
    let (node, peer) = match tap.side {
        Side::Inbound => (link.to, link.from),
        Side::Outbound => (link.from, link.to),
    };
    let known = tap.peers.is_empty() || tap.peers.contains(&peer);
    node == tap.node && known && port == Some(tap.port)
}

/// How long a toxic keeps so many bytes at least.
fn least(toxic: &Toxic, bytes: u64) -> Nanos {
    match toxic {
        Toxic::Latency { delay, jitter } => delay.nanos().saturating_sub(jitter.nanos()),
        Toxic::Bandwidth { bytes_per_second } => duration(bytes, *bytes_per_second),
        Toxic::Slicer { bytes: slice, pause } => {
            let slices = bytes.div_ceil(u64::from(*slice).max(1));
            pause.nanos().saturating_mul(slices.saturating_sub(1))
        }
        Toxic::Reset { .. } => 0,
    }
}
