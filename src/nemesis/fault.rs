//! A fault is intent: what to break, whom to aim at, when. It becomes actions only when it fires.

mod flaw;
mod reach;
mod spec_flaw;
mod timing;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::cluster::{Clock, Form, Mechanism, Pattern, Refusal, Role, Toxic};
use crate::duration::{SignedSpan, Span};
use crate::nemesis::target::{NamedLink, Target};
use crate::nemesis::trigger::{Pace, Times, When};

/// What breaks. A closed set: a new kind of fault is a new case here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Links are cut, by `shape`; clients still reach every node unless `traffic` says otherwise.
    Partition,
    /// SIGKILL, started again when the fault ends.
    Kill,
    /// SIGTERM, started again when the fault ends.
    Stop,
    /// Frozen, thawed when the fault ends.
    Pause,
    /// SIGKILL under a supervisor that starts the service again at once. Momentary.
    Crash,
    /// Live connections are closed under both ends. Momentary.
    Sever,
    /// A leader loses the connections to its followers, and so its office. Momentary.
    Resign,
    /// Links pass at most `bytes_per_second`.
    Throttle,
    /// A request or its reply is held, lost, late, doubled: `message`, `form`, `nth`, `times`.
    Message,
    /// Bytes are late, slow, sliced or cut off: `toxic`.
    Toxic,
    /// A clock jumps: `clock`, `by`.
    Clock,
    /// A client's session is ended behind its back. Momentary.
    ExpireSession,
}

impl FaultKind {
    pub const ALL: [FaultKind; 12] = [
        FaultKind::Partition,
        FaultKind::Kill,
        FaultKind::Stop,
        FaultKind::Pause,
        FaultKind::Crash,
        FaultKind::Sever,
        FaultKind::Resign,
        FaultKind::Throttle,
        FaultKind::Message,
        FaultKind::Toxic,
        FaultKind::Clock,
        FaultKind::ExpireSession,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Partition => "partition",
            FaultKind::Kill => "kill",
            FaultKind::Stop => "stop",
            FaultKind::Pause => "pause",
            FaultKind::Crash => "crash",
            FaultKind::Sever => "sever",
            FaultKind::Resign => "resign",
            FaultKind::Throttle => "throttle",
            FaultKind::Message => "message",
            FaultKind::Toxic => "toxic",
            FaultKind::Clock => "clock",
            FaultKind::ExpireSession => "expire-session",
        }
    }

    /// It is over at once: there is nothing to take back and no `for`.
    pub fn is_momentary(self) -> bool {
        matches!(
            self,
            FaultKind::Crash | FaultKind::Sever | FaultKind::Resign | FaultKind::ExpireSession
        )
    }
}

/// Who is separated from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Two random halves; the odd node falls to one of them by chance.
    Halves,
    /// The target's nodes on one side, all others on the other.
    Isolate,
    /// A random smallest majority against the rest.
    MajorityMinority,
    /// Packets *to* the target's nodes are dropped; what they send arrives.
    OneWay,
    /// Every node sees a majority, no two see the same one.
    MajoritiesRing,
    /// Two halves that share one node, which reaches both.
    Bridge,
    /// A random third of the nodes, rounded down, at least one, against the rest.
    MinorityThird,
    /// Two sides of random size, at least one node each.
    Random,
    /// The link that `link` names.
    Link,
}

/// Whose traffic a partition cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Between nodes only.
    #[default]
    Nodes,
    /// Between clients and nodes only: the target's nodes from all clients.
    Clients,
    /// Both.
    All,
}

/// One fault of a nemesis: fault × target × schedule. Which fields a kind takes is checked by `flaw`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub fault: FaultKind,
    /// Of partitions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Whom it hits; of partitions, for the shapes that single nodes out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Of partitions, sever, throttle and toxic, in place of a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<NamedLink>,
    /// Of partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Of partitions: drop (default) or reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// Of partitions, sever, message and toxic: a TCP port; for the last two the client port where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Of throttle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// Of message: the request; the workload's own `message` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Pattern>,
    /// Of message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// Of message: the first match that is hit, from 1 (default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// Of message: how many matches are hit; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// Of message with form delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Of toxic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toxic: Option<Toxic>,
    /// Of clock: wall (default) or monotonic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Of clock: how far it jumps; back where it begins with `-`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SignedSpan>,
    /// Of expire-session: the session's id; a random one of the target's where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How often a nemesis of random order draws it, compared with its others; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// What it waits for, in place of `every`; events before `after` do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// It hits each new leader, so often a minute; in place of `every` and `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Quiet time before it first begins.
    #[serde(default)]
    pub after: Span,
    /// How long it stays in force; nothing of momentary faults.
    #[serde(rename = "for", default)]
    pub lasts: Span,
    /// From one beginning to the next; once where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// Each beginning is late by a random time up to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Span>,
}

