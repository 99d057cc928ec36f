//! What was seen of links and connections: probes, measured speeds, caps and closed sockets.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cluster::Link;

/// What became of the probes sent over some links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    pub links: Vec<LinkProbe>,
    pub sent: u64,
    /// How many of them our own tables counted.
    pub dropped: u64,
    pub took_us: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkProbe {
    pub link: Link,
    pub passage: Passage,
    /// The sender's own kernel refused the packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The fate of a link's probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passage {
    Arrived {
        after_us: u64,
    },
    /// Not arrived, and our tables counted every packet that is missing.
    Dropped,
    /// Not arrived within the bound, and not all that is missing was counted.
    Silent,
}

impl Passage {
    pub fn is_open(self) -> bool {
        matches!(self, Passage::Arrived { .. })
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Passage::Arrived { .. } => f.write_str("open"),
            Passage::Dropped => f.write_str("cut"),
            Passage::Silent => f.write_str("silent"),
        }
    }
}

/// What became of one TCP connection tried over a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortProbe {
    pub link: Link,
    pub passage: PortPassage,
    pub after_us: u64,
}

/// The fate of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PortPassage {
    /// Somebody listens there.
    Accepted,
    /// The node itself answered with RST, none of our rules: nobody listens, but the link is open.
    Closed,
    /// One of our rules answered with RST, and counted it.
    Refused,
    /// No answer, and our tables counted it.
    Dropped,
    /// No answer within the bound, and nothing counted.
    Silent,
}

impl PortPassage {
    pub fn is_open(self) -> bool {
        matches!(self, PortPassage::Accepted | PortPassage::Closed)
    }
}

impl fmt::Display for PortPassage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PortPassage::Accepted => "open",
            PortPassage::Closed => "open (nobody listens)",
            PortPassage::Refused => "refused",
            PortPassage::Dropped => "cut",
            PortPassage::Silent => "silent",
        })
    }
}

/// A cap in force, read back from the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    pub link: Link,
    /// The least that any fault allows the link.
    pub bytes_per_second: u64,
    /// Where it stands: the host's end of a node's veth, or the node's own.
    pub interface: String,
}

/// How a burst fared on one link. Bytes are those on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speed {
    pub link: Link,
    pub packets_sent: u64,
    pub bytes_sent: u64,
    pub bytes_arrived: u64,
    /// What went under the link's cap meanwhile, the workload's bytes included; absent without a cap.
    pub bytes_passed: Option<u64>,
    /// From the first packet sent to the last that came out.
    pub took_us: u64,
}

impl Speed {
    /// Bytes a second of the burst alone.
    pub fn of_burst(&self) -> u64 {
        self.per_second(self.bytes_arrived)
    }

    /// Bytes a second of all that shared the link's cap.
    pub fn of_all(&self) -> u64 {
        self.per_second(self.bytes_passed.unwrap_or(0).max(self.bytes_arrived))
    }

    fn per_second(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 1_000_000 / u128::from(self.took_us.max(1))) as u64
    }
}

/// What closing live connections came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Severed {
    /// Connections that were there.
    pub connections: u64,
    /// Those of them that were closed at one end or both; the others ended by themselves meanwhile.
    pub closed: u64,
    /// Ends that are still there.
    pub left: Vec<String>,
}
