//! What made a fault begin, if it was not the clock.

use crate::op::{Nanos, NodeName};

/// What made a fault begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub by: String,
    /// When it happened, as far as known.
    pub happened: Nanos,
    /// When the run learned of it.
    pub learned: Nanos,
    /// The node at which it was seen, where it was at one.
    pub node: Option<NodeName>,
    /// Of a message: the node that sent it; `None` where that was a client.
    pub sender: Option<NodeName>,
}

impl Cause {
    /// Something that was seen as it happened.
    pub fn now(now: Nanos, by: impl Into<String>) -> Cause {
        Cause { by: by.into(), happened: now, learned: now, node: None, sender: None }
    }

    /// The same, at a node.
    pub fn at(self, node: Option<NodeName>) -> Cause {
        Cause { node, ..self }
    }
}
