//! Interposers armed and withdrawn: proven by probes through them, or by what they say of themselves.

use std::collections::BTreeSet;

use anyhow::ensure;

use super::super::SimCluster;
use super::probes::Errand;
use super::{Done, check};
use crate::cluster::{
    Action, CLIENTS, Check, Concerning, Effect, FaultId, Link, MessageRule, Pattern, Role, Side,
    Tap, Toxic,
};
use crate::op::NodeName;
use crate::sim::network::Place;

/// A probe of a toxic that caps the bandwidth takes this part of a second.
const CAP_PROBES_PER_SECOND: u64 = 10;
/// A probe comes in so many slices.
const SLICES: u64 = 3;

impl SimCluster {
    pub(super) async fn interpose(
        &self,
        action: &Action,
        fault: FaultId,
        (taps, effect): (&BTreeSet<Tap>, &Effect),
    ) -> anyhow::Result<Done> {
        for tap in taps {
            ensure!(self.standing.borrow().contains(tap), "no interposer stands at {tap}");
        }
        let places = self.places(taps)?;
        let armed = match effect {
            Effect::Message(rule) => {
                self.ensure_spoken(taps, &rule.pattern)?;
                let by = Concerning::Fault(fault);
                self.world.with(|world| world.interposer.arm(by, places, rule.clone()))
            }
            Effect::Toxic(toxic) => self.world.with(|world| world.poison(fault, *toxic, places)),
        };
        if !armed {
            return Ok(Done::not(format!("{fault} is armed at these taps already")));
        }
        self.intents.borrow_mut().add(action);
        self.see_effect(fault, (taps, effect), None).await
    }

    pub(super) async fn withdraw(
        &self,
        action: &Action,
        fault: FaultId,
        (taps, effect): (&BTreeSet<Tap>, &Effect),
    ) -> anyhow::Result<Done> {
        let places = self.places(taps)?;
        let hit = self.world.with(|world| match effect {
            Effect::Message(rule) => world.disarm(fault, rule, &places),
            Effect::Toxic(toxic) => world.cleanse(fault, *toxic, &places),
        });
        let Some(hit) = hit else {
            return Ok(Done::not(format!("{fault} is not armed at these taps")));
        };
        self.withdraw_intent(action);
        self.see_effect(fault, (taps, effect), Some(hit)).await
    }

    async fn see_effect(
        &self,
        fault: FaultId,
        (taps, effect): (&BTreeSet<Tap>, &Effect),
        hit: Option<u64>,
    ) -> anyhow::Result<Done> {
        let mut checks = self.asked(fault, (taps, effect), hit.is_none())?;
        if let Effect::Toxic(toxic) = effect {
            checks.extend(self.probe(&self.toxic_errands(taps, toxic)?).await);
        }
        Ok(Done::tried(checks, hit))
    }

    /// What the interposers say of themselves.
    fn asked(
        &self,
        fault: FaultId,
        (taps, effect): (&BTreeSet<Tap>, &Effect),
        wanted: bool,
    ) -> anyhow::Result<Vec<Check>> {
        let by = Concerning::Fault(fault);
        let is_armed = |place: &Place| {
            self.world.with(|world| match effect {
                Effect::Message(rule) => world.interposer.is_armed(by, rule, place),
                Effect::Toxic(toxic) => world.network.is_poisoned(fault, *toxic, place),
            })
        };
        let word = |armed: bool| if armed { format!("{effect}") } else { "idle".to_owned() };
        let told = |tap: &Tap| {
            let seen = is_armed(&self.place(tap)?);
            Ok(check(format!("{fault} at {tap}"), word(wanted), word(seen)))
        };
        taps.iter().map(told).collect()
    }

    /// Probes through every tap, of a size that shows the toxic.
    fn toxic_errands(&self, taps: &BTreeSet<Tap>, toxic: &Toxic) -> anyhow::Result<Vec<Errand>> {
        let bytes = match toxic {
            Toxic::Latency { .. } => None,
            Toxic::Bandwidth { bytes_per_second } => {
                Some((bytes_per_second / CAP_PROBES_PER_SECOND).max(1))
            }
            Toxic::Slicer { bytes, .. } => Some(u64::from(*bytes).max(1) * SLICES),
            Toxic::Reset { .. } => return Ok(Vec::new()),
        };
        let mut errands = Vec::new();
        for tap in taps {
            for peer in self.peers(tap) {
                let link = match tap.side {
                    Side::Inbound => Link { from: peer, to: tap.node },
                    Side::Outbound => Link { from: tap.node, to: peer },
                };
                errands.push(self.errand(&link, Some(tap.port), bytes)?);
            }
        }
        Ok(errands)
    }

    /// Who may be at the other end of a tap.
    pub(in crate::sim::cluster) fn peers(&self, tap: &Tap) -> Vec<NodeName> {
        let clients = NodeName::from(CLIENTS);
        let everybody = self.topology.names().copied().chain([clients]);
        let others = everybody.filter(|name| *name != tap.node);
        others.filter(|name| tap.peers.is_empty() || tap.peers.contains(name)).collect()
    }

    pub(in crate::sim::cluster) fn ensure_spoken(
        &self,
        taps: &BTreeSet<Tap>,
        pattern: &Pattern,
    ) -> anyhow::Result<()> {
        for tap in taps {
            let served = |role: Role| role.client_port() == (tap.port, pattern.protocol);
            let role = self.topology.node(&tap.node).map(|node| node.role);
            let spoken = match tap.side {
                Side::Inbound => role.is_some_and(served),
                Side::Outbound => Role::ALL.into_iter().any(served),
            };
            ensure!(
                spoken,
                "{tap} does not speak {}, expected a tap at a port that does",
                pattern.protocol
            );
        }
        Ok(())
    }
}

/// A rule that only sees.
pub(in crate::sim::cluster) fn watching(pattern: &Pattern) -> MessageRule {
    MessageRule {
        pattern: pattern.clone(),
        form: crate::cluster::Form::Watch,
        nth: 1,
        times: None,
        delay: None,
    }
}
