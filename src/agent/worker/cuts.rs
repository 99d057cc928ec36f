//! Requests about links that are cut: names become addresses, hooks and places.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::ensure;

use super::{LONGEST_PROBE, Worker};
use crate::agent::fault_table::{Cut, InForce};
use crate::agent::protocol::{Answer, Hook, Matched, Place, Table, Tally};
use crate::cluster::{FaultId, Link, Manner, Refusal};
use crate::op::NodeName;

/// Which tables a cut is made of.
struct Plan {
    /// What drops, for the whole cluster at once.
    at_bridges: Option<Cut>,
    /// What refuses, at each node.
    at_nodes: BTreeMap<NodeName, Cut>,
}

fn empty(matched: Matched) -> Cut {
    Cut { hooks: BTreeSet::new(), pairs: BTreeSet::new(), matched }
}

impl Worker<'_> {
    pub(super) fn cut(
        &self,
        fault: FaultId,
        links: &BTreeSet<Link>,
        manner: Manner,
    ) -> anyhow::Result<Answer> {
        let plan = self.plan(links, manner)?;
        let mut at_nodes = BTreeMap::new();
        for (node, cut) in plan.at_nodes {
            at_nodes.insert(node, (self.prober.inside(&node)?, cut));
        }
        let mut tables = Vec::new();
        match &plan.at_bridges {
            Some(cut) => {
                let in_force = self.session.tables().install(fault, cut)?;
                tables.push(self.name(in_force, None));
            }
            None => drop(self.session.tables().remove(fault)?),
        }
        let refusing = self.session.refusals().install(fault, &at_nodes);
        let refusing = refusing.inspect_err(|_| {
            // Half a cut must not stay; the first error is the one to tell.
            let _ = self.session.tables().remove(fault);
        })?;
        tables.extend(refusing.into_iter().map(|(node, table)| self.name(table, Some(node))));
        Ok(Answer::Cut { tables })
    }

    /// A link is refused where it leads to; one to the clients where it comes from, for nothing of ours
    /// stands in the host's own path but at its bridges, which cannot refuse.
    fn plan(&self, links: &BTreeSet<Link>, manner: Manner) -> anyhow::Result<Plan> {
        ensure!(!links.is_empty(), "a cut of no links cannot act, expected one link or more");
        let mut at_bridges = match (manner.refusal, manner.port) {
            (Refusal::Drop, None) => Some(empty(Matched::Everything)),
            (Refusal::Drop, Some(port)) => Some(empty(Matched::Port { port })),
            (Refusal::Reset, None) => Some(empty(Matched::AllButTcp)),
            (Refusal::Reset, Some(_)) => None,
        };
        let mut at_nodes: BTreeMap<NodeName, Cut> = BTreeMap::new();
        for link in links {
            let ((from, from_place), (to, to_place)) = self.ends(link)?;
            if let Some(cut) = &mut at_bridges {
                cut.pairs.insert((from, to));
                cut.hooks.insert(match (from_place, to_place) {
                    (Place::Host, _) => Hook::Output,
                    (_, Place::Host) => Hook::Input,
                    _ => Hook::Forward,
                });
            }
            if manner.refusal == Refusal::Reset {
                let (node, hook) = match to_place {
                    Place::Container { .. } => (link.to, Hook::Input),
                    Place::Host => (link.from, Hook::Output),
                };
                let refused = || empty(Matched::Refused { port: manner.port });
                let cut = at_nodes.entry(node).or_insert_with(refused);
                cut.pairs.insert((from, to));
                cut.hooks.insert(hook);
            }
        }
        Ok(Plan { at_bridges, at_nodes })
    }

    /// Takes back both kinds of tables, the one also if the other cannot be.
    pub(super) fn join(&self, fault: FaultId) -> anyhow::Result<Answer> {
        let dropped = self.session.tables().remove(fault);
        let refused = self.session.refusals().remove(fault);
        let tallies = dropped?.into_iter().chain(refused?).collect();
        Ok(Answer::Join { tally: Tally::summed(tallies).pop() })
    }

    pub(super) fn counters(&self) -> anyhow::Result<Answer> {
        let mut tallies = self.session.tables().tallies()?;
        tallies.extend(self.session.refusals().tallies()?);
        Ok(Answer::Counters { tallies: Tally::summed(tallies) })
    }

    pub(super) fn probe(
        &mut self,
        links: &BTreeSet<Link>,
        bound_ms: u64,
    ) -> anyhow::Result<Answer> {
        let bound = within_limits(bound_ms)?;
        let session = self.session;
        let report = self.prober.probe(links, bound, || {
            Ok(session.tables().tallies()?.iter().map(|tally| tally.probes).sum())
        })?;
        Ok(Answer::Probe { report })
    }

    pub(super) fn probe_port(
        &mut self,
        links: &BTreeSet<Link>,
        port: u16,
        bound_ms: u64,
    ) -> anyhow::Result<Answer> {
        let bound = within_limits(bound_ms)?;
        for link in links {
            self.ends(link)?;
        }
        let session = self.session;
        let probes = self.prober.probe_port(links, port, bound, |link| {
            let dropped = session.tables().tallies()?.iter().map(|tally| tally.probes).sum();
            let refused = session.refusals().probes_at([&link.from, &link.to])?;
            Ok((dropped, refused))
        })?;
        Ok(Answer::ProbePort { probes })
    }

    pub(super) fn status(&self) -> anyhow::Result<Vec<Table>> {
        let in_force = self.session.tables().in_force()?;
        let dropping = in_force.into_iter().map(|table| self.name(table, None));
        let refusing = self.session.refusals().in_force()?.into_iter();
        Ok(dropping.chain(refusing.map(|(node, table)| self.name(table, Some(node)))).collect())
    }

    fn name(&self, in_force: InForce, node: Option<NodeName>) -> Table {
        let InForce { name, owned, cut, tally } = in_force;
        let Cut { hooks, pairs, matched } = cut;
        let links = pairs.into_iter();
        let links = links.map(|(from, to)| Link { from: self.node(from), to: self.node(to) });
        Table { name, node, matched, owned, hooks, links: links.collect(), tally }
    }

    fn node(&self, address: Ipv4Addr) -> NodeName {
        self.prober.name(address).cloned().unwrap_or_else(|| address.to_string().into())
    }
}

pub(super) fn within_limits(bound_ms: u64) -> anyhow::Result<Duration> {
    let bound = Duration::from_millis(bound_ms);
    ensure!(bound <= LONGEST_PROBE, "bound {bound:?}, expected at most {LONGEST_PROBE:?}");
    Ok(bound)
}
