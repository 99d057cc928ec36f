//! What to simulate, and the nodes that come of it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use anyhow::ensure;

use crate::cluster::{Node, Role, Settings, Topology};
use crate::reference::{ControllerVariant, NodeVariant};
use crate::rng::Rng;
use crate::sim::Variant;
use crate::sim::program::{Program, program};
use crate::sim::world::Resident;

/// How the services of each role behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    pub zookeeper: Variant,
    pub controller: ControllerVariant,
    pub kvrocks: NodeVariant,
}

/// What to simulate.
#[derive(Clone, Debug)]
pub struct SimSpec {
    /// How many nodes of each role.
    pub services: BTreeMap<Role, usize>,
    /// Settings of the services' own configuration, by role.
    pub config: BTreeMap<Role, Settings>,
    pub variants: Variants,
    /// All chance of this cluster comes from here.
    pub rng: Rng,
}

impl SimSpec {
    /// An ensemble of so many servers and nothing else.
    pub fn ensemble(servers: usize, variant: Variant, rng: Rng) -> SimSpec {
        SimSpec {
            services: [(Role::Zookeeper, servers)].into(),
            config: BTreeMap::new(),
            variants: Variants { zookeeper: variant, ..Variants::default() },
            rng,
        }
    }

    pub(super) fn topology(&self) -> anyhow::Result<Topology> {
        let count = |role: Role| self.services.get(&role).copied().unwrap_or(0);
        let servers = count(Role::Zookeeper);
        ensure!(
            (1..=Role::Zookeeper.most_nodes()).contains(&servers),
            "an ensemble has 1 to {} servers, not {servers}",
            Role::Zookeeper.most_nodes()
        );
        for role in [Role::Controller, Role::Kvrocks] {
            let (nodes, most) = (count(role), role.most_nodes());
            ensure!(nodes <= most, "at most {most} nodes of {role}, not {nodes}");
        }
        let nodes = Role::ALL.into_iter().flat_map(|role| {
            (1..=count(role)).map(move |number| Node {
                name: role.node_name(number),
                role,
                address: address(role, number),
            })
        });
        Ok(Topology { nodes: nodes.collect() })
    }

    /// The nodes of this topology, each with the program that it runs.
    pub(super) fn residents(&self, topology: &Topology) -> anyhow::Result<Vec<Resident>> {
        let nothing = Settings::new();
        let resident = |node: &Node| {
            let settings = self.config.get(&node.role).unwrap_or(&nothing);
            let program = program(node, topology, settings, &self.variants)?;
            Ok(resident(node, program))
        };
        topology.nodes.iter().map(resident).collect()
    }
}

pub(super) fn resident(node: &Node, program: Option<Program>) -> Resident {
    Resident { name: node.name, role: node.role, address: node.address, program }
}

/// Where a node is, whatever else there is.
fn address(role: Role, number: usize) -> Ipv4Addr {
    let first = match role {
        Role::Zookeeper => 1,
        Role::Controller => 21,
        Role::Kvrocks => 101,
    };
    Ipv4Addr::new(10, 0, 0, first + number as u8 - 1)
}
