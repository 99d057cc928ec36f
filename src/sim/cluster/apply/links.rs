//! Links cut and joined, capped and freed, and connections severed.

use std::collections::BTreeSet;

use super::super::SimCluster;
use super::probes::Errand;
use super::{Done, check};
use crate::cluster::{Action, FaultId, Link, Manner};

/// A probe of a capped link takes this part of a second.
const CAP_PROBES_PER_SECOND: u64 = 10;

impl SimCluster {
    pub(super) async fn cut(
        &self,
        action: &Action,
        fault: FaultId,
        (links, manner): (&BTreeSet<Link>, Manner),
    ) -> anyhow::Result<Done> {
        let errands = self.errands(links, manner)?;
        let cut = self.each(links, |world, (from, to)| {
            world.network.link(from, to).cut(fault, manner).then_some(0)
        })?;
        if cut.is_empty() {
            let why = if links.is_empty() {
                "no links to cut".to_owned()
            } else {
                format!("{fault} has cut these links already")
            };
            return Ok(Done::not(why));
        }
        self.intents.borrow_mut().add(action);
        Ok(Done::tried(self.probe(&errands).await, None))
    }

    pub(super) async fn join(
        &self,
        action: &Action,
        fault: FaultId,
        (links, manner): (&BTreeSet<Link>, Manner),
    ) -> anyhow::Result<Done> {
        let errands = self.errands(links, manner)?;
        let joined =
            self.each(links, |world, (from, to)| world.network.link(from, to).join(fault, manner))?;
        if joined.is_empty() {
            return Ok(Done::not(format!("{fault} has cut none of these links")));
        }
        self.withdraw_intent(action);
        Ok(Done::tried(self.probe(&errands).await, Some(joined.iter().sum())))
    }

    /// Each link is probed at the port that is cut, and at another one, which is not.
    fn errands(&self, links: &BTreeSet<Link>, manner: Manner) -> anyhow::Result<Vec<Errand>> {
        let mut errands = Vec::new();
        for link in links {
            errands.push(self.errand(link, manner.port, None)?);
            if manner.port.is_some() {
                errands.push(self.errand(link, None, None)?);
            }
        }
        Ok(errands)
    }

    pub(super) async fn throttle(
        &self,
        action: &Action,
        fault: FaultId,
        (links, bytes_per_second): (&BTreeSet<Link>, u64),
    ) -> anyhow::Result<Done> {
        anyhow::ensure!(bytes_per_second > 0, "a link that passes 0 bytes a second is cut");
        let errands = self.heavy_errands(links, bytes_per_second)?;
        let capped = self.each(links, |world, (from, to)| {
            world.network.link(from, to).throttle(fault, bytes_per_second).then_some(0)
        })?;
        if capped.is_empty() {
            let why = if links.is_empty() {
                "no links to cap".to_owned()
            } else {
                format!("{fault} caps these links already")
            };
            return Ok(Done::not(why));
        }
        self.intents.borrow_mut().add(action);
        Ok(Done::tried(self.probe(&errands).await, None))
    }

    pub(super) async fn unthrottle(
        &self,
        action: &Action,
        fault: FaultId,
        (links, bytes_per_second): (&BTreeSet<Link>, u64),
    ) -> anyhow::Result<Done> {
        let errands = self.heavy_errands(links, bytes_per_second)?;
        let freed = self.each(links, |world, hosts| world.unthrottle(hosts, fault))?;
        if freed.is_empty() {
            return Ok(Done::not(format!("{fault} caps none of these links")));
        }
        self.withdraw_intent(action);
        Ok(Done::tried(self.probe(&errands).await, Some(freed.iter().sum())))
    }

    fn heavy_errands(
        &self,
        links: &BTreeSet<Link>,
        bytes_per_second: u64,
    ) -> anyhow::Result<Vec<Errand>> {
        let bytes = (bytes_per_second / CAP_PROBES_PER_SECOND).max(1);
        links.iter().map(|link| self.errand(link, None, Some(bytes))).collect()
    }

    pub(super) async fn sever(
        &self,
        links: &BTreeSet<Link>,
        port: Option<u16>,
    ) -> anyhow::Result<Done> {
        let (mut checks, mut closed) = (Vec::new(), 0);
        for link in links {
            let hosts = (self.host(&link.from)?, self.host(&link.to)?);
            anyhow::ensure!(hosts.0 != hosts.1, "a link needs two nodes, `{link}` has one");
            let severed = self.world.with(|world| world.sever(hosts, port));
            if severed.is_empty() {
                continue;
            }
            closed += severed.len() as u64;
            let live = |world: &mut crate::sim::world::World| {
                severed.iter().filter(|id| world.network.is_live(**id)).count()
            };
            let left = self.world.with(live);
            let what = format!("{link} {} connections", severed.len());
            let seen = if left == 0 { "gone".to_owned() } else { format!("{left} left") };
            checks.push(check(what, "gone", seen));
        }
        if checks.is_empty() {
            return Ok(Done::not("there is no connection between these ends"));
        }
        Ok(Done::tried(checks, Some(closed)))
    }

    /// Does something to every link and collects what it tells.
    fn each(
        &self,
        links: &BTreeSet<Link>,
        deed: impl Fn(&mut crate::sim::world::World, (usize, usize)) -> Option<u64>,
    ) -> anyhow::Result<Vec<u64>> {
        let mut told = Vec::new();
        for link in links {
            let hosts = (self.host(&link.from)?, self.host(&link.to)?);
            told.extend(self.world.with(|world| deed(world, hosts)));
        }
        Ok(told)
    }

    /// This action takes another one back.
    pub(super) fn withdraw_intent(&self, action: &Action) {
        if let Some(taken_back) = action.undo() {
            self.intents.borrow_mut().remove(&taken_back);
        }
    }
}
