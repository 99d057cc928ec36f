//! Links cut and joined, each proven by probes over every link of the cluster.

use std::collections::BTreeSet;
use std::time::Duration;

use super::judged;
use crate::cluster::{Applied, CLIENTS, Check, FaultId, Link, Manner, Refusal};
use crate::docker::cluster::DockerCluster;
use crate::docker::cluster::expect::all_links;
use crate::op::NodeName;

/// A probe that neither arrives nor is counted as dropped by then proves nothing.
const PROBE_BOUND: Duration = Duration::from_millis(250);

/// Nothing listens there: whoever answers shows that the link is open.
const CLOSED_PORT: u16 = 1;

pub(super) async fn cut(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
    manner: Manner,
) -> anyhow::Result<Applied> {
    if links.is_empty() {
        return Ok(Applied::Skipped { why: "there is no link to cut".to_owned() });
    }
    let mut checks = match manner.port {
        Some(port) => probe_port(cluster, links.clone(), port, " before").await?,
        None => probe(cluster, links.clone(), " before").await?,
    };
    let tables = cluster.agent.cut(fault, links.clone(), manner).await?;
    cluster.cuts.borrow_mut().insert(fault, links.clone(), manner);
    let in_force: BTreeSet<Link> = tables.into_iter().flat_map(|table| table.links).collect();
    checks.push(Check {
        what: format!("rules of {fault}"),
        expected: format!("{} links", links.len()),
        seen: format!("{} links", in_force.len()),
        holds: in_force == *links,
    });
    checks.extend(everything(cluster, links, manner).await?);
    Ok(judged(checks, None))
}

pub(super) async fn join(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
    manner: Manner,
) -> anyhow::Result<Applied> {
    let tally = cluster.agent.join(fault).await?;
    cluster.cuts.borrow_mut().remove(fault);
    let mut checks = vec![Check {
        what: format!("rules of {fault}"),
        expected: format!("in force until now on {} links", links.len()),
        seen: if tally.is_some() { "in force" } else { "gone already" }.to_owned(),
        holds: tally.is_some(),
    }];
    checks.extend(everything(cluster, links, manner).await?);
    Ok(judged(checks, tally.map(|tally| tally.packets)))
}

/// Probes of every link; and connections over every link, where the manner treats them by themselves.
async fn everything(
    cluster: &DockerCluster,
    links: &BTreeSet<Link>,
    manner: Manner,
) -> anyhow::Result<Vec<Check>> {
    let every = every_link(cluster);
    let mut checks = probe(cluster, every.clone(), "").await?;
    if manner.port.is_some() || manner.refusal == Refusal::Reset {
        // A firewall of the host's own may let our probes pass and connections to this port not.
        let connected =
            every.into_iter().filter(|link| *link.to != *CLIENTS || links.contains(link));
        let port = manner.port.unwrap_or(CLOSED_PORT);
        checks.extend(probe_port(cluster, connected.collect(), port, "").await?);
    }
    Ok(checks)
}

/// Between any two nodes, and between every node and the clients.
fn every_link(cluster: &DockerCluster) -> BTreeSet<Link> {
    let clients: NodeName = crate::name::Name::from(CLIENTS);
    all_links(cluster.nodes.iter().map(|node| &node.name).chain([&clients]))
}

async fn probe(
    cluster: &DockerCluster,
    links: BTreeSet<Link>,
    when: &str,
) -> anyhow::Result<Vec<Check>> {
    let report = cluster.agent.probe(links, PROBE_BOUND).await?;
    Ok(cluster.cuts.borrow().checks(&report.links, when))
}

async fn probe_port(
    cluster: &DockerCluster,
    links: BTreeSet<Link>,
    port: u16,
    when: &str,
) -> anyhow::Result<Vec<Check>> {
    let probes = cluster.agent.probe_port(links, port, PROBE_BOUND).await?;
    Ok(cluster.cuts.borrow().port_checks(&probes, port, when))
}
