//! The lines between an orchestrator and its agent: one JSON object each, requests down, messages up.
//!
//! Data only: it opens no socket and knows neither the engine nor the kernel. Both ends are the same
//! executable, so there is one version of it and no negotiation.

mod asking;
mod clock;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::cluster::{Ability, Concerning, Effect, FaultId, Link, Manner, MessageSeen, Tap};
use crate::op::NodeName;
pub use asking::Heard;
pub use clock::{ClockReport, ClockTrial, HealedClock, Offsets, ProcessClock, Shown};
pub use traffic::{Cap, LinkProbe, Passage, PortPassage, PortProbe, ProbeReport, Severed, Speed};

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
    /// Drops or refuses IPv4 packets on these links. The same fault again replaces its links.
    Cut {
        fault: FaultId,
        links: BTreeSet<Link>,
        manner: Manner,
    },
    /// Removes exactly this fault's tables.
    Join {
        fault: FaultId,
    },
    /// Closes the live TCP connections between the ends of these links.
    Sever {
        links: BTreeSet<Link>,
        port: Option<u16>,
    },
    /// Lets at most so much pass on each of these links. The same fault again replaces its caps.
    Throttle {
        fault: FaultId,
        links: BTreeSet<Link>,
        bytes_per_second: u64,
    },
    /// Removes exactly this fault's caps.
    Unthrottle {
        fault: FaultId,
    },
    /// Sends bursts over these links that would take a while at this rate, and sees how long they take.
    Measure {
        links: BTreeSet<Link>,
        bytes_per_second: u64,
    },
    /// Removes every table of the run and every cap at its nodes, whoever installed it.
    Heal,
    /// What each table has dropped so far.
    Counters,
    /// Sends packets over these links and sees what becomes of them.
    Probe {
        links: BTreeSet<Link>,
        bound_ms: u64,
    },
    /// Opens a TCP connection over each of these links, to this port where it leads, and sees what
    /// becomes of it.
    ProbePort {
        links: BTreeSet<Link>,
        port: u16,
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
    /// Connects within a node's network to this port of its own address, sends this, and hears what
    /// comes back, up to so many bytes.
    Ask {
        node: NodeName,
        port: u16,
        send: String,
        enough: usize,
        bound_ms: u64,
    },
    /// Where anything listens in a node's network, our interposers apart.
    Listening {
        node: NodeName,
    },
    /// The run's tables as the kernel shows them.
    Status,
    /// Tries what this kernel lets us do.
    Abilities,
    /// What the host's kernel says of one process.
    Process {
        pid: u32,
    },
    /// All processes of the container whose first process this is.
    Census {
        first: u32,
    },
    /// Sends a signal to a process of a container, if it is the one that started at that time.
    Signal {
        first: u32,
        pid: u32,
        start_ticks: u64,
        signal: i32,
    },
    /// Sets how far the clocks of all processes of a container are off; `pid` is its main process.
    SkewClock {
        pid: u32,
        offsets: Offsets,
    },
    /// Asks all processes of a container what their clocks show.
    ReadClock {
        pid: u32,
    },
    /// Puts the clocks of all processes of a container right, as far as they can be.
    HealClock {
        pid: u32,
    },
    /// Finds out on a child of the agent's own whether clocks can be skewed here.
    TryClocks,
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
    Cut { tables: Vec<Table> },
    Join { tally: Option<Tally> },
    Sever { severed: Severed },
    Throttle { caps: Vec<Cap> },
    Unthrottle { packets: Option<u64> },
    Measure { speeds: Vec<Speed> },
    Heal { healed: Healed },
    Counters { tallies: Vec<Tally> },
    Probe { report: ProbeReport },
    ProbePort { probes: Vec<PortProbe> },
    Tap { taps: Vec<TapState> },
    Arm,
    Disarm { spent: Option<Spent> },
    ProbeTap { probe: TapProbe },
    Ask { heard: Heard },
    Listening { at: BTreeSet<SocketAddr> },
    Status { tables: Vec<Table> },
    Abilities { abilities: Vec<Ability> },
    Process { process: Option<ProcessFacts> },
    Census { residents: Vec<Resident> },
    Signal { sent: bool },
    SkewClock { report: ClockReport },
    ReadClock { report: ClockReport },
    HealClock { report: ClockReport },
    TryClocks { trial: ClockTrial },
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

/// Which packets of its links a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matched {
    /// Dropped: everything.
    Everything,
    /// Dropped: everything but TCP.
    AllButTcp,
    /// Dropped: TCP to this port. Its answers go the other way, which is another link.
    Port { port: u16 },
    /// Answered with RST: TCP, to this port if one is given. RST itself passes.
    Refused { port: Option<u16> },
}

/// One table of a fault, read back from the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub name: String,
    /// The node in whose namespace it stands; absent for those at the host's bridges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    pub matched: Matched,
    /// The kernel removes it with its owner's socket.
    pub owned: bool,
    pub hooks: BTreeSet<Hook>,
    /// An address that is no enrolled node's stands for itself.
    pub links: BTreeSet<Link>,
    pub tally: Tally,
}

/// What one fault's tables dropped or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub fault: FaultId,
    /// Packets of the workload: everything but probes.
    pub packets: u64,
    pub probes: u64,
}

impl Tally {
    /// One for each fault, in the order of faults.
    pub fn summed(tallies: Vec<Tally>) -> Vec<Tally> {
        let mut by_fault: BTreeMap<FaultId, Tally> = BTreeMap::new();
        for Tally { fault, packets, probes } in tallies {
            let sum = by_fault.entry(fault).or_insert(Tally { fault, packets: 0, probes: 0 });
            sum.packets += packets;
            sum.probes += probes;
        }
        by_fault.into_values().collect()
    }
}

/// What was taken back at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Healed {
    pub because: Cause,
    pub tallies: Vec<Tally>,
    /// Processes whose clocks had been skewed.
    pub clocks: Vec<HealedClock>,
    /// What an agent before this one had left and is removed now, where no fault is known to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub swept: Vec<String>,
    /// Tables and skewed clocks that are still there, and why; empty when all is well.
    pub left: Vec<String>,
}

impl fmt::Display for Healed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = self.tallies.iter().map(|tally| tally.fault.to_string());
        let faults: Vec<String> =
            faults.chain(self.clocks.iter().map(HealedClock::to_string)).collect();
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

/// One process of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resident {
    /// On the host, as its parent's.
    pub pid: u32,
    pub parent: u32,
    pub facts: ProcessFacts,
}

#[cfg(test)]
mod tests;