impl Fault {
    /// A fault of this kind with no other field set.
    pub fn new(kind: FaultKind) -> Fault {
        Fault {
            fault: kind,
            shape: None,
            target: None,
            link: None,
            traffic: None,
            refusal: None,
            port: None,
            bytes_per_second: None,
            message: None,
            form: None,
            nth: None,
            times: None,
            delay: None,
            toxic: None,
            clock: None,
            by: None,
            session: None,
            weight: None,
            when: None,
            pace: None,
            after: Span::default(),
            lasts: Span::default(),
            every: None,
            jitter: None,
        }
    }

    /// What it needs of a kernel and an engine: itself, and its trigger. `leader` is whose leader it means
    /// where it names no role.
    pub fn mechanisms(&self, leader: Role) -> BTreeSet<Mechanism> {
        let own = match self.fault {
            FaultKind::Partition if self.refusal == Some(Refusal::Reset) => Some(Mechanism::Reject),
            FaultKind::Partition => Some(Mechanism::BridgeTables),
            FaultKind::Resign if self.office(leader).is_some() => None,
            FaultKind::Sever | FaultKind::Resign => Some(Mechanism::CloseSockets),
            FaultKind::Throttle => Some(Mechanism::Shape),
            FaultKind::Message | FaultKind::Toxic => Some(Mechanism::Redirect),
            FaultKind::Clock => Some(Mechanism::Trace),
            FaultKind::Pause => Some(Mechanism::Freeze),
            FaultKind::Kill | FaultKind::Stop | FaultKind::Crash | FaultKind::ExpireSession => None,
        };
        let watches = self.when.as_ref().is_some_and(|when| when.message.is_some());
        own.into_iter().chain(watches.then_some(Mechanism::Redirect)).collect()
    }

    /// How the report names the aim.
    pub fn aim(&self) -> String {
        let side = match (&self.link, &self.target, self.shape) {
            (Some(link), ..) => link.to_string(),
            (None, Some(target), Some(Shape::OneWay)) => format!("{target}, inbound"),
            (None, Some(target), _) => target.to_string(),
            (None, None, Some(Shape::Halves)) => "halves".into(),
            (None, None, Some(Shape::MajorityMinority)) => "majority | minority".into(),
            (None, None, Some(Shape::MajoritiesRing)) => "majorities in a ring".into(),
            (None, None, Some(Shape::Bridge)) => "halves with a bridge".into(),
            (None, None, Some(Shape::MinorityThird)) => "a third | the rest".into(),
            (None, None, Some(Shape::Random)) => "random sides".into(),
            (None, None, _) if self.fault == FaultKind::Resign => "leader".into(),
            (None, None, _) => "all".into(),
        };
        match self.traffic {
            Some(Traffic::Clients) => format!("{side}, from clients"),
            Some(Traffic::All) => format!("{side}, also from clients"),
            Some(Traffic::Nodes) | None => side,
        }
    }
}

/// In which order a nemesis's faults come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Each by its own clock or trigger; they overlap freely.
    #[default]
    Overlap,
    /// One after the other, over and over.
    Sequence,
    /// One at a time, drawn by weight.
    Random,
}

/// How faults that come one at a time take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    pub order: Order,
    /// Quiet time before the first.
    pub after: Span,
    /// Quiet time between two.
    pub quiet: Span,
}

/// A nemesis as its file tells it: what breaks, whom, when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NemesisSpec {
    #[serde(default)]
    pub order: Order,
    /// Of `sequence` and `random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Span>,
    /// Of `sequence` and `random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Span>,
    pub faults: Vec<Fault>,
}
