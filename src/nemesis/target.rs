//! Whom a fault is aimed at: in words, resolved only when it fires.

use std::fmt;
use std::str::FromStr;

use crate::cluster::{CLIENTS, Role};

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
