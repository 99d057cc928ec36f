//! A fault is intent: what to break, whom to aim at, when. It becomes actions only when it fires.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cluster::Role;
use crate::duration::Span;

/// What breaks. A closed set: a new kind of fault is a new case here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Node-to-node packets are dropped, by `shape`; clients still reach every node.
    Partition,
    /// SIGKILL, started again when the fault ends.
    Kill,
    /// Frozen, thawed when the fault ends.
    Pause,
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
            _ => match Role::ALL.iter().find(|role| role.name() == text) {
                Some(role) => Target::Role(*role),
                None if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                    && !text.is_empty() =>
                {
                    Target::Node(text.to_owned())
                }
                None => {
                    return Err(format!(
                        "expected a target: all, one, minority, majority, leader, a role or a node; found `{text}`"
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
            Target::Role(role) => role.name(),
            Target::Node(name) => name,
        })
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        deserializer.deserialize_str(TargetVisitor)
    }
}

/// Parses within the deserializer, so that its error knows the field and line.
struct TargetVisitor;

impl Visitor<'_> for TargetVisitor {
    type Value = Target;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a target: all, one, minority, majority, leader, a role or a node")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Target, E> {
        text.parse().map_err(E::custom)
    }
}

/// One fault of a nemesis: fault × target × schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub fault: FaultKind,
    /// Of partitions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Of `kill`, `pause` and the shapes that single nodes out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Quiet time before it first begins.
    pub after: Span,
    /// How long it stays in force.
    #[serde(rename = "for")]
    pub lasts: Span,
    /// From one beginning to the next.
    pub every: Span,
}

impl Fault {
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
            (FaultKind::Kill | FaultKind::Pause, Some(_)) => {
                return Some(("shape", "only a partition has a shape".into()));
            }
            (FaultKind::Partition, Some(Shape::Halves | Shape::MajorityMinority)) => false,
            _ => true,
        };
        match (&self.target, needs_target) {
            (None, true) => Some((
                "target",
                "expected a target: all, one, minority, majority, leader, a role or a node".into(),
            )),
            (Some(_), false) => {
                Some(("target", "this shape picks its sides by itself and takes no target".into()))
            }
            _ if self.lasts.nanos() == 0 => {
                Some(("for", "a fault of no duration cannot be felt; expected more than 0s".into()))
            }
            _ if self.every < self.lasts => Some((
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

/// A nemesis as its file tells it: what breaks, whom, when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NemesisSpec {
    pub faults: Vec<Fault>,
}
