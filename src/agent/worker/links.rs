//! Requests about connections and bandwidth of links: names become places, the rest is done elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use anyhow::{Context, ensure};

use super::Worker;
use crate::agent::cap::{RATES, Site, Spot};
use crate::agent::namespace::Inside;
use crate::agent::probe::Prober;
use crate::agent::protocol::{Answer, Place};
use crate::agent::sever::{NodeEnd, sever};
use crate::cluster::{FaultId, Link};
use crate::op::NodeName;

/// An address and whose namespace has it.
type End = (Ipv4Addr, Place);

impl Worker<'_> {
    pub(super) fn sever(
        &self,
        links: &BTreeSet<Link>,
        port: Option<u16>,
    ) -> anyhow::Result<Answer> {
        let mut peers: BTreeMap<NodeName, BTreeSet<Ipv4Addr>> = BTreeMap::new();
        for link in links {
            let (from, to) = self.ends(link)?;
            for (node, (_, place), (peer, _)) in [(link.from, from, to), (link.to, to, from)] {
                // The host's own sockets are never closed: a client hears from the node's end.
                if place != Place::Host {
                    peers.entry(node).or_default().insert(peer);
                }
            }
        }
        ensure!(
            !peers.is_empty(),
            "no connection of a node, expected links with a node at one end"
        );
        let ends = peers.into_iter().map(|(node, peers)| {
            let (local, _) = self.prober.address(&node)?;
            let guests = self.session.interposers().guests(&node)?;
            Ok(NodeEnd { inside: self.prober.inside(&node)?, local, peers, guests })
        });
        let ends: anyhow::Result<Vec<NodeEnd<'_>>> = ends.collect();
        Ok(Answer::Sever { severed: sever(&ends?, port)? })
    }

    pub(super) fn throttle(
        &self,
        fault: FaultId,
        links: &BTreeSet<Link>,
        bytes_per_second: u64,
    ) -> anyhow::Result<Answer> {
        ensure!(!links.is_empty(), "a cap of no links cannot act, expected one link or more");
        let sites = self.sites(links)?;
        let spots = spots(&sites, links)?;
        let caps = self.session.caps().install(fault, &spots, bytes_per_second)?;
        Ok(Answer::Throttle { caps })
    }

    pub(super) fn unthrottle(&self, fault: FaultId) -> anyhow::Result<Answer> {
        Ok(Answer::Unthrottle { packets: self.session.caps().remove(fault)? })
    }

    pub(super) fn measure(
        &mut self,
        links: &BTreeSet<Link>,
        bytes_per_second: u64,
    ) -> anyhow::Result<Answer> {
        ensure!(RATES.contains(&bytes_per_second), "{bytes_per_second} B/s, expected {RATES:?}");
        let session = self.session;
        let listed: Vec<Link> = links.iter().cloned().collect();
        let speeds = self.prober.measure(listed, bytes_per_second, |prober, link| {
            let sites = [site(prober, &link.from)?, site(prober, &link.to)?];
            let spot = Spot::of(link, &sites[0], &sites[1]);
            spot.map_or(Ok(None), |spot| session.caps().passed(&spot))
        })?;
        let sites = self.sites(links)?;
        for (spot, speed) in spots(&sites, links)?.iter().zip(&speeds) {
            session.caps().discount(spot, speed.packets_sent);
        }
        Ok(Answer::Measure { speeds })
    }

    /// Removes what an agent before this one left at the nodes; the caps there were, and what could not
    /// be removed.
    pub(super) fn sweep_nodes(&self) -> (Vec<String>, Vec<String>) {
        let mut caps = Vec::new();
        let mut sweep = |node: &NodeName| {
            let site = site(&self.prober, node)?;
            if matches!(site.inside, Inside::Host) {
                return Ok(Vec::new());
            }
            caps.extend(self.session.caps().sweep(&site)?);
            self.session.refusals().sweep(node, site.inside)
        };
        let swept = self.prober.nodes().map(|node| match sweep(node) {
            Ok(left) => left.into_iter().map(|why| format!("{node}: {why}")).collect(),
            Err(error) => vec![format!("{node}: {error:#}")],
        });
        let left = swept.flatten().collect();
        (caps, left)
    }

    fn sites(&self, links: &BTreeSet<Link>) -> anyhow::Result<BTreeMap<NodeName, Site<'_>>> {
        let mut sites = BTreeMap::new();
        for link in links {
            self.ends(link)?;
            for node in [link.from, link.to] {
                sites.insert(node, site(&self.prober, &node)?);
            }
        }
        Ok(sites)
    }

    /// Both ends of a link, which are two.
    pub(super) fn ends(&self, link: &Link) -> anyhow::Result<(End, End)> {
        let (from, to) = (self.prober.address(&link.from)?, self.prober.address(&link.to)?);
        ensure!(from.0 != to.0, "link {link} begins and ends at {}, expected two nodes", from.0);
        Ok((from, to))
    }
}

fn site<'a>(prober: &'a Prober, node: &NodeName) -> anyhow::Result<Site<'a>> {
    let (address, _) = prober.address(node)?;
    Ok(Site { node: *node, address, inside: prober.inside(node)? })
}

/// Where each link is capped.
fn spots<'a>(
    sites: &'a BTreeMap<NodeName, Site<'a>>,
    links: &BTreeSet<Link>,
) -> anyhow::Result<Vec<Spot<'a>>> {
    let spots = links.iter().map(|link| {
        let spot = Spot::of(link, &sites[&link.from], &sites[&link.to]);
        spot.with_context(|| format!("link {link}: expected a node at one end"))
    });
    spots.collect()
}
