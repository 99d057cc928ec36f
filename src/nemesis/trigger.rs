//! When a fault begins, if not by the clock: something that the system does. Pure.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cluster::Pattern;
use crate::duration::Span;
use crate::nemesis::fault::Target;
use crate::nemesis::record::Phase;
use crate::op::Kind;

/// What happens to a znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZnodeChange {
    Created,
    Changed,
    Deleted,
}

/// What of the view changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewChange {
    /// A node leads that did not, or in a new epoch.
    Leader,
    /// A node's state is another one: serving, running, paused, down.
    State,
}

/// How often a trigger fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Times {
    #[default]
    Once,
    /// So many times.
    Count(u32),
    Always,
}

impl Times {
    pub fn limit(self) -> u32 {
        match self {
            Times::Once => 1,
            Times::Count(count) => count,
            Times::Always => u32::MAX,
        }
    }
}

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> Result<Times, String> {
        match text {
            "once" => Ok(Times::Once),
            "always" => Ok(Times::Always),
            _ => match text.strip_suffix('x').unwrap_or(text).parse() {
                Ok(count) if count > 0 => Ok(Times::Count(count)),
                _ => Err(format!("expected once, always or a count such as 3x, found `{text}`")),
            },
        }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Times::Once => f.write_str("once"),
            Times::Count(count) => write!(f, "{count}x"),
            Times::Always => f.write_str("always"),
        }
    }
}

crate::text_form!(Times, "once, always or a count such as 3x");

/// The event that a fault waits for. Exactly one of `log`, `znode`, `message`, `view`, `outcome` and
/// `phase` is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// A line in a service's log, by a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Of `log` and `message`: at which nodes; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Target>,
    /// A znode's path; its last part may be `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub znode: Option<String>,
    /// Of `znode`; any where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ZnodeChange>,
    /// A request on the wire; the word `workload` stands for the workload's own `message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Pattern>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewChange>,
    /// A client's operation ends so: ok, fail or info.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Kind>,
    /// Of `outcome`: the operation; any where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// How long after the event the fault begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub then: Span,
    #[serde(default, skip_serializing_if = "is_once")]
    pub times: Times,
}

fn is_zero(span: &Span) -> bool {
    *span == Span::default()
}

fn is_once(times: &Times) -> bool {
    *times == Times::Once
}

/// How fast a loop of failovers should go. In failovers a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    pub per_minute: u32,
    /// Below this the report says that the loop was too slow.
    pub at_least: u32,
    /// Never faster than this.
    pub at_most: u32,
}
