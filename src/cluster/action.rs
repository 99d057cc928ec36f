//! Primitive, invertible actions on a cluster, and the proof that each one acted.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cluster::{MessageRule, Toxic};
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

/// How a cut refuses.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Packets vanish, as on a broken wire.
    #[default]
    Drop,
    /// TCP is answered with RST, as by a firewall that rejects; the rest vanishes. RST itself passes.
    Reset,
}

/// How a cut cuts. By default all packets vanish.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Manner {
    #[serde(default)]
    pub refusal: Refusal,
    /// Only TCP to this port at the end where the link leads. Answers go the other way, over another link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// Where connections are opened that an interposer stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Connections that others open to the node.
    Inbound,
    /// Connections that the node opens to others.
    Outbound,
}

/// Connections of one node through which an interposer passes on what it does not hit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tap {
    /// In whose namespace the interposer stands.
    pub node: NodeName,
    pub side: Side,
    /// The port that is connected to.
    pub port: u16,
    /// Who is at the other end (`clients` for the clients); empty: anybody.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub peers: BTreeSet<NodeName>,
}

/// What an interposer does once it is armed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    Message(MessageRule),
    Toxic(Toxic),
}

/// Which of a process's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The time of day.
    Wall,
    /// The time that only runs forward, from which timeouts are measured.
    Monotonic,
}

/// Which session of those that a server holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionPick {
    /// The n-th by id, counted round and round.
    Nth(u64),
    Id(i64),
}

/// What a world can do to a cluster. Every action but the momentary ones has an exact inverse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Let nothing pass on these links.
    Cut {
        fault: FaultId,
        links: BTreeSet<Link>,
        #[serde(default)]
        manner: Manner,
    },
    /// Remove exactly what `Cut` of the same fault installed.
    Join {
        fault: FaultId,
        links: BTreeSet<Link>,
        #[serde(default)]
        manner: Manner,
    },
    /// SIGKILL the service's process.
    Kill { node: NodeName },
    /// SIGTERM it, and wait until it is gone.
    Stop { node: NodeName },
    /// Start it again, with its disk and address.
    Start { node: NodeName },
    /// Freeze every process of the service.
    Pause { node: NodeName },
    /// Thaw it.
    Resume { node: NodeName },
    /// SIGKILL the service's process; its supervisor starts another in its place at once. Momentary.
    Crash { node: NodeName },
    /// Close all live TCP connections between the ends of these links, both of them learn it. Momentary.
    Sever {
        links: BTreeSet<Link>,
        /// Only those with this port at one end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
    /// Let at most so many bytes a second pass on each of these links.
    Throttle { fault: FaultId, links: BTreeSet<Link>, bytes_per_second: u64 },
    /// Remove exactly what `Throttle` of the same fault installed.
    Unthrottle { fault: FaultId, links: BTreeSet<Link>, bytes_per_second: u64 },
    /// Arm the interposers at these taps.
    Interpose { fault: FaultId, taps: BTreeSet<Tap>, effect: Effect },
    /// Let them pass everything again.
    Withdraw { fault: FaultId, taps: BTreeSet<Tap>, effect: Effect },
    /// Move a clock of all the service's processes by so much, for good: also after a restart.
    Skew { node: NodeName, clock: Clock, by_ns: i64 },
    /// Take that back.
    Unskew { node: NodeName, clock: Clock, by_ns: i64 },
    /// End a client's session on the server that holds it. Momentary.
    Expire { node: NodeName, session: SessionPick },
}

