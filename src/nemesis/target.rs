//! Whom a fault is aimed at: in words, resolved only when it fires.

mod link;
mod roster;

use std::fmt;
use std::str::FromStr;

pub use link::NamedLink;
pub use roster::Roster;

use crate::cluster::{CLIENTS, Role};

/// How nodes are picked from among those that may be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pick {
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
    /// One random node of those that claim to lead.
    Master,
}

impl Pick {
    /// Those that a role may be put behind.
    const OF_A_ROLE: [Pick; 6] =
        [Pick::All, Pick::One, Pick::Minority, Pick::Majority, Pick::Leader, Pick::Follower];

    pub fn name(self) -> &'static str {
        match self {
            Pick::All => "all",
            Pick::One => "one",
            Pick::Minority => "minority",
            Pick::Majority => "majority",
            Pick::Leader => "leader",
            Pick::Follower => "follower",
            Pick::Master => "master",
        }
    }
}

/// A place in the event that made a fault begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// The node that sent the message.
    Sender,
    /// The node at which the message came in.
    Receiver,
    /// The node at which the event was seen: a log's, a message's, a view's, an operation's.
    Seen,
    /// One random master (or leader) of the receiver's service that has no part in the message.
    Bystander,
}

impl Party {
    const ALL: [Party; 4] = [Party::Sender, Party::Receiver, Party::Seen, Party::Bystander];

    pub fn name(self) -> &'static str {
        match self {
            Party::Sender => "sender",
            Party::Receiver => "receiver",
            Party::Seen => "seen",
            Party::Bystander => "bystander",
        }
    }
}

/// Whom a fault is aimed at. Resolved when it fires, not when the run starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// Nodes of this role. Without one, `leader` and `follower` are those of the workload's `leader`,
    /// `one`, `minority` and `majority` are of all services that are not ZooKeeper (unless there is
    /// nothing else), and `all` is every node.
    Of(Pick, Option<Role>),
    /// A node of the event that made the fault begin.
    Cause(Party),
    /// The clients' place; an end of links only.
    Clients,
    Node(String),
}

/// The words for what is picked of a kvrocks cluster.
const MASTER: Target = Target::Of(Pick::Master, Some(Role::Kvrocks));
const REPLICA: Target = Target::Of(Pick::Follower, Some(Role::Kvrocks));

/// What a target is, for errors.
pub const TARGETS: &str = "all, one, minority, majority, leader or follower (of one role: \
                           `one:kvrocks`), a role, a node, master, replica; or with `when` sender, \
                           receiver, bystander or seen";

impl Target {
    pub const ALL: Target = Target::Of(Pick::All, None);
    pub const ONE: Target = Target::Of(Pick::One, None);
    pub const LEADER: Target = Target::Of(Pick::Leader, None);

    /// Every node of a role.
    pub const fn role(role: Role) -> Target {
        Target::Of(Pick::All, Some(role))
    }

    /// Words that stand alone and that a nemesis's name may end with.
    pub fn keywords() -> impl Iterator<Item = (&'static str, Target)> {
        let picks = Pick::OF_A_ROLE.into_iter().map(|pick| (pick.name(), Target::Of(pick, None)));
        picks.chain([("master", MASTER), ("replica", REPLICA)])
    }

    /// This target's pick of the nodes of a role; `None` where it picks none, or of a role already.
    pub fn of_role(&self, role: Role) -> Option<Target> {
        match self {
            Target::Of(pick, None) => Some(Target::Of(*pick, Some(role))),
            _ => None,
        }
    }

    /// Its nodes are the same whatever happens.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Target::Of(Pick::All, _) | Target::Node(_))
    }

    /// It means whoever leads, of whichever role.
    pub fn is_leader(&self) -> bool {
        matches!(self, Target::Of(Pick::Leader, _))
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let expected = || format!("expected a target: {TARGETS}; found `{text}`");
        let role = |name: &str| Role::ALL.into_iter().find(|role| role.name() == name);
        if let Some((pick, role_name)) = text.split_once(':') {
            let pick = Pick::OF_A_ROLE.into_iter().find(|one| one.name() == pick);
            return match (pick, role(role_name)) {
                (Some(pick), Some(role)) => Ok(Target::Of(pick, Some(role))),
                (Some(_), None) => {
                    let roles = Role::ALL.map(Role::name).join(", ");
                    Err(format!("expected a role behind `:`, one of {roles}; found `{text}`"))
                }
                (None, _) => Err(expected()),
            };
        }
        let keyword = Target::keywords().find(|(name, _)| *name == text).map(|(_, target)| target);
        let party = Party::ALL.into_iter().find(|party| party.name() == text).map(Target::Cause);
        let clients = (text == CLIENTS).then_some(Target::Clients);
        let whole = role(text).map(Target::role);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let node = || {
            (!text.is_empty() && text.chars().all(is_name)).then(|| Target::Node(text.to_owned()))
        };
        keyword.or(party).or(clients).or(whole).or_else(node).ok_or_else(expected)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Of(Pick::All, Some(role)) => f.write_str(role.name()),
            Target::Of(Pick::Follower, Some(Role::Kvrocks)) => f.write_str("replica"),
            Target::Of(pick, None) | Target::Of(pick @ Pick::Master, _) => f.write_str(pick.name()),
            Target::Of(pick, Some(role)) => write!(f, "{}:{role}", pick.name()),
            Target::Cause(party) => f.write_str(party.name()),
            Target::Clients => f.write_str(CLIENTS),
            Target::Node(name) => f.write_str(name),
        }
    }
}

crate::text_form!(
    Target,
    "a target: all, one, minority, majority, leader, follower, a role, a node or clients"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_shown_as_it_was_written_or_shorter() {
        for (text, shown) in [
            ("one", "one"),
            ("one:kvrocks", "one:kvrocks"),
            ("leader:controller", "leader:controller"),
            ("minority:zookeeper", "minority:zookeeper"),
            ("all:controller", "controller"),
            ("controller", "controller"),
            ("master", "master"),
            ("replica", "replica"),
            ("follower:kvrocks", "replica"),
            ("leader:kvrocks", "leader:kvrocks"),
            ("sender", "sender"),
            ("clients", "clients"),
            ("kvrocks2", "kvrocks2"),
        ] {
            let target: Target = text.parse().expect(text);
            assert_eq!(target.to_string(), shown);
            assert_eq!(shown.parse(), Ok(target), "{text}");
        }
    }

    #[test]
    fn what_is_no_target_is_refused_with_what_is() {
        for (text, told) in [
            ("one:redis", "one of zookeeper, controller, kvrocks; found `one:redis`"),
            ("master:controller", "expected a target: all, one"),
            ("kvrocks1:one", "expected a target: all, one"),
            ("", "expected a target: all, one"),
            ("a b", "expected a target: all, one"),
        ] {
            let error = text.parse::<Target>().expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
