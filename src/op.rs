//! The vocabulary: processes, calls, outcomes and events. Pure data; it knows no clock, socket or file.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::name::Name;

/// Nanoseconds since the start of the run.
pub type Nanos = u64;

/// One second in [`Nanos`].
pub const SECOND: Nanos = 1_000_000_000;

/// One millisecond in [`Nanos`].
pub const MILLISECOND: Nanos = 1_000_000;

/// A node's name (`zookeeper1`).
pub type NodeName = Name;

/// Who performs an operation: a logical client, or the nemesis.
///
/// A client process performs one operation at a time. After an `info` its id is retired and its
/// thread goes on as `id + concurrency`, as in Jepsen, because the old operation may still act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Process {
    Client(u32),
    Nemesis,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Process::Client(id) => write!(f, "{id}"),
            Process::Nemesis => f.write_str("nemesis"),
        }
    }
}

/// What happened at an event. An operation is an `Invoke` and at most one completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Invoke,
    /// It happened, and this is its result.
    Ok,
    /// It surely did not happen.
    Fail,
    /// It may have happened, may yet happen, or never will.
    Info,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invoke => "invoke",
            Kind::Ok => "ok",
            Kind::Fail => "fail",
            Kind::Info => "info",
        }
    }
}

/// The object an operation acts on. Foreign histories also name keys by text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Int(i64),
    Text(Arc<String>),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(key) => write!(f, "{key}"),
            Key::Text(key) => f.write_str(key),
        }
    }
}

/// An operation's argument or result. `Nil` in an `ok` read means "observed empty".
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    #[default]
    Nil,
    Int(i64),
    /// `[from, to]` of a compare-and-set.
    Pair(i64, i64),
    /// Anything else: nemesis records, transactions, foreign values.
    Json(Box<serde_json::Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Pair(from, to) => write!(f, "[{from} {to}]"),
            Value::Json(value) => write!(f, "{value}"),
        }
    }
}

/// What a client is asked to do. A closed set: a new kind of operation is a new case here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    Read {
        key: i64,
    },
    Write {
        key: i64,
        value: i64,
    },
    /// Set to `to` if the register holds `from`.
    Cas {
        key: i64,
        from: i64,
        to: i64,
    },
}

impl Call {
    /// The operation's name in the history (`f`).
    pub fn f(&self) -> &'static str {
        match self {
            Call::Read { .. } => "read",
            Call::Write { .. } => "write",
            Call::Cas { .. } => "cas",
        }
    }

    pub fn key(&self) -> Key {
        match self {
            Call::Read { key } | Call::Write { key, .. } | Call::Cas { key, .. } => Key::Int(*key),
        }
    }

    /// The argument as it stands in the invocation event.
    pub fn value(&self) -> Value {
        match self {
            Call::Read { .. } => Value::Nil,
            Call::Write { value, .. } => Value::Int(*value),
            Call::Cas { from, to, .. } => Value::Pair(*from, *to),
        }
    }
}

/// How a call ended, as far as the client can tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It happened. Reads carry what they saw; writes carry their argument again.
    Ok(Value),
    /// It surely did not happen, and why.
    Fail(String),
    /// Unknown, and why.
    Info(String),
}

impl Outcome {
    pub fn kind(&self) -> Kind {
        match self {
            Outcome::Ok(_) => Kind::Ok,
            Outcome::Fail(_) => Kind::Fail,
            Outcome::Info(_) => Kind::Info,
        }
    }
}

/// One line of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Dense from 0, the order in which the run loop saw things.
    pub index: u64,
    pub time: Nanos,
    pub kind: Kind,
    pub process: Process,
    /// The server this process talks to; absent in foreign histories and nemesis events.
    pub node: Option<NodeName>,
    /// `read`, `write`, `cas`, ... for clients; `phase` or a fault step for the nemesis.
    pub f: Name,
    pub key: Option<Key>,
    pub value: Value,
    pub error: Option<Box<str>>,
}

/// Two of these are kept for each operation of a run.
const _: () = assert!(std::mem::size_of::<Event>() <= 88);
