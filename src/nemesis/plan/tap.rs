//! Where interposers stand for a fault. The same for nodes that are picked and for all that could be.

use std::collections::BTreeSet;

use super::scene::clients;
use crate::cluster::{Node, Side, Tap, Topology};
use crate::op::NodeName;

/// Taps on what anybody opens to these nodes, by default at the port where they serve clients.
pub fn at_nodes(
    port: Option<u16>,
    nodes: impl IntoIterator<Item = NodeName>,
    topology: &Topology,
) -> BTreeSet<Tap> {
    let tap = |name: NodeName| {
        let port = port.unwrap_or(topology.node(&name)?.role.client_port().0);
        Some(Tap { node: name, side: Side::Inbound, port, peers: BTreeSet::new() })
    };
    nodes.into_iter().filter_map(tap).collect()
}

/// Taps on what the first of each pair opens to the second: at the first, but what clients open is
/// met where it arrives. Clients serve nobody, so nothing is opened to them.
pub fn on_links(
    port: Option<u16>,
    links: impl IntoIterator<Item = (NodeName, NodeName)>,
    topology: &Topology,
) -> BTreeSet<Tap> {
    let tap = |(from, to): (NodeName, NodeName)| {
        let server = topology.node(&to)?;
        Some(match topology.node(&from) {
            None if from == clients() => {
                let port = port.unwrap_or(server.role.client_port().0);
                Tap { node: to, side: Side::Inbound, port, peers: BTreeSet::from([from]) }
            }
            None => return None,
            Some(opener) => {
                let port = port.unwrap_or_else(|| default_port(opener, server));
                Tap { node: from, side: Side::Outbound, port, peers: BTreeSet::from([to]) }
            }
        })
    };
    links.into_iter().filter_map(tap).collect()
}

/// Members of one service meet at their leader's port, others come as clients.
fn default_port(opener: &Node, server: &Node) -> u16 {
    let leader_port = server.role.leader_port().filter(|_| opener.role == server.role);
    leader_port.unwrap_or(server.role.client_port().0)
}
