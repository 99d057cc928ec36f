//! A fault is intent: what to break, whom to aim at, when. It becomes actions only when it fires.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cluster::{CLIENTS, Clock, Form, Pattern, Refusal, Role, Toxic};
use crate::duration::{SignedSpan, Span};
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

/// Whom a fault is aimed at. Resolved when it fires, not when the run starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    All,
    /// One random node.
    One,
    /// A random largest minority.
    Minority,
    /// A random smallest majority.
    Majority,
    /// Every node that claims to lead.
    Leader,
    /// One random node that serves and does not lead.
    Follower,
    /// The clients' place; an end of links only.
    Clients,
    Role(Role),
    Node(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        Ok(match text {
            "all" => Target::All,
            "one" => Target::One,
            "minority" => Target::Minority,
            "majority" => Target::Majority,
            "leader" => Target::Leader,
            "follower" => Target::Follower,
            CLIENTS => Target::Clients,
            _ => match Role::ALL.iter().find(|role| role.name() == text) {
                Some(role) => Target::Role(*role),
                None if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                    && !text.is_empty() =>
                {
                    Target::Node(text.to_owned())
                }
                None => {
                    return Err(format!(
                        "expected a target: all, one, minority, majority, leader, follower, a role or a node; found `{text}`"
                    ));
                }
            },
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::All => "all",
            Target::One => "one",
            Target::Minority => "minority",
            Target::Majority => "majority",
            Target::Leader => "leader",
            Target::Follower => "follower",
            Target::Clients => CLIENTS,
            Target::Role(role) => role.name(),
            Target::Node(name) => name,
        })
    }
}

crate::text_form!(
    Target,
    "a target: all, one, minority, majority, leader, follower, a role, a node or clients"
);

/// A link between targets, `follower->leader`, resolved when the fault fires. `clients` is a place, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedLink {
    pub from: Target,
    pub to: Target,
    /// Both directions: `a<->b`.
    pub both_ways: bool,
}

impl FromStr for NamedLink {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedLink, String> {
        let (ends, both_ways) = match text.split_once("<->") {
            Some(ends) => (Some(ends), true),
            None => (text.split_once("->"), false),
        };
        let (from, to) = ends.ok_or_else(|| {
            format!("expected a link such as follower->leader or clients<->leader, found `{text}`")
        })?;
        Ok(NamedLink { from: from.trim().parse()?, to: to.trim().parse()?, both_ways })
    }
}

impl fmt::Display for NamedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.both_ways { "<->" } else { "->" };
        write!(f, "{}{arrow}{}", self.from, self.to)
    }
}

crate::text_form!(NamedLink, "a link such as follower->leader or clients<->leader");

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
    /// What it waits for, in place of `after` and `every`.
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

    /// What is wrong with the combination of fields, if anything: the field, and what was expected.
    pub fn flaw(&self) -> Option<(&'static str, String)> {
        let needs_target = match (self.fault, self.shape) {
            (FaultKind::Partition, None) => {
                return Some((
                    "shape",
                    "a partition needs a shape: halves, isolate, majority-minority or one-way"
                        .into(),
                ));
            }
            (kind, Some(_)) if kind != FaultKind::Partition => {
                return Some(("shape", "only a partition has a shape".into()));
            }
            (FaultKind::Partition, Some(Shape::Halves | Shape::MajorityMinority)) => false,
            _ => true,
        };
        match (&self.target, needs_target) {
            (None, true) => Some((
                "target",
                "expected a target: all, one, minority, majority, leader, follower, a role or a node".into(),
            )),
            (Some(_), false) => {
                Some(("target", "this shape picks its sides by itself and takes no target".into()))
            }
            _ if self.lasts.nanos() == 0 && !self.fault.is_momentary() => {
                Some(("for", "a fault of no duration cannot be felt; expected more than 0s".into()))
            }
            _ if self.every.is_some_and(|every| every < self.lasts) => Some((
                "every",
                format!(
                    "expected at least `for` ({}), since a fault cannot overlap itself",
                    self.lasts
                ),
            )),
            _ => None,
        }
    }

    /// How the report names the aim.
    pub fn aim(&self) -> String {
        match (&self.target, self.shape) {
            (Some(target), Some(Shape::OneWay)) => format!("{target}, inbound"),
            (Some(target), _) => target.to_string(),
            (None, Some(Shape::Halves)) => "halves".into(),
            (None, Some(Shape::MajorityMinority)) => "majority | minority".into(),
            (None, _) => "all".into(),
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
