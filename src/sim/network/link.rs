//! One direction between two hosts: how long packets take, which are lost, who has cut or capped it.

use std::collections::BTreeMap;

use crate::cluster::{FaultId, Manner, Refusal};
use crate::op::{MILLISECOND, Nanos, SECOND};
use crate::rng::Rng;

/// One packet in this many takes much longer than the others, as on real hosts.
const SPIKE_EVERY: u64 = 512;
const SPIKE: Nanos = 3 * MILLISECOND;
/// The first retransmission timeout of TCP; it doubles with each loss in a row.
pub const RETRANSMIT_FIRST: Nanos = 200 * MILLISECOND;

/// A rule that lets nothing pass: whose it is, and how it refuses what.
pub type Rule = (FaultId, Manner);

#[derive(Clone, Copy, Debug)]
struct Cap {
    bytes_per_second: u64,
    /// Packets that it held up.
    delayed: u64,
}

/// A direction between two hosts.
#[derive(Clone, Debug)]
pub struct Link {
    base: Nanos,
    jitter: Nanos,
    loss: f64,
    /// The rules that cut it now, each with the packets of the workload that it dropped.
    cuts: BTreeMap<Rule, u64>,
    caps: BTreeMap<FaultId, Cap>,
    /// When what a cap has let in will all be out.
    free_at: Nanos,
}

impl Link {
    pub fn new(base: Nanos, jitter: Nanos) -> Link {
        let (cuts, caps) = (BTreeMap::new(), BTreeMap::new());
        Link { base, jitter, loss: 0.0, cuts, caps, free_at: 0 }
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

    /// False where this fault has cut the link so before.
    pub fn cut(&mut self, fault: FaultId, manner: Manner) -> bool {
        let rule = (fault, manner);
        if self.cuts.contains_key(&rule) {
            return false;
        }
        self.cuts.insert(rule, 0);
        true
    }

    /// Removes this cut of this fault and tells how many packets it dropped.
    pub fn join(&mut self, fault: FaultId, manner: Manner) -> Option<u64> {
        self.cuts.remove(&(fault, manner))
    }

    /// The first rule that concerns a packet, which is the one that acts.
    pub fn rule(&self, concerns: impl Fn(Option<u16>) -> bool) -> Option<Rule> {
        self.cuts.keys().find(|(_, manner)| concerns(manner.port)).copied()
    }

    /// Counts a packet that this rule drops.
    pub fn drop_packet(&mut self, rule: Rule) {
        if let Some(dropped) = self.cuts.get_mut(&rule) {
            *dropped += 1;
        }
    }

    /// False where this fault caps the link already.
    pub fn throttle(&mut self, fault: FaultId, bytes_per_second: u64) -> bool {
        if self.caps.contains_key(&fault) {
            return false;
        }
        self.caps.insert(fault, Cap { bytes_per_second, delayed: 0 });
        true
    }

    /// Removes the cap of this fault and tells how many packets it held up.
    pub fn unthrottle(&mut self, fault: FaultId) -> Option<u64> {
        let cap = self.caps.remove(&fault)?;
        self.free_at = 0;
        Some(cap.delayed)
    }

    /// The lowest cap and whose it is.
    pub fn cap(&self) -> Option<(FaultId, u64)> {
        let lowest = self.caps.iter().min_by_key(|(_, cap)| cap.bytes_per_second);
        lowest.map(|(fault, cap)| (*fault, cap.bytes_per_second))
    }

    pub fn is_capped(&self) -> bool {
        !self.caps.is_empty()
    }

    /// How long a packet waits until all before it and the packet itself have gone out.
    pub fn serialize(&mut self, now: Nanos, bytes: u64, counted: bool) -> Nanos {
        let Some((fault, bytes_per_second)) = self.cap() else { return 0 };
        if counted && let Some(cap) = self.caps.get_mut(&fault) {
            cap.delayed += 1;
        }
        self.free_at = self.free_at.max(now).saturating_add(duration(bytes, bytes_per_second));
        self.free_at - now
    }
}

/// How long so many bytes take at this rate.
pub fn duration(bytes: u64, bytes_per_second: u64) -> Nanos {
    let nanos = u128::from(bytes) * u128::from(SECOND) / u128::from(bytes_per_second.max(1));
    nanos.min(u128::from(u64::MAX / 4)) as Nanos
}

/// Whether a refused packet is answered.
pub fn answers(rule: Rule) -> bool {
    rule.1.refusal == Refusal::Reset
}
