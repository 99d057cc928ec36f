//! Requests to interposers: names become addresses here.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{bail, ensure};

use super::{LONGEST_PROBE, Worker};
use crate::agent::interposer::{ResolvedTap, Route};
use crate::agent::protocol::{Answer, Place, TapProbe, TapState};
use crate::cluster::{Concerning, Effect, Side, Tap};
use crate::op::NodeName;

impl Worker<'_> {
    pub(super) fn tap(&mut self, taps: BTreeSet<Tap>) -> anyhow::Result<Vec<TapState>> {
        let mut by_node: BTreeMap<NodeName, Vec<ResolvedTap>> = BTreeMap::new();
        for tap in self.resolve(taps)? {
            by_node.entry(tap.tap.node).or_default().push(tap);
        }
        let mut states = Vec::new();
        for (node, taps) in by_node {
            let Place::Container { pid } = self.prober.address(&node)?.1 else {
                bail!("{node} has the host's own network, expected a tap at a node of the cluster")
            };
            // Healed for good means that nothing is put in place any more: looked at while no heal
            // can pass by.
            let mut interposers = self.session.interposers();
            let closed = self.session.tables().is_closed();
            ensure!(!closed, "the agent is ending and installs nothing more");
            states.extend(interposers.tap(node, pid, taps)?);
        }
        Ok(states)
    }

    fn resolve(&self, taps: BTreeSet<Tap>) -> anyhow::Result<Vec<ResolvedTap>> {
        taps.into_iter().map(|tap| self.resolve_one(tap)).collect()
    }

    fn resolve_one(&self, tap: Tap) -> anyhow::Result<ResolvedTap> {
        let peers = tap.peers.iter().map(|peer| Ok(self.prober.address(peer)?.0));
        let peers = peers.collect::<anyhow::Result<Vec<_>>>()?;
        Ok(ResolvedTap { tap, peers })
    }

    pub(super) fn arm(
        &mut self,
        concerning: Concerning,
        taps: BTreeSet<Tap>,
        effect: &Effect,
    ) -> anyhow::Result<Answer> {
        ensure!(!taps.is_empty(), "an effect at no tap cannot act, expected one tap or more");
        let taps = self.resolve(taps)?;
        self.session.interposers().arm(concerning, taps, effect)?;
        Ok(Answer::Arm)
    }

    pub(super) fn probe_tap(
        &mut self,
        tap: Tap,
        with: NodeName,
        bound_ms: u64,
    ) -> anyhow::Result<Answer> {
        let bound = Duration::from_millis(bound_ms);
        ensure!(bound <= LONGEST_PROBE, "bound {bound:?}, expected at most {LONGEST_PROBE:?}");
        let (own, other) = (self.prober.address(&tap.node)?, self.prober.address(&with)?);
        let ((from, place), (to, _)) = match tap.side {
            Side::Inbound => (other, own),
            Side::Outbound => (own, other),
        };
        let to = SocketAddr::from((to, tap.port));
        let tap = self.resolve_one(tap)?;
        let mut interposers = self.session.interposers();
        let passed = interposers.probe(&tap, &Route { place, from, to, within: bound })?;
        let state = interposers.state(&tap)?;
        Ok(Answer::ProbeTap { probe: TapProbe { state, with, passed } })
    }
}
