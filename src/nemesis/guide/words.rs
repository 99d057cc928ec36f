//! The words: one place for what kinds, fields and mechanisms are in plain language.

use crate::cluster::{Clock, Form, Mechanism, Refusal, Role, Toxic};
use crate::nemesis::fault::{Fault, FaultKind, Order, Shape, Traffic};
use crate::nemesis::target::{Party, Pick, Target};
use crate::nemesis::trigger::When;

/// What is said of a field without words of its own; none is meant to be.
pub const UNKNOWN: &str = "a field";

pub const SUPERVISOR: &str = "the service run under our supervisor, which restarts it in place";

pub fn order(order: Order) -> &'static str {
    match order {
        Order::Overlap => "each fault by its own clock or trigger",
        Order::Sequence => "one fault after the other, over and over",
        Order::Random => "one fault at a time, drawn by weight",
    }
}

/// What a mechanism is, and what it is needed for.
pub fn mechanism(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::BridgeTables => "nftables of the bridge family, to drop the packets of a link",
        Mechanism::Reject => "nftables with reject in a node's namespace, to refuse with RST",
        Mechanism::Redirect => {
            "nftables redirection in a node's namespace, to stand in connections"
        }
        Mechanism::CloseSockets => "SOCK_DESTROY, to close other processes' connections",
        Mechanism::Shape => "HTB and u32 on a node's interface, to cap what passes",
        Mechanism::Trace => "ptrace and writing to a process's memory, to move its clocks",
        Mechanism::Freeze => "the freezer of control groups, to stop a container's processes",
    }
}

pub fn field(fault: &Fault, field: &str) -> String {
    let words = match field {
        "fault" => kind(fault.fault),
        "shape" => fault.shape.map_or(UNKNOWN, shape),
        "target" => return fault.target.as_ref().map_or(UNKNOWN.into(), target),
        "traffic" => fault.traffic.map_or(UNKNOWN, traffic),
        "refusal" => fault.refusal.map_or(UNKNOWN, refusal),
        "form" => fault.form.map_or(UNKNOWN, form),
        "toxic" => fault.toxic.map_or(UNKNOWN, toxic),
        "clock" => fault.clock.map_or(UNKNOWN, clock),
        "when" => fault.when.as_ref().map_or(UNKNOWN, when),
        "link" => "the link between these two, resolved when the fault begins; <-> is both ways",
        "port" => "only TCP with this port where the connection leads",
        "bytes_per_second" => "so many bytes a second may pass on each link",
        "message" => "the request that is hit; the workload's own where absent",
        "nth" => "the first match that is hit, from 1",
        "times" => "how many matches are hit: once, always or a count such as 3x",
        "delay" => "how late the reply comes",
        "by" => "how far the clock jumps; back where it begins with -",
        "session" => {
            "the id of the session, or a znode that it owns; a random one of the node's where absent"
        }
        "weight" => "how often it is drawn, compared with the others",
        "pace" => "it hits each new leader: so often a minute, at least and at most",
        "after" => "quiet time before it first begins",
        "for" => "how long it stays in force",
        "every" => "from one beginning to the next; once where absent",
        "jitter" => "each beginning is late by a random time up to this",
        _ => UNKNOWN,
    };
    words.to_owned()
}

fn kind(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Partition => "links are cut",
        FaultKind::Kill => "SIGKILL; started again when the fault ends",
        FaultKind::Stop => "SIGTERM; started again when the fault ends",
        FaultKind::Pause => "frozen; thawed when the fault ends",
        FaultKind::Crash => "SIGKILL; restarted in place at once",
        FaultKind::Sever => "live connections are closed under both ends",
        FaultKind::Resign => {
            "the leader loses its followers' connections or its session, and so its office"
        }
        FaultKind::Throttle => "links pass only so much",
        FaultKind::Message => "a request or its reply is held, lost, late or doubled",
        FaultKind::Toxic => "bytes are late, slow, sliced or cut off",
        FaultKind::Clock => "a clock jumps; back when the fault ends",
        FaultKind::ExpireSession => "a client's session is ended behind its back",
    }
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Halves => "two random halves",
        Shape::Isolate => "the target's nodes against all others",
        Shape::MajorityMinority => "a random smallest majority against the rest",
        Shape::OneWay => "what is sent to the target's nodes is lost, what they send arrives",
        Shape::MajoritiesRing => "every node hears a majority, no two the same",
        Shape::Bridge => "two halves that share one node",
        Shape::MinorityThird => "a random third against the rest",
        Shape::Random => "two sides of random size",
        Shape::Link => "the link in `link`",
    }
}

