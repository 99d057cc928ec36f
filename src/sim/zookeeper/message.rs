//! What travels between servers, and between a client and its server. Payloads are shared.

use std::rc::Rc;

use super::tree::Tree;
use super::txn::Txn;
use super::{ServerId, SessionId, Zxid};
use crate::cluster::{CoordinationError, CreateMode, Stat, WatchKind};
use crate::op::Nanos;

pub type Path = Rc<str>;
pub type Data = Rc<[u8]>;

/// A vote of the leader election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    pub leader: ServerId,
    pub zxid: Zxid,
    pub peer_epoch: u32,
    /// The round of the election (its logical clock) in which the vote was cast.
    pub round: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    Looking,
    Following,
    Leading,
}

/// How a learner's log becomes a prefix of the leader's, sent once to each.
#[derive(Debug)]
pub struct SyncPlan {
    pub epoch: u32,
    /// Replaces everything the learner has.
    pub snapshot: Option<Rc<Tree>>,
    /// What the learner logged after this never happened.
    pub truncate_after: Option<Zxid>,
    /// What it lacks.
    pub entries: Vec<Rc<Txn>>,
}

#[derive(Clone, Debug)]
pub enum Message {
    Notification {
        from: ServerId,
        state: PeerState,
        vote: Vote,
    },

    FollowerInfo {
        server: ServerId,
        accepted_epoch: u32,
    },
    LeaderInfo {
        epoch: u32,
    },
    /// `current_epoch` is absent where the epoch had been accepted before: it counts once only.
    AckEpoch {
        current_epoch: Option<u32>,
        last_zxid: Zxid,
        snapshot_zxid: Zxid,
    },
    Sync(Rc<SyncPlan>),
    AckNewLeader,
    UpToDate {
        committed: Zxid,
    },
    Proposal(Rc<Txn>),
    Ack {
        zxid: Zxid,
    },
    Commit {
        zxid: Zxid,
    },
    Ping,
    /// The sessions that were heard since the last one.
    Pong {
        touched: Vec<SessionId>,
    },
    Forward(Rc<Forwarded>),
    SyncRequest {
        session: SessionId,
        cxid: u32,
    },
    SyncReply {
        session: SessionId,
        cxid: u32,
    },
    Revalidate {
        session: SessionId,
    },
    Revalidated {
        session: SessionId,
        valid: bool,
    },

    Connect {
        session: SessionId,
        timeout: Nanos,
        last_zxid: Zxid,
    },
    /// Session 0 means that the session is over.
    Connected {
        session: SessionId,
        timeout: Nanos,
    },
    Request {
        cxid: u32,
        operation: Operation,
    },
    Reply(Box<Reply>),
    Fired {
        zxid: Zxid,
        kind: WatchKind,
        path: Path,
    },
}

/// A write as the server that got it hands it to the leader.
#[derive(Debug)]
pub struct Forwarded {
    pub session: SessionId,
    pub cxid: u32,
    pub write: Write,
}

/// What needs the leader and a quorum.
#[derive(Clone, Debug)]
pub enum Write {
    CreateSession { timeout: Nanos },
    CloseSession,
    Single(Part),
    Multi(Rc<[Part]>),
}

#[derive(Clone, Debug)]
pub enum Part {
    Create { path: Path, data: Data, mode: CreateMode },
    Set { path: Path, data: Data, version: i32 },
    Delete { path: Path, version: i32 },
    Check { path: Path, version: i32 },
}

/// A client's request.
#[derive(Clone, Debug)]
pub enum Operation {
    Write(Write),
    Read(Read),
    Sync { path: Path },
}

/// What a server answers from its own copy.
#[derive(Clone, Debug)]
pub enum Read {
    Ping,
    Get {
        path: Path,
    },
    Exists {
        path: Path,
        watch: bool,
    },
    Children {
        path: Path,
        watch: bool,
    },
    /// Sets the watches of a session again after a reconnect.
    SetWatches(Rc<WatchList>),
}

/// A session's watches as it knew them at `since`.
#[derive(Debug, Default)]
pub struct WatchList {
    pub since: Zxid,
    pub data: Vec<Path>,
    pub missing: Vec<Path>,
    pub children: Vec<Path>,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub cxid: u32,
    pub zxid: Zxid,
    pub result: Result<Response, Refusal>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    Done,
    Path(Path),
    Data(Data, Stat),
    Stat(Stat),
    Children(Vec<Path>),
    Multi(Vec<Response>),
    /// Nothing of the multi was done, because its part at `index` was refused.
    MultiFailed {
        index: usize,
        refusal: Refusal,
    },
}

/// A server's error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoNode,
    NodeExists,
    BadVersion,
    NotEmpty,
    NoChildrenForEphemerals,
    /// The server itself needs this znode.
    SpecialPath,
    SessionExpired,
}

impl From<Refusal> for CoordinationError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoNode => CoordinationError::NoNode,
            Refusal::NodeExists => CoordinationError::NodeExists,
            Refusal::BadVersion => CoordinationError::BadVersion,
            Refusal::NotEmpty => CoordinationError::NotEmpty,
            Refusal::NoChildrenForEphemerals => CoordinationError::NoChildrenForEphemerals,
            Refusal::SpecialPath => {
                CoordinationError::BadArguments("this znode cannot be deleted".into())
            }
            Refusal::SessionExpired => CoordinationError::SessionExpired { sent: true },
        }
    }
}
