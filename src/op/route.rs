//! The way of an operation from server to server.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Event, NodeName};

/// One server's word on the way of an operation to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// Whom the request went to.
    pub node: NodeName,
    /// `ok`, the error as the server put it (`MOVED 130 kvrocks2`), or what became of the connection.
    pub said: String,
    /// When that was known, in microseconds since the invocation.
    pub after_us: u64,
}

/// The way of an operation through a cluster: one hop for each server asked, the last one decides.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Route {
    pub hops: Vec<Hop>,
    /// The hash slot of its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u16>,
}

impl Route {
    /// Who gave the answer that decided, or was asked last.
    pub fn last(&self) -> Option<&Hop> {
        self.hops.last()
    }
}

impl Event {
    /// The server that gave this completion's answer, or was asked last; where the way is not told, the
    /// one that its process talks to.
    pub fn answered_by(&self) -> Option<NodeName> {
        let last = self.route.as_ref().and_then(|route| route.last());
        last.map(|hop| hop.node).or(self.node)
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(slot) = self.slot {
            write!(f, "slot {slot}: ")?;
        }
        for (position, Hop { node, said, after_us }) in self.hops.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            write!(f, "{comma}{node} said {said} after {:.1} ms", *after_us as f64 / 1e3)?;
        }
        Ok(())
    }
}