fn target(target: &Target) -> String {
    let of = |role: &Option<Role>, open: &str| match role {
        Some(role) => format!(" of {role}"),
        None => open.to_owned(),
    };
    let (pick, role) = match target {
        Target::Of(pick, role) => (pick, role),
        Target::Cause(Party::Sender) => return "the node that sent the message".into(),
        Target::Cause(Party::Receiver) => return "the node that the message came to".into(),
        Target::Cause(Party::Bystander) => {
            return "one random master, or leader, of that service with no part in the message"
                .into();
        }
        Target::Cause(Party::Seen) => return "the node at which the event was seen".into(),
        Target::Clients => return "the clients".into(),
        Target::Node(_) => return "this node".into(),
    };
    let (words, open) = match (pick, role) {
        (Pick::All, _) => ("every node", ""),
        (Pick::One, _) => ("one random node", TESTED),
        (Pick::Minority, _) => ("a random largest minority", TESTED),
        (Pick::Majority, _) => ("a random smallest majority", TESTED),
        (Pick::Leader, Some(Role::Kvrocks)) => return "every master of kvrocks".into(),
        (Pick::Follower, Some(Role::Kvrocks)) => return "one random replica of kvrocks".into(),
        (Pick::Master, _) => return "one random master of kvrocks".into(),
        (Pick::Leader, _) => ("every node that claims to lead when the fault begins", LED),
        (Pick::Follower, _) => ("one random node that serves and does not lead", LED),
    };
    format!("{words}{}", of(role, open))
}

/// What is picked from where no role is named.
const TESTED: &str = " of all that is not ZooKeeper, or of ZooKeeper where it is alone";

const LED: &str = ", of the workload's `leader`";

fn traffic(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Nodes => "between nodes only; clients still reach every node",
        Traffic::Clients => "between clients and the nodes only; nodes reach each other",
        Traffic::All => "between nodes, and between clients and the nodes",
    }
}

fn refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Drop => "packets vanish",
        Refusal::Reset => "connections are refused with RST",
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Watch => "it is only seen",
        Form::Hold => {
            "it is applied; its reply, and all that is said on its connection later, never arrives"
        }
        Form::Close => "it is applied, then the connection is closed in place of the reply",
        Form::Delay => "its reply comes late, by `delay`",
        Form::Duplicate => "it is passed on twice, the second reply is swallowed",
        Form::DropRequest => "it never arrives, the connection stays",
    }
}

fn toxic(toxic: Toxic) -> &'static str {
    match toxic {
        Toxic::Latency { .. } => "each direction is late, give or take the jitter",
        Toxic::Bandwidth { .. } => "each direction passes only so many bytes a second",
        Toxic::Slicer { .. } => "bytes come in small slices with pauses between",
        Toxic::Reset { .. } => "the connection is reset after so many bytes of the server",
    }
}

fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Wall => "the time of day",
        Clock::Monotonic => "the time that only runs forward, which timeouts are measured by",
    }
}

fn when(when: &When) -> &'static str {
    match when {
        When { log: Some(_), .. } => "it waits for a line in a log, by a regular expression",
        When { znode: Some(_), .. } => "it waits for a change of a znode",
        When { message: Some(_), .. } => "it waits for a request on the wire",
        When { view: Some(_), .. } => {
            "it waits for a change of who leads or what state nodes are in"
        }
        When { outcome: Some(_), .. } => "it waits for an operation to end so",
        _ => "it waits for a phase of the run",
    }
}

/// What a fault puts to the test.
pub fn can_break(fault: &Fault) -> &'static str {
    match (fault.fault, fault.clock) {
        (FaultKind::Partition, _) => {
            "agreement: two sides that both go on, stale reads, lost writes of a deposed leader"
        }
        (FaultKind::Kill, _) => "durability: acknowledged writes that were in memory only",
        (FaultKind::Stop, _) => "orderly shutdown: what is handed over, flushed or forgotten",
        (FaultKind::Pause, _) => {
            "leases and timeouts: a process that wakes up and believes no time has passed"
        }
        (FaultKind::Crash, _) => {
            "fast restarts: old epochs, stale peers, state that was never saved"
        }
        (FaultKind::Sever, _) => "reconnection: operations under way, sessions that move",
        (FaultKind::Resign, _) => "leadership: what was acknowledged while the followers went away",
        (FaultKind::Throttle, _) => "flow control: growing queues, heartbeats stuck behind data",
        (FaultKind::Message, _) => {
            "exactly-once: operations whose fate no client can know, repeated or lost"
        }
        (FaultKind::Toxic, _) => "patience and framing: late, slow and partial messages",
        (FaultKind::Clock, Some(Clock::Monotonic)) => "timeouts, heartbeats and session expiry",
        (FaultKind::Clock, _) => "timestamps, leases and expiry by the time of day",
        (FaultKind::ExpireSession, _) => {
            "sessions: locks and ephemeral znodes of a client that believes it has them still"
        }
    }
}
