//! The network of a run: rules and caps removed, and every link seen open.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::Context;
use bollard::models::EndpointSettings;
use bollard::query_parameters::InspectContainerOptions;

use super::patient::Patient;
use super::{Health, Treatment};
use crate::agent::protocol::{Enrollment, Place};
use crate::cluster::{CLIENTS, Link};
use crate::docker::agent::Agent;
use crate::docker::engine::Engine;
use crate::docker::node;
use crate::op::NodeName;

const PROBE_BOUND: Duration = Duration::from_millis(250);

/// Where each node is.
pub(super) type Places = BTreeMap<NodeName, Ipv4Addr>;

/// Makes the nodes and the clients known to the agent: what it removes, it looks for at them.
pub(super) async fn enroll(
    engine: &Engine,
    agent: &Agent,
    patient: &Patient,
) -> anyhow::Result<Places> {
    let (mut places, mut enrollments) = (Places::new(), Vec::new());
    let mut bridge = None;
    for (name, pair) in &patient.nodes {
        let hold = &pair.hold.id;
        let inspected = engine.api().inspect_container(hold, None::<InspectContainerOptions>).await;
        let inspected =
            inspected.with_context(|| format!("inspect the hold container of {name}"))?;
        let networks = inspected.network_settings.and_then(|settings| settings.networks);
        let endpoint = networks.unwrap_or_default().into_values().next().unwrap_or_default();
        let pid = inspected.state.and_then(|state| node::pid(&state));
        let (Some(pid), Some((address, gateway))) = (pid, addresses(&endpoint)) else {
            // It is told of elsewhere.
            continue;
        };
        bridge = bridge.or(Some(gateway));
        places.insert(*name, address);
        enrollments.push(Enrollment { node: *name, address, place: Place::Container { pid } });
    }
    if let Some(address) = bridge {
        let node = NodeName::from(CLIENTS);
        places.insert(node, address);
        enrollments.push(Enrollment { node, address, place: Place::Host });
    }
    agent.enroll(enrollments).await?;
    Ok(places)
}

/// A node's address, and that of the bridge.
fn addresses(endpoint: &EndpointSettings) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let parse = |text: &Option<String>| text.as_ref()?.parse().ok();
    Some((parse(&endpoint.ip_address)?, parse(&endpoint.gateway)?))
}

/// Removes all that an agent of the run has made, whichever it was.
pub(super) async fn clear(agent: &Agent) -> anyhow::Result<Vec<Treatment>> {
    let healed = agent.heal().await?;
    let mut treatments = Vec::new();
    for tally in healed.tallies {
        let seen = format!("were in force and are removed; they had hit {} packets", tally.packets);
        treatments.push(Treatment::new(Health::Healed, format!("rules of {}", tally.fault), seen));
    }
    for swept in healed.swept {
        treatments.push(Treatment::new(Health::Healed, swept, "were in force and are removed"));
    }
    for left in healed.left {
        treatments.push(Treatment::new(Health::Ill, "rules", left));
    }
    let tables = agent.status().await?;
    for table in tables {
        treatments.push(Treatment::new(Health::Ill, table.name, "is still in force"));
    }
    if treatments.is_empty() {
        treatments.push(Treatment::new(Health::Well, "rules", "none are in force"));
    }
    Ok(treatments)
}

/// Probes every link between two places.
pub(super) async fn verify(agent: &Agent, places: &Places) -> anyhow::Result<Treatment> {
    let mut links = BTreeSet::new();
    for from in places.keys() {
        let others = places.keys().filter(|to| *to != from);
        links.extend(others.map(|to| Link { from: *from, to: *to }));
    }
    let report = agent.probe(links, PROBE_BOUND).await?;
    let closed = report.links.iter().filter(|link| !link.passage.is_open());
    let closed: Vec<String> =
        closed.map(|probe| format!("{} is {}", probe.link, probe.passage)).collect();
    Ok(match closed[..] {
        [] => {
            let seen = format!("{} are open", report.links.len());
            Treatment::new(Health::Well, "links", seen)
        }
        _ => Treatment::new(Health::Ill, "links", closed.join(", ")),
    })
}
