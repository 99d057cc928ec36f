//! One direction between two nodes: how long packets take, which are lost, and who has cut it.

use std::collections::BTreeMap;

use crate::cluster::FaultId;
use crate::op::{MILLISECOND, Nanos};
use crate::rng::Rng;

/// One packet in this many takes much longer than the others, as on real hosts.
const SPIKE_EVERY: u64 = 512;
const SPIKE: Nanos = 3 * MILLISECOND;
/// The first retransmission timeout of TCP; it doubles with each loss in a row.
pub const RETRANSMIT_FIRST: Nanos = 200 * MILLISECOND;

/// A direction between two hosts.
#[derive(Clone, Debug)]
pub struct Link {
    base: Nanos,
    jitter: Nanos,
    loss: f64,
    /// The faults that cut it now, each with the packets of the workload that it dropped.
    cuts: BTreeMap<FaultId, u64>,
}

impl Link {
    pub fn new(base: Nanos, jitter: Nanos) -> Link {
        Link { base, jitter, loss: 0.0, cuts: BTreeMap::new() }
    }

    /// A link as between containers on one host, with its own mean drawn from the stream.
    pub fn drawn(rng: &mut Rng) -> Link {
        Link::new(rng.between(60_000, 160_000), 60_000)
    }

    pub fn set_latency(&mut self, base: Nanos, jitter: Nanos) {
        self.base = base;
        self.jitter = jitter;
    }

    /// Each packet is lost with this probability; TCP then sends it again after its timeout.
    pub fn set_loss(&mut self, probability: f64) {
        assert!((0.0..1.0).contains(&probability), "a link that loses everything is cut");
        self.loss = probability;
    }

    /// How long the next segment is under way, retransmissions of lost packets included.
    pub fn latency(&self, rng: &mut Rng) -> Nanos {
        let mut latency = self.base + rng.below(self.jitter);
        if rng.below(SPIKE_EVERY) == 0 {
            latency += rng.below(SPIKE);
        }
        let mut timeout = RETRANSMIT_FIRST;
        while self.loss > 0.0 && rng.chance(self.loss) {
            latency += timeout;
            timeout *= 2;
        }
        latency
    }

    /// False where this fault has cut the link before.
    pub fn cut(&mut self, fault: FaultId) -> bool {
        if self.cuts.contains_key(&fault) {
            return false;
        }
        self.cuts.insert(fault, 0);
        true
    }

    /// Removes the cut of this fault and tells how many packets it dropped.
    pub fn join(&mut self, fault: FaultId) -> Option<u64> {
        self.cuts.remove(&fault)
    }

    pub fn is_cut(&self) -> bool {
        !self.cuts.is_empty()
    }

    /// The fault whose rule comes first, which is the one that drops.
    pub fn cut_by(&self) -> Option<FaultId> {
        self.cuts.keys().next().copied()
    }

    /// Counts a packet that the cut drops.
    pub fn drop_packet(&mut self) {
        if let Some(mut first) = self.cuts.first_entry() {
            *first.get_mut() += 1;
        }
    }
}
