//! Which nodes there are, what role each plays and where it is reached.

use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::cluster::Protocol;
use crate::op::NodeName;

/// The clients' place among the nodes: a link may begin or end there.
pub const CLIENTS: &str = "clients";

/// What a node is in its cluster. A closed set: a new service is a new case here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Zookeeper,
    /// A kvrocks-controller: keeps the topology of a kvrocks cluster in ZooKeeper.
    Controller,
    /// A kvrocks data node.
    Kvrocks,
}

impl Role {
    /// So many nodes of it a cluster has at most.
    pub fn most_nodes(self) -> usize {
        match self {
            Role::Zookeeper => 15,
            Role::Controller | Role::Kvrocks => 50,
        }
    }

    /// In the order in which a topology lists them.
    pub const ALL: [Role; 3] = [Role::Zookeeper, Role::Controller, Role::Kvrocks];

    pub fn name(self) -> &'static str {
        match self {
            Role::Zookeeper => "zookeeper",
            Role::Controller => "controller",
            Role::Kvrocks => "kvrocks",
        }
    }

    /// The TCP port on which clients are served, and what it speaks.
    pub fn client_port(self) -> (u16, Protocol) {
        match self {
            Role::Zookeeper => (2181, Protocol::Zookeeper),
            Role::Controller => (9379, Protocol::Http),
            Role::Kvrocks => (6666, Protocol::Resp),
        }
    }

    /// The TCP port that members open to their leader: closing it deposes the leader.
    pub fn leader_port(self) -> Option<u16> {
        match self {
            Role::Zookeeper => Some(2888),
            Role::Controller | Role::Kvrocks => None,
        }
    }

    /// The ephemeral znode whose owner leads: ending that session deposes the leader.
    pub fn leader_znode(self) -> Option<&'static str> {
        match self {
            Role::Controller => Some("/kvrocks/controller/leader"),
            Role::Zookeeper | Role::Kvrocks => None,
        }
    }

    /// All TCP ports on which members serve each other.
    pub fn peer_ports(self) -> &'static [u16] {
        match self {
            Role::Zookeeper => &[2888, 3888],
            Role::Controller => &[],
            Role::Kvrocks => &[6666],
        }
    }

    /// Exactly one of its nodes leads when all is well.
    pub fn elects(self) -> bool {
        match self {
            Role::Zookeeper | Role::Controller => true,
            Role::Kvrocks => false,
        }
    }
}

impl Role {
    /// What a node of this role is called that has this number, from 1.
    pub fn node_name(self, number: usize) -> NodeName {
        format!("{self}{number}").into()
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One node: a service with a name, a role and a fixed address for the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub name: NodeName,
    pub role: Role,
    pub address: Ipv4Addr,
}

/// The nodes of a cluster, in a fixed order: by role, then by number.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Topology {
    pub nodes: Vec<Node>,
}

impl Topology {
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| &*node.name == name)
    }

    /// The node at this address.
    pub fn at(&self, address: Ipv4Addr) -> Option<&Node> {
        self.nodes.iter().find(|node| node.address == address)
    }

    pub fn names(&self) -> impl Iterator<Item = &NodeName> {
        self.nodes.iter().map(|node| &node.name)
    }

    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.role == role)
    }
}
