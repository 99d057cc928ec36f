//! What an agent says of its interposers: rules read back, probes through them, and what effects did.

use serde::{Deserialize, Serialize};

use crate::cluster::Tap;
use crate::op::NodeName;

/// A tap's rules as the kernel shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapState {
    pub tap: Tap,
    /// The table that holds them, in the node's own namespace.
    pub table: String,
    /// The kernel removes it with the agent.
    pub owned: bool,
    pub rules: usize,
    pub wanted: usize,
}

impl TapState {
    pub fn is_in_force(&self) -> bool {
        self.wanted > 0 && self.rules == self.wanted
    }
}

/// A connection opened to see whether it is redirected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapProbe {
    pub state: TapState,
    /// The other end.
    pub with: NodeName,
    pub passed: Passed,
}

/// What became of a connection that should pass an interposer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passed {
    /// The interposer had it and the server took it.
    Through { after_us: u64 },
    /// The interposer had it; the server's own end refused it, as where nothing listens.
    Refused,
    /// The interposer had it; the server was not reached within the bound.
    Unanswered,
    /// It was opened, but not through the interposer.
    Around,
    /// It was not opened.
    Failed { error: String },
}

impl Passed {
    /// The interposer stands in the way of new connections.
    pub fn is_tapped(&self) -> bool {
        matches!(self, Passed::Through { .. } | Passed::Refused | Passed::Unanswered)
    }
}

/// What an effect did while it was armed, on one or more nodes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests that matched the pattern.
    pub matches: u64,
    /// Messages that were hit; of a toxic: pieces of data that it acted on, or connections reset.
    pub hits: u64,
    /// Connections that were held until now, and are closed with it.
    pub released: u64,
}

impl Spent {
    pub fn and(self, other: Spent) -> Spent {
        Spent {
            matches: self.matches + other.matches,
            hits: self.hits + other.hits,
            released: self.released + other.released,
        }
    }
}
