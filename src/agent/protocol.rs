//! The lines between an orchestrator and its agent: one JSON object each, requests down, messages up.
//!
//! Data only: it opens no socket and knows neither the engine nor the kernel. Both ends are the same
//! executable, so there is one version of it and no negotiation.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::cluster::{Concerning, Effect, FaultId, Link, MessageSeen, Tap};
use crate::op::NodeName;

mod tapping;

pub use tapping::{Passed, Spent, TapProbe, TapState};

/// How long a probe waits for a packet that neither arrives nor is counted as dropped.
pub const PROBE_BOUND_MS: u64 = 250;

/// One line down. The id comes back with the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub id: u64,
    pub command: Command,
}

/// What an agent can be asked. A closed set: a new fault's needs are new cases here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Command {
    Hello,
    /// Makes these nodes known, and opens a probe socket at each.
    Enroll {
        nodes: Vec<Enrollment>,
    },
    /// Drops all IPv4 packets on these links. The same fault again replaces its links.
    Cut {
        fault: FaultId,
        links: BTreeSet<Link>,
    },
    /// Removes exactly this fault's table.
    Join {
        fault: FaultId,
    },
    /// Removes every table of the run, whoever installed it.
    Heal,
    /// What each table has dropped so far.
    Counters,
    /// Sends packets over these links and sees what becomes of them.
    Probe {
        links: BTreeSet<Link>,
        bound_ms: u64,
    },
    /// Puts interposers in place that pass everything on, beside those that are there.
    Tap {
        taps: BTreeSet<Tap>,
    },
    /// Has the interposers at these taps do this from now on.
    Arm {
        concerning: Concerning,
        taps: BTreeSet<Tap>,
        effect: Effect,
    },
    /// Takes back exactly that.
    Disarm {
        concerning: Concerning,
    },
    /// Reads a tap's rules back, and opens a connection through it: inbound from this node, outbound
    /// to it.
    ProbeTap {
        tap: Tap,
        with: NodeName,
        bound_ms: u64,
    },
    /// The run's tables as the kernel shows them.
    Status,
    /// What the host's kernel says of one process.
    Process {
        pid: u32,
    },
    Heartbeat,
    /// Heal everything and end.
    Bye,
}

/// A node and where its network lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrollment {
    pub node: NodeName,
    pub address: Ipv4Addr,
    pub place: Place,
}

/// Whose network namespace holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// That of the container whose first process has this pid on the host.
    Container { pid: u32 },
    /// The host's own: clients, at the bridge's address.
    Host,
}

/// One line up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum Message {
    Answer {
        id: u64,
        answer: Answer,
    },
    Failure {
        id: u64,
        error: String,
    },
    /// Unasked: everything was taken back, and why.
    Healed {
        healed: Healed,
    },
    /// Unasked: an armed interposer has seen or hit a message.
    Seen {
        concerning: Concerning,
        node: NodeName,
        message: MessageSeen,
        /// How long before this was written.
        age_us: u64,
    },
    /// A line that is no request.
    Garbled {
        error: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "kebab-case")]
pub enum Answer {
    Hello { greeting: Greeting },
    Enroll,
    Cut { table: Table },
    Join { tally: Option<Tally> },
    Heal { healed: Healed },
    Counters { tallies: Vec<Tally> },
    Probe { report: ProbeReport },
    Tap { taps: Vec<TapState> },
    Arm,
    Disarm { spent: Option<Spent> },
    ProbeTap { probe: TapProbe },
    Status { tables: Vec<Table> },
    Process { process: Option<ProcessFacts> },
    Heartbeat,
    Bye,
}

/// Who the agent is and what this kernel lets it do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    pub version: String,
    pub kernel: String,
    pub run: String,
    pub lease_ms: u64,
    pub tables: TableSupport,
}

/// Found out by installing a whole table that matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableSupport {
    /// The kernel itself removes our tables when the agent dies.
    Owned,
    /// Tables work, but would outlive an agent killed by SIGKILL until the next `heal`.
    Unowned {
        why: String,
    },
    Missing {
        why: String,
    },
}

/// Where in the bridge's path a table looks at packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// Node to host.
    Input,
    /// Node to node.
    Forward,
    /// Host to node.
    Output,
}

impl Hook {
    pub const ALL: [Hook; 3] = [Hook::Input, Hook::Forward, Hook::Output];

    pub fn name(self) -> &'static str {
        match self {
            Hook::Input => "input",
            Hook::Forward => "forward",
            Hook::Output => "output",
        }
    }
}

/// One fault's table, read back from the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub name: String,
    /// The kernel removes it with its owner's socket.
    pub owned: bool,
    pub hooks: BTreeSet<Hook>,
    /// An address that is no enrolled node's stands for itself.
    pub links: BTreeSet<Link>,
    pub tally: Tally,
}

/// What one table dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub fault: FaultId,
    /// Packets of the workload: everything but probes.
    pub packets: u64,
    pub probes: u64,
}

/// What was taken back at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Healed {
    pub because: Cause,
    pub tallies: Vec<Tally>,
    /// Tables that are still there, and why; empty when all is well.
    pub left: Vec<String>,
}

impl fmt::Display for Healed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> =
            self.tallies.iter().map(|tally| tally.fault.to_string()).collect();
        let faults = if faults.is_empty() { "nothing".to_owned() } else { faults.join(", ") };
        write!(f, "healed {faults} because {}", self.because)?;
        if self.left.is_empty() { Ok(()) } else { write!(f, "; left: {}", self.left.join("; ")) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    Asked,
    /// Nothing was heard of the orchestrator for the whole lease.
    LeaseExpired,
    /// The orchestrator is gone, or has closed the agent's input.
    EndOfInput,
    Terminated,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Asked => "asked to",
            Cause::LeaseExpired => "the lease expired",
            Cause::EndOfInput => "the input ended",
            Cause::Terminated => "told to terminate",
        })
    }
}

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

/// A process that is there, as the host's kernel shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// `R`, `S`, `D`, `T` (stopped), `Z` (dead, not yet reaped), ...
    pub state: char,
    /// Clock ticks since boot: tells a process from a later one with its pid.
    pub start_ticks: u64,
    pub comm: String,
    /// Its cgroup is frozen; absent where the host shows no freezer.
    pub frozen: Option<bool>,
}

impl ProcessFacts {
    /// It can still run: no zombie.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

#[cfg(test)]
mod tests;
