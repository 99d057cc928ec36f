//! What faults need of a kernel and an engine. Each is found out by trying it, never by a version.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A closed set: a fault that needs something else adds a case here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// nftables tables of the bridge family: links cut by dropping packets.
    BridgeTables,
    /// nftables in a node's namespace with `reject`: links that refuse with RST.
    Reject,
    /// nftables redirection in a node's namespace: interposers.
    Redirect,
    /// Closing other processes' sockets (`SOCK_DESTROY`).
    CloseSockets,
    /// HTB and u32 on a node's interface: bandwidth caps.
    Shape,
    /// Tracing a process and writing to its memory: clocks.
    Trace,
    /// Freezing a container.
    Freeze,
}

impl Mechanism {
    pub const ALL: [Mechanism; 7] = [
        Mechanism::BridgeTables,
        Mechanism::Reject,
        Mechanism::Redirect,
        Mechanism::CloseSockets,
        Mechanism::Shape,
        Mechanism::Trace,
        Mechanism::Freeze,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::BridgeTables => "bridge-tables",
            Mechanism::Reject => "reject",
            Mechanism::Redirect => "redirect",
            Mechanism::CloseSockets => "close-sockets",
            Mechanism::Shape => "shape",
            Mechanism::Trace => "trace",
            Mechanism::Freeze => "freeze",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was found out about a mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    pub mechanism: Mechanism,
    pub acts: bool,
    /// How that was tried and what was seen.
    pub how: String,
}
