//! A transaction: what the leader made of a request, the same at every server that applies it.

use super::message::{Data, Path, Refusal};
use super::{SessionId, Zxid};
use crate::op::Nanos;

#[derive(Debug, PartialEq)]
pub struct Txn {
    pub zxid: Zxid,
    /// Who asked for it, and the number of the request in that session.
    pub session: SessionId,
    pub cxid: u32,
    /// The leader's time of day, in milliseconds since 1970.
    pub time_ms: i64,
    pub change: Change,
}

#[derive(Debug, PartialEq)]
pub enum Change {
    CreateSession {
        timeout: Nanos,
    },
    /// Ends the session and removes these znodes of it.
    CloseSession {
        ephemerals: Vec<Path>,
    },
    Single(Step),
    Multi(Vec<Step>),
    /// A multi of which this part was refused. Like every refusal it takes a zxid and a quorum.
    MultiFailed {
        index: usize,
        refusal: Refusal,
    },
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `creates` is what the parent has then counted.
    Create {
        path: Path,
        data: Data,
        owner: SessionId,
        creates: i32,
    },
    Set {
        path: Path,
        data: Data,
        version: i32,
    },
    Delete {
        path: Path,
    },
    Check,
}
