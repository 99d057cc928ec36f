//! What a differential test plays in both worlds: sessions, requests, watches and faults, in order.
//!
//! Pure: a script names no world. What depends on the state so far (an existing znode, its right
//! version) is named as such, and resolved by whoever plays it.

mod generate;

use std::time::Duration;

use stormglass::cluster::{CreateMode, Watch};

pub use generate::generate;

/// A seat for one session at a time.
pub type Slot = usize;

/// These hold one session on each of three servers from the beginning to the end.
pub const RESIDENTS: [Slot; 3] = [0, 1, 2];

/// Below this every znode lies that the requests of a script touch.
pub const TREE: &str = "/t";

/// A znode by its path, or by its position among those that exist now.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Named(String),
    Existing(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Version {
    Any,
    /// The one that the znode has now, and this much more.
    Right(i32),
    Exactly(i32),
}

/// A change of one znode, alone or as a part of a multi.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Create { place: Place, data: Vec<u8>, mode: CreateMode },
    Set { place: Place, data: Vec<u8>, version: Version },
    Delete { place: Place, version: Version },
    Check { place: Place, version: Version },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Change(Change),
    Multi(Vec<Change>),
    Get(Place),
    Exists(Place),
    Children(Place),
    Sync(Place),
}

impl Request {
    pub fn is_write(&self) -> bool {
        matches!(self, Request::Change(_) | Request::Multi(_))
    }
}

/// On which server a session is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Server {
    /// By its number, from 0.
    Numbered(usize),
    /// Any that follows.
    Follower,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Victim {
    Leader,
    Follower,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Open {
        slot: Slot,
        server: Server,
        timeout: Duration,
    },
    Close {
        slot: Slot,
    },
    /// A write, or a read behind a write of the same session: the reply is certain.
    Certain {
        slot: Slot,
        request: Request,
    },
    /// A read that may be stale, or a sync.
    Local {
        slot: Slot,
        request: Request,
    },
    /// A write, and a read by another session as soon as the write is acknowledged.
    Chased {
        slot: Slot,
        request: Request,
        reader: Slot,
        read: Request,
    },
    /// Requests sent at once and answered in order.
    Burst {
        slot: Slot,
        requests: Vec<Request>,
    },
    Watch {
        slot: Slot,
        place: Place,
        watch: Watch,
    },
    /// Cuts a follower off from the leader, writes at the leader and reads at the follower.
    Lag {
        request: Request,
        reads: Vec<Request>,
    },
    /// Freezes the session's server until the session has expired.
    Expire {
        slot: Slot,
        meanwhile: Change,
    },
    /// Kills a server under load, changes one znode, and starts the server again.
    Kill {
        victim: Victim,
        meanwhile: Change,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub seed: u64,
    pub steps: Vec<Step>,
}
