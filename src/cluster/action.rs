//! Primitive, invertible actions on a cluster, and the proof that each one acted.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::op::NodeName;

/// Numbers the faults of one run, from 1; it names the rules a fault installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FaultId(pub u32);

impl fmt::Display for FaultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// One direction of traffic between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    pub from: NodeName,
    pub to: NodeName,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}→{}", self.from, self.to)
    }
}

/// What a world can do to a cluster. Every action has an exact inverse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Drop all node-to-node packets on these links; clients are not touched.
    Cut { fault: FaultId, links: BTreeSet<Link> },
    /// Remove exactly what `Cut` of the same fault installed.
    Join { fault: FaultId, links: BTreeSet<Link> },
    /// SIGKILL the service's process.
    Kill { node: NodeName },
    /// Start it again, with its disk and address.
    Start { node: NodeName },
    /// Freeze every process of the service.
    Pause { node: NodeName },
    /// Thaw it.
    Resume { node: NodeName },
}

impl Action {
    /// The action that takes this one back.
    pub fn undo(&self) -> Action {
        match self.clone() {
            Action::Cut { fault, links } => Action::Join { fault, links },
            Action::Join { fault, links } => Action::Cut { fault, links },
            Action::Kill { node } => Action::Start { node },
            Action::Start { node } => Action::Kill { node },
            Action::Pause { node } => Action::Resume { node },
            Action::Resume { node } => Action::Pause { node },
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Action::Cut { .. } => "cut",
            Action::Join { .. } => "join",
            Action::Kill { .. } => "kill",
            Action::Start { .. } => "start",
            Action::Pause { .. } => "pause",
            Action::Resume { .. } => "resume",
        }
    }
}

/// One thing looked at on the data plane, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// `zookeeper1→zookeeper2`, `zookeeper1 pid`, ...
    pub what: String,
    pub expected: String,
    pub seen: String,
    pub holds: bool,
}

/// Evidence for an action, recorded in the history as it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Proof {
    pub checks: Vec<Check>,
    /// Packets of the workload that the rules matched, probes not counted; given by `Join`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// From the request to the effect proven, in microseconds of the world's clock.
    pub took_us: u64,
}

impl Proof {
    pub fn holds(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.holds)
    }
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "applied", rename_all = "kebab-case")]
pub enum Applied {
    /// Done, and the proof holds.
    Installed { proof: Proof },
    /// Not done, for a reason of the moment (killing a node that is down).
    Skipped { why: String },
    /// Attempted; the proof does not hold or could not be taken.
    Indeterminate { why: String, proof: Option<Proof> },
}
