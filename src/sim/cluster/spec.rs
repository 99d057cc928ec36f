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

/// More servers than this no ensemble has.
const SERVERS_MAX: usize = 15;
/// More nodes of another role make no useful experiment.
const NODES_MAX: usize = 50;

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
            (1..=SERVERS_MAX).contains(&servers),
            "an ensemble has 1 to {SERVERS_MAX} servers, not {servers}"
        );
        for role in [Role::Controller, Role::Kvrocks] {
            let nodes = count(role);
            ensure!(nodes <= NODES_MAX, "at most {NODES_MAX} nodes of a role, not {nodes} {role}");
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
