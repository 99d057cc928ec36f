//! What a world replied to a script, in words that do not depend on the world.
//!
//! Paths are relative to the script's own root, owners are the numbers of sessions in the order of
//! their opening. Transaction ids stay as they were: only their order can be compared.

use std::collections::BTreeMap;

use stormglass::cluster::{CoordinationError, MultiResult, Stat, WatchEvent};

use super::script::{Place, Slot, TREE, Victim};

/// The number of a session, from 1.
pub type Serial = i64;

/// Everything about one znode.
#[derive(Clone, Debug, PartialEq)]
pub struct Znode {
    pub data: Vec<u8>,
    pub stat: Stat,
    pub children: Vec<String>,
}

/// All znodes of a script at one moment, by path.
pub type Tree = BTreeMap<String, Znode>;

impl Place {
    /// The root of the tree is nobody's victim.
    pub fn path(&self, tree: &Tree) -> String {
        match self {
            Place::Named(path) => path.clone(),
            Place::Existing(position) => {
                let paths: Vec<_> = tree.keys().filter(|path| *path != TREE).collect();
                match paths.len() {
                    0 => "/t/a".to_owned(),
                    count => paths[position % count].clone(),
                }
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Path(String),
    Data(Vec<u8>, Stat),
    Stat(Option<Stat>),
    Names(Vec<String>),
    Changed(Stat),
    Done,
    Multi(Vec<MultiResult>),
}

/// Why there is no answer, and which part of a multi was to blame.
pub type Refusal = (Option<usize>, CoordinationError);

pub type Reply = Result<Answer, Refusal>;

/// A watch, by its number in the script, has had its event.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    pub slot: Slot,
    pub watch: usize,
    pub event: WatchEvent,
}

/// A write made while a server was killed, to a path that nothing else uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Risked {
    pub slot: Slot,
    pub path: String,
    /// Moments of one common count, before and after.
    pub asked: u64,
    pub answered: u64,
    pub outcome: Result<String, CoordinationError>,
    /// Whether a read of the same session that followed showed it, if that read had an answer.
    pub shown: Option<bool>,
    /// The transaction that created it, as all sessions see in the end.
    pub created_by: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reaction {
    Opened {
        serial: Serial,
        timeout_ms: u128,
    },
    Closed(Result<(), CoordinationError>),
    Replied {
        reply: Reply,
        /// The session's server followed another while it answered.
        by_follower: bool,
    },
    Replies(Vec<Reply>),
    Chased {
        reply: Reply,
        read: Reply,
    },
    Lagged {
        reply: Reply,
        /// Whose session read.
        reader: Slot,
        reads: Vec<Reply>,
    },
    WatchSet(Result<(), CoordinationError>),
    Expired {
        meanwhile: Reply,
        /// To a read after the end.
        reply: Reply,
        closed: Result<(), CoordinationError>,
    },
    Killed {
        victim: Victim,
        meanwhile: Reply,
        /// Slots whose sessions were on the killed server.
        struck: Vec<Slot>,
        risked: Vec<Risked>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub reaction: Reaction,
    /// Events that must have come by now.
    pub fired: Vec<Fired>,
    /// The state after a step that may have changed it.
    pub tree: Option<Tree>,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Trace {
    pub records: Vec<Record>,
}
