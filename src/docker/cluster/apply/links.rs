//! Links cut and joined, each proven by probes over every link of the cluster.

use std::collections::BTreeSet;
use std::time::Duration;

use super::judged;
use crate::cluster::{Applied, CLIENTS, Check, FaultId, Link};
use crate::docker::cluster::DockerCluster;
use crate::docker::cluster::expect::all_links;
use crate::op::NodeName;

/// A probe that neither arrives nor is counted as dropped by then proves nothing.
const PROBE_BOUND: Duration = Duration::from_millis(250);

pub(super) async fn cut(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
) -> anyhow::Result<Applied> {
    if links.is_empty() {
        return Ok(Applied::Skipped { why: "there is no link to cut".to_owned() });
    }
    let mut checks = probe(cluster, links.clone(), " before").await?;
    let table = cluster.agent.cut(fault, links.clone()).await?;
    cluster.cuts.borrow_mut().insert(fault, links.clone());
    checks.push(Check {
        what: format!("rules of {fault}"),
        expected: format!("{} links", links.len()),
        seen: format!("{} links", table.links.len()),
        holds: table.links == *links,
    });
    checks.extend(probe(cluster, every_link(cluster), "").await?);
    Ok(judged(checks, None))
}

pub(super) async fn join(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
) -> anyhow::Result<Applied> {
    let tally = cluster.agent.join(fault).await?;
    cluster.cuts.borrow_mut().remove(fault);
    let mut checks = vec![Check {
        what: format!("rules of {fault}"),
        expected: format!("in force until now on {} links", links.len()),
        seen: if tally.is_some() { "in force" } else { "gone already" }.to_owned(),
        holds: tally.is_some(),
    }];
    checks.extend(probe(cluster, every_link(cluster), "").await?);
    Ok(judged(checks, tally.map(|tally| tally.packets)))
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
