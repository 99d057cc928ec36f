//! When a fault begins, if not by the clock: something that the system does. Pure.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cluster::Pattern;
use crate::duration::Span;
use crate::nemesis::record::Phase;
use crate::nemesis::target::Target;
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

/// A request that a trigger waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// The workload's own `message`; replaced by it when the scenario is loaded.
    Workload,
    Request(Pattern),
}

impl FromStr for Sought {
    type Err = String;

    fn from_str(text: &str) -> Result<Sought, String> {
        match text {
            "workload" => Ok(Sought::Workload),
            _ => text.parse().map(Sought::Request),
        }
    }
}

impl fmt::Display for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sought::Workload => f.write_str("workload"),
            Sought::Request(pattern) => pattern.fmt(f),
        }
    }
}

crate::text_form!(Sought, "a request such as `zookeeper set /sg/*`, or `workload` for its own");

/// The event that a fault waits for. Exactly one of `log`, `znode`, `message`, `view`, `outcome` and
/// `phase` is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// A line in a service's log, by a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Of `log`, `message` and `view`: at which nodes; all where absent, but of `view: leader` those of
    /// the workload's `leader`.
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
    pub message: Option<Sought>,
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

impl When {
    /// What is wrong with it: a field, and what was expected.
    pub fn flaw(&self) -> Option<(&'static str, String)> {
        self.check_one().and_then(|()| self.check_fields()).err()
    }

    fn check_one(&self) -> Result<(), (&'static str, String)> {
        let given = [
            ("log", self.log.is_some()),
            ("znode", self.znode.is_some()),
            ("message", self.message.is_some()),
            ("view", self.view.is_some()),
            ("outcome", self.outcome.is_some()),
            ("phase", self.phase.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        match given.len() {
            1 => Ok(()),
            _ => {
                let found = if given.is_empty() { "none".into() } else { given.join(" and ") };
                let events = "log, znode, message, view, outcome and phase";
                Err(("when", format!("expected exactly one of {events}, found {found}")))
            }
        }
    }

    fn check_fields(&self) -> Result<(), (&'static str, String)> {
        let is_watched = self.log.is_some() || self.message.is_some() || self.view.is_some();
        let given = [
            ("change", self.change.is_some() && self.znode.is_none(), "znode"),
            ("f", self.f.is_some() && self.outcome.is_none(), "outcome"),
            ("node", self.node.is_some() && !is_watched, "log, message or view"),
        ];
        if let Some((field, _, of)) = given.into_iter().find(|(_, is_astray, _)| *is_astray) {
            return Err((field, format!("expected only where the event is of {of}")));
        }
        if let Some(Err(error)) = self.log.as_deref().map(regex::Regex::new) {
            return Err(("log", format!("expected a regular expression: {}", one_line(&error))));
        }
        if let Some(path) = self.znode.as_deref().filter(|path| !is_znode_path(path)) {
            let such = "a znode's path from the root on, such as /sg/go, or /sg/* for all in /sg";
            return Err(("znode", format!("expected {such}, found `{path}`")));
        }
        match (&self.node, self.outcome, self.phase) {
            (Some(node), ..) if !node.is_fixed() => {
                let why = "where to look is settled before the start";
                Err(("node", format!("expected all, a role or a node ({why}), found `{node}`")))
            }
            (_, Some(Kind::Invoke), _) => {
                Err(("outcome", "expected how an operation ends: ok, fail or info".into()))
            }
            (.., Some(phase)) if phase != Phase::Main => {
                let why = "later phases heal and watch the cluster recover, without faults";
                Err(("phase", format!("expected main ({why}), found {}", phase.name())))
            }
            _ => Ok(()),
        }
    }
}

/// The whole of what a regular expression's error says, in one line.
fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told = lines.next_back().map_or("", |line| line.trim_start_matches("error: "));
    told.to_owned()
}

/// Absolute, without empty parts; the last part may be `*`.
fn is_znode_path(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let parts: Vec<&str> = rest.split('/').collect();
    let last = parts.len() - 1;
    rest.is_empty()
        || parts.iter().enumerate().all(|(position, part)| {
            !part.is_empty() && (!part.contains('*') || (position == last && *part == "*"))
        })
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
