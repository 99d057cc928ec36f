//! What the services say of themselves at one moment: up or not, leading or not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cluster::Role;
use crate::op::NodeName;

fn zookeeper() -> Role {
    Role::Zookeeper
}

/// Whether a node's process runs and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It answers and serves.
    Serving,
    /// Its process runs, but it does not serve (no quorum, starting, unreachable).
    Running,
    /// Frozen by us.
    Paused,
    /// No process.
    Down,
}

/// One node as seen now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeView {
    /// What it is; views of earlier versions hold nothing but ZooKeeper's servers.
    #[serde(default = "zookeeper")]
    pub role: Role,
    pub state: NodeState,
    /// It holds itself for the leader of its ensemble; of a data node: for a master.
    pub leads: bool,
    /// The epoch in which it leads or follows, as it says itself; `None` where it says none. Of a
    /// controller the number of its election, of a data node the version of its topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Slots of which it holds itself for the owner, as `0-100,130`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<String>,
    /// What it said: mode, zxid, epoch; for people.
    pub detail: String,
}

impl NodeView {
    /// A node that says nothing of itself.
    pub fn new(role: Role, state: NodeState, detail: impl Into<String>) -> NodeView {
        let detail = detail.into();
        NodeView { role, state, leads: false, epoch: None, slots: None, detail }
    }
}

/// The whole cluster as seen now. Two nodes may both claim to lead: that is a finding, not an error.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct View {
    pub nodes: BTreeMap<NodeName, NodeView>,
}

impl View {
    /// Nodes of this role that claim to lead, in name order.
    pub fn leaders(&self, role: Role) -> impl Iterator<Item = &NodeName> {
        let leads = move |node: &NodeView| node.role == role && node.leads;
        self.nodes.iter().filter(move |(_, node)| leads(node)).map(|(name, _)| name)
    }

    /// This view, in which of several that claim to lead only the one of the highest epoch does. Of
    /// masters each leads its own shard.
    pub fn with_latest_leader(&self) -> View {
        let mut view = self.clone();
        for role in Role::ALL.into_iter().filter(|role| role.elects()) {
            let leaders = self.nodes.iter().filter(|(_, node)| node.role == role && node.leads);
            let latest = leaders.max_by_key(|(_, node)| node.epoch).map(|(name, _)| *name);
            let its = view.nodes.iter_mut().filter(|(_, node)| node.role == role);
            for (name, node) in its {
                node.leads &= Some(*name) == latest;
            }
        }
        view
    }

    /// Every node serves, and of each role that elects a leader exactly one leads.
    pub fn is_healthy(&self) -> bool {
        let roles: BTreeSet<Role> = self.nodes.values().map(|node| node.role).collect();
        !self.nodes.is_empty()
            && self.nodes.values().all(|node| node.state == NodeState::Serving)
            && roles
                .into_iter()
                .filter(|role| role.elects())
                .all(|role| self.leaders(role).count() == 1)
    }
}
