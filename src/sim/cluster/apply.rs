//! Actions on the simulated cluster, each with the proof that it acted.
//!
//! Links are proven by probe packets through the simulated network, processes by their state and number.

use std::collections::BTreeSet;
use std::time::Duration;

use super::SimCluster;
use crate::cluster::{Action, Applied, Check, FaultId, Link, Proof};
use crate::op::{Nanos, NodeName};
use crate::sim::process::ProcessState;

/// Longer than any packet is under way on a link that passes.
const PROBE_LIMIT: Duration = Duration::from_millis(10);

/// A link as positions in the topology.
struct Pair {
    link: Link,
    from: usize,
    to: usize,
}

impl SimCluster {
    pub(super) async fn perform(&self, action: &Action) -> anyhow::Result<Applied> {
        let began = self.world.now();
        match action {
            Action::Cut { fault, links, .. } => self.cut(began, *fault, links).await,
            Action::Join { fault, links, .. } => self.join(began, *fault, links).await,
            Action::Kill { node } => self.change(began, node, Deed::Kill),
            Action::Start { node } => self.change(began, node, Deed::Start),
            Action::Pause { node } => self.change(began, node, Deed::Pause),
            Action::Resume { node } => self.change(began, node, Deed::Resume),
            other => {
                Ok(Applied::Skipped { why: format!("this world cannot {} yet", other.name()) })
            }
        }
    }

    fn pairs(&self, links: &BTreeSet<Link>) -> anyhow::Result<Vec<Pair>> {
        let pair = |link: &Link| {
            let (from, to) = (self.index(&link.from)? as usize, self.index(&link.to)? as usize);
            anyhow::ensure!(from != to, "a link needs two nodes, `{link}` has one");
            Ok(Pair { link: link.clone(), from, to })
        };
        links.iter().map(pair).collect()
    }

    async fn cut(
        &self,
        began: Nanos,
        fault: FaultId,
        links: &BTreeSet<Link>,
    ) -> anyhow::Result<Applied> {
        let pairs = self.pairs(links)?;
        let cut = self.world.with(|world| {
            let mut cut = |pair: &Pair| world.network.link(pair.from, pair.to).cut(fault);
            pairs.iter().filter(|pair| cut(pair)).count()
        });
        if cut == 0 {
            let why = if pairs.is_empty() {
                "no links to cut".to_owned()
            } else {
                format!("{fault} has cut these links already")
            };
            return Ok(Applied::Skipped { why });
        }
        let checks = self.probe(&pairs).await;
        Ok(self.judge(began, checks, None))
    }

    async fn join(
        &self,
        began: Nanos,
        fault: FaultId,
        links: &BTreeSet<Link>,
    ) -> anyhow::Result<Applied> {
        let pairs = self.pairs(links)?;
        let joined: Vec<u64> = self.world.with(|world| {
            let join = |pair: &Pair| world.network.link(pair.from, pair.to).join(fault);
            pairs.iter().filter_map(join).collect()
        });
        if joined.is_empty() {
            return Ok(Applied::Skipped { why: format!("{fault} has cut none of these links") });
        }
        let checks = self.probe(&pairs).await;
        Ok(self.judge(began, checks, Some(joined.iter().sum())))
    }

    /// Sends a packet over each link and sees whether it comes out as the rules want it.
    async fn probe(&self, pairs: &[Pair]) -> Vec<Check> {
        let probes: Vec<usize> = self
            .world
            .with(|world| pairs.iter().map(|pair| world.probe(pair.from, pair.to)).collect());
        tokio::time::sleep(PROBE_LIMIT).await;
        let check = |(pair, probe): (&Pair, usize)| {
            let (cut_by, arrived) = self.world.with(|world| {
                let cut_by = world.network.link(pair.from, pair.to).cut_by();
                (cut_by, world.network.probe_arrived(probe))
            });
            let expected = match cut_by {
                Some(fault) => format!("blocked by {fault}"),
                None => "passes".to_owned(),
            };
            let seen = if arrived { "passes" } else { "blocked" };
            let holds = arrived == cut_by.is_none();
            Check { what: pair.link.to_string(), expected, seen: seen.to_owned(), holds }
        };
        pairs.iter().zip(probes).map(check).collect()
    }

    fn judge(&self, began: Nanos, checks: Vec<Check>, packets: Option<u64>) -> Applied {
        let took_us = (self.world.now() - began) / 1_000;
        let proof = Proof { checks, packets, took_us };
        if proof.holds() {
            return Applied::Installed { proof };
        }
        let why = "the data plane does not show it".to_owned();
        Applied::Indeterminate { why, proof: Some(proof) }
    }

    fn change(&self, began: Nanos, name: &NodeName, deed: Deed) -> anyhow::Result<Applied> {
        let node = self.index(name)?;
        let look = || self.world.with(|world| (world.process_state(node), world.pid(node)));
        let before = look();
        if let Some(why) = deed.pointless(name, before.0) {
            return Ok(Applied::Skipped { why });
        }
        self.world.with(|world| match deed {
            Deed::Kill => world.kill(node),
            Deed::Start => world.start(node),
            Deed::Pause => world.pause(node),
            Deed::Resume => world.resume(node),
        });
        let checks = deed.checks(name, before.1, look());
        Ok(self.judge(began, checks, None))
    }
}

#[derive(Clone, Copy)]
enum Deed {
    Kill,
    Start,
    Pause,
    Resume,
}

impl Deed {
    /// Why there is nothing to do, if so.
    fn pointless(self, name: &str, state: ProcessState) -> Option<String> {
        let why = match (self, state) {
            (Deed::Kill | Deed::Pause | Deed::Resume, ProcessState::Down) => "is down",
            (Deed::Start, ProcessState::Running | ProcessState::Paused) => "runs already",
            (Deed::Pause, ProcessState::Paused) => "is paused already",
            (Deed::Resume, ProcessState::Running) => "is not paused",
            _ => return None,
        };
        Some(format!("{name} {why}"))
    }

    fn checks(
        self,
        name: &str,
        old: Option<u32>,
        (state, pid): (ProcessState, Option<u32>),
    ) -> Vec<Check> {
        let show = |pid: Option<u32>| pid.map_or("none".to_owned(), |pid| pid.to_string());
        let (expected, fits) = match self {
            Deed::Kill => ("none".to_owned(), pid.is_none()),
            Deed::Start => ("a new one".to_owned(), pid.is_some() && pid != old),
            Deed::Pause | Deed::Resume => (show(old), pid == old),
        };
        let number = Check { what: format!("{name} pid"), expected, seen: show(pid), holds: fits };
        let wanted = match self {
            Deed::Kill => ProcessState::Down,
            Deed::Start | Deed::Resume => ProcessState::Running,
            Deed::Pause => ProcessState::Paused,
        };
        let state = Check {
            what: format!("{name} state"),
            expected: format!("{wanted:?}").to_lowercase(),
            seen: format!("{state:?}").to_lowercase(),
            holds: state == wanted,
        };
        vec![number, state]
    }
}
