//! What the services say of themselves at one moment: up or not, leading or not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::op::NodeName;

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
    pub state: NodeState,
    pub leads: bool,
    /// The epoch in which it leads or follows, as it says itself; `None` where it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// What it said: mode, zxid, epoch; for people.
    pub detail: String,
}

/// The whole cluster as seen now. Two nodes may both claim to lead: that is a finding, not an error.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct View {
    pub nodes: BTreeMap<NodeName, NodeView>,
}

impl View {
    /// Nodes that claim to lead, in name order.
    pub fn leaders(&self) -> impl Iterator<Item = &NodeName> {
        self.nodes.iter().filter(|(_, node)| node.leads).map(|(name, _)| name)
    }

    /// This view, in which of several that claim to lead only the one of the highest epoch does.
    pub fn with_latest_leader(&self) -> View {
        let leaders = self.nodes.iter().filter(|(_, node)| node.leads);
        let latest = leaders.max_by_key(|(_, node)| node.epoch).map(|(name, _)| *name);
        let mut view = self.clone();
        for (name, node) in &mut view.nodes {
            node.leads &= Some(*name) == latest;
        }
        view
    }

    /// Every node serves and exactly one leads.
    pub fn is_healthy(&self) -> bool {
        !self.nodes.is_empty()
            && self.nodes.values().all(|node| node.state == NodeState::Serving)
            && self.leaders().count() == 1
    }
}
