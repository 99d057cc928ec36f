//! How clients of a cluster find their way. Pure data.

use serde::{Deserialize, Serialize};

/// What a client does about slots that are elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientKind {
    /// Goes where its slot map says, follows a redirection and learns from it.
    Follow,
    /// Keeps for ever the map that it learnt first: follows a redirection, and forgets it.
    Stale,
    /// Asks its own node, follows nobody.
    Pinned,
    /// As `Follow`, but reads from replicas, its own node first.
    Replica,
}

impl ClientKind {
    /// While the cluster is healthy it gets an `ok` now and then, whatever its node is.
    pub fn finds_its_way(self) -> bool {
        self != ClientKind::Pinned
    }
}

/// How a compare-and-set is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CasMode {
    /// kvrocks' own command `CAS`.
    #[default]
    Command,
    /// `WATCH`, `GET`, and `SET` between `MULTI` and `EXEC`.
    Watch,
}
