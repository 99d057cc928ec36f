//! ZooKeeper as the rest of the project sees it: one session with one server.
//!
//! Semantics follow the ZooKeeper programmer's guide: requests of a session are performed in the
//! order sent, reads are answered by the session's own server and may be stale, watches fire once.
//! Two implementations: a wire client (docker) and the ensemble model (simulation).

use std::future::Future;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What ZooKeeper keeps beside a znode's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stat {
    /// The transaction that created the znode.
    pub czxid: i64,
    /// The transaction that last changed its data.
    pub mzxid: i64,
    /// The transaction that last changed its list of children.
    pub pzxid: i64,
    /// Number of changes of the data (zkVersion), from 0.
    pub version: i32,
    /// Number of changes of the list of children, from 0.
    pub cversion: i32,
    /// The session that owns an ephemeral znode, else 0.
    pub ephemeral_owner: i64,
    pub data_length: i32,
    pub num_children: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CreateMode {
    Persistent,
    Ephemeral,
    PersistentSequential,
    EphemeralSequential,
}

impl CreateMode {
    pub fn is_ephemeral(self) -> bool {
        matches!(self, CreateMode::Ephemeral | CreateMode::EphemeralSequential)
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, CreateMode::PersistentSequential | CreateMode::EphemeralSequential)
    }
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CoordinationError {
    #[error("no node")]
    NoNode,
    #[error("node exists")]
    NodeExists,
    #[error("bad version")]
    BadVersion,
    #[error("not empty")]
    NotEmpty,
    #[error("no children for ephemerals")]
    NoChildrenForEphemerals,
    #[error("bad arguments: {0}")]
    BadArguments(String),
    /// The server answered that the request was not performed because an earlier part of the multi failed.
    #[error("runtime inconsistency")]
    RuntimeInconsistency,
    /// The connection broke with the request under way: it may have been performed.
    #[error("connection loss")]
    ConnectionLoss,
    /// The session is over. `sent` tells whether this request had been handed to the network before.
    #[error("session expired")]
    SessionExpired { sent: bool },
    /// No connection could be made, so the request surely was not performed.
    #[error("not connected: {0}")]
    NotConnected(String),
    /// Another refusal by the server; the request was not performed.
    #[error("refused: {0}")]
    Refused(String),
    /// Anything else; unknown whether it was performed.
    #[error("{0}")]
    Other(String),
}

impl CoordinationError {
    /// True if the request surely had no effect.
    pub fn surely_not_done(&self) -> bool {
        match self {
            CoordinationError::ConnectionLoss | CoordinationError::Other(_) => false,
            CoordinationError::SessionExpired { sent } => !sent,
            _ => true,
        }
    }

    /// True if the session can serve no further request and a new one must be opened.
    pub fn ends_session(&self) -> bool {
        matches!(
            self,
            CoordinationError::SessionExpired { .. } | CoordinationError::NotConnected(_)
        )
    }
}

/// One part of an atomic `multi`. `version: None` means any version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MultiOp {
    Create { path: String, data: Vec<u8>, mode: CreateMode },
    Set { path: String, data: Vec<u8>, version: Option<i32> },
    Delete { path: String, version: Option<i32> },
    Check { path: String, version: i32 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MultiResult {
    Create { path: String },
    Set { stat: Stat },
    Delete,
    Check,
}

/// What a one-shot watch waits for, set together with a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watch {
    /// Created, deleted or changed; set by `get` or `exists`.
    Data,
    /// A child came or went, or the znode itself was deleted; set by `children`.
    Children,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchKind {
    Created,
    Deleted,
    DataChanged,
    ChildrenChanged,
    /// The session ended before the watch fired.
    SessionLost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchEvent {
    pub kind: WatchKind,
    pub path: String,
}

/// A watch that has been set and has not fired yet.
pub trait Watched {
    /// Waits for the one event of this watch.
    fn fired(self) -> impl Future<Output = WatchEvent>;
}

/// A change of the session's own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionEvent {
    Connected,
    Disconnected,
    Expired,
    Closed,
}

/// One session with one server. Requests are performed in the order in which the methods are called.
///
/// Futures borrow nothing, so that several requests of a session can be under way at once.
pub trait Coordination {
    type Watched: Watched + 'static;

    /// The session's id, as ZooKeeper prints it in hex.
    fn id(&self) -> i64;

    /// The session timeout that the server granted.
    fn timeout(&self) -> Duration;

    /// The session's state as last known.
    fn state(&self) -> SessionEvent;

    /// Waits until the state differs from `than` and returns it.
    fn changed(&self, than: SessionEvent) -> impl Future<Output = SessionEvent> + 'static;

    /// Creates a znode and returns its path (which differs from `path` for sequential modes).
    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<String, CoordinationError>> + 'static;

    fn get(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Vec<u8>, Stat), CoordinationError>> + 'static;

    /// Stat of a znode, or `None` where there is none.
    fn exists(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<Option<Stat>, CoordinationError>> + 'static;

    /// Names of the children, sorted.
    fn children(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<Vec<String>, CoordinationError>> + 'static;

    /// Replaces the data; `version: None` means any version.
    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, CoordinationError>> + 'static;

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), CoordinationError>> + 'static;

    /// Brings this server up to what the leader had when it handled the request. It asks no quorum.
    fn sync(&self, path: &str) -> impl Future<Output = Result<(), CoordinationError>> + 'static;

    /// All or nothing; on failure the index of the first part that failed and its error.
    fn multi(
        &self,
        parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, CoordinationError)>> + 'static;

    /// Sets a one-shot watch; `Data` may be set on a path that does not exist yet.
    ///
    /// It outlives a lost connection: once connected again, the session's server sets it anew, or
    /// fires it at once where what it waits for can be seen to have happened meanwhile.
    fn watch(
        &self,
        path: &str,
        watch: Watch,
    ) -> impl Future<Output = Result<Self::Watched, CoordinationError>> + 'static;

    /// Ends the session on the server, removing its ephemeral znodes.
    fn close(self) -> impl Future<Output = Result<(), CoordinationError>> + 'static;
}