impl Action {
    /// The action that takes this one back; `None` where there is nothing to take back.
    pub fn undo(&self) -> Option<Action> {
        Some(match self.clone() {
            Action::Cut { fault, links, manner } => Action::Join { fault, links, manner },
            Action::Join { fault, links, manner } => Action::Cut { fault, links, manner },
            Action::Kill { node } | Action::Stop { node } => Action::Start { node },
            Action::Start { node } => Action::Kill { node },
            Action::Pause { node } => Action::Resume { node },
            Action::Resume { node } => Action::Pause { node },
            Action::Throttle { fault, links, bytes_per_second } => {
                Action::Unthrottle { fault, links, bytes_per_second }
            }
            Action::Unthrottle { fault, links, bytes_per_second } => {
                Action::Throttle { fault, links, bytes_per_second }
            }
            Action::Interpose { fault, taps, effect } => Action::Withdraw { fault, taps, effect },
            Action::Withdraw { fault, taps, effect } => Action::Interpose { fault, taps, effect },
            Action::Skew { node, clock, by_ns } => Action::Unskew { node, clock, by_ns },
            Action::Unskew { node, clock, by_ns } => Action::Skew { node, clock, by_ns },
            Action::Crash { .. } | Action::Sever { .. } | Action::Expire { .. } => return None,
        })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Action::Cut { .. } => "cut",
            Action::Join { .. } => "join",
            Action::Kill { .. } => "kill",
            Action::Stop { .. } => "stop",
            Action::Start { .. } => "start",
            Action::Pause { .. } => "pause",
            Action::Resume { .. } => "resume",
            Action::Crash { .. } => "crash",
            Action::Sever { .. } => "sever",
            Action::Throttle { .. } => "throttle",
            Action::Unthrottle { .. } => "unthrottle",
            Action::Interpose { .. } => "interpose",
            Action::Withdraw { .. } => "withdraw",
            Action::Skew { .. } => "skew",
            Action::Unskew { .. } => "unskew",
            Action::Expire { .. } => "expire",
        }
    }
}

impl Action {
    /// The places that it touches: the ends of its links, its taps' nodes, or its node.
    pub fn places(&self) -> BTreeSet<NodeName> {
        match self {
            Action::Cut { links, .. }
            | Action::Join { links, .. }
            | Action::Sever { links, .. }
            | Action::Throttle { links, .. }
            | Action::Unthrottle { links, .. } => {
                links.iter().flat_map(|link| [link.from, link.to]).collect()
            }
            Action::Interpose { taps, .. } | Action::Withdraw { taps, .. } => {
                taps.iter().map(|tap| tap.node).collect()
            }
            Action::Kill { node }
            | Action::Stop { node }
            | Action::Start { node }
            | Action::Pause { node }
            | Action::Resume { node }
            | Action::Crash { node }
            | Action::Skew { node, .. }
            | Action::Unskew { node, .. }
            | Action::Expire { node, .. } => BTreeSet::from([*node]),
        }
    }

    /// What it acts on, for people: links, a node, taps.
    pub fn object(&self) -> String {
        match self {
            Action::Cut { links, manner, .. } | Action::Join { links, manner, .. } => {
                format!("{}{manner}", joined(links))
            }
            Action::Kill { node }
            | Action::Stop { node }
            | Action::Start { node }
            | Action::Pause { node }
            | Action::Resume { node }
            | Action::Crash { node } => node.to_string(),
            Action::Sever { links, port } => {
                let port = port.map_or(String::new(), |port| format!(" (port {port})"));
                format!("{}{port}", joined(links))
            }
            Action::Throttle { links, bytes_per_second, .. }
            | Action::Unthrottle { links, bytes_per_second, .. } => {
                format!("{} to {bytes_per_second} B/s", joined(links))
            }
            Action::Interpose { taps, effect, .. } | Action::Withdraw { taps, effect, .. } => {
                format!("{effect} at {}", joined(taps))
            }
            Action::Skew { node, clock, by_ns } | Action::Unskew { node, clock, by_ns } => {
                format!("{node}'s {clock} clock by {:+} s", *by_ns as f64 / 1e9)
            }
            Action::Expire { node, session } => match session {
                SessionPick::Nth(_) => format!("a session at {node}"),
                SessionPick::Id(id) => format!("session 0x{id:x} at {node}"),
            },
        }
    }
}

fn joined<T: ToString>(things: &BTreeSet<T>) -> String {
    things.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.refusal, self.port) {
            (Refusal::Drop, None) => Ok(()),
            (Refusal::Reset, None) => f.write_str(" (reset)"),
            (Refusal::Drop, Some(port)) => write!(f, " (port {port})"),
            (Refusal::Reset, Some(port)) => write!(f, " (port {port}, reset)"),
        }
    }
}

impl fmt::Display for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peers = if self.peers.is_empty() { "any".to_owned() } else { joined(&self.peers) };
        match self.side {
            Side::Inbound => write!(f, "{peers}→{}:{}", self.node, self.port),
            Side::Outbound => write!(f, "{}→{peers}:{}", self.node, self.port),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Message(rule) => write!(f, "{} `{}`", rule.form.name(), rule.pattern),
            Effect::Toxic(toxic) => f.write_str(toxic.name()),
        }
    }
}

impl Clock {
    pub fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Monotonic => "monotonic",
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// Packets or messages of the workload that it hit, or clock readings that it falsified, probes
    /// not counted; given by what takes it back.
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
