//! The vocabulary: processes, calls, outcomes and events. Pure data; it knows no clock, socket or file.

mod topology;

mod route;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

pub use topology::{ClusterTopology, Migrating, Shard, holds, ranges};

pub use route::{Hop, Route};

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

impl Value {
    /// A list of numbers, as it is also read back from a history: two of them are a pair.
    pub fn list(items: Vec<i64>) -> Value {
        match items.as_slice() {
            [one, other] => Value::Pair(*one, *other),
            _ => Value::Json(Box::new(items.into())),
        }
    }

    /// The numbers of a list; `None` of anything else.
    pub fn as_list(&self) -> Option<Vec<i64>> {
        match self {
            Value::Pair(one, other) => Some(vec![*one, *other]),
            Value::Json(json) => json.as_array()?.iter().map(serde_json::Value::as_i64).collect(),
            Value::Nil | Value::Int(_) => None,
        }
    }
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

/// One part of a transaction, on the list under a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MicroOp {
    Append { key: i64, value: i64 },
    Read { key: i64 },
}

/// A change of, or a look at, a cluster's topology, by its controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Manage {
    /// Moves a slot to the shard of this index.
    Migrate {
        slot: u16,
        target: usize,
    },
    /// Promotes a replica of the shard of this index.
    Failover {
        shard: usize,
    },
    /// The whole topology, as the controller tells it.
    Topology,
    CreateNamespace {
        name: String,
    },
    DeleteNamespace {
        name: String,
    },
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
    /// Adds an element to a set.
    Add {
        key: i64,
        value: i64,
    },
    /// All elements of a set.
    ReadAll {
        key: i64,
    },
    /// Adds one to a counter; its result is the count that the server then answered.
    Increment {
        key: i64,
    },
    /// Appends to and reads of lists, all in one slot and at one moment.
    Txn {
        ops: Vec<MicroOp>,
    },
    /// Takes a lock for so long, if nobody holds it; its result is the fencing token that came with it.
    Acquire {
        key: i64,
        owner: i64,
        ttl_ms: u64,
    },
    /// Gives a lock back, if this owner holds it.
    Release {
        key: i64,
        owner: i64,
    },
    /// Writes to what the lock protects, showing the token that came with the lock.
    Store {
        key: i64,
        token: i64,
        value: i64,
    },
    /// The same read, asked of a replica, which may lag behind.
    Stale(Box<Call>),
    /// Reads of these keys at the client's own node, be it master or replica. Its result holds, by key,
    /// what the node has; keys that it refuses are left out.
    Dump {
        reads: Vec<Call>,
    },
    Manage(Manage),
}

impl Call {
    /// The operation's name in the history (`f`).
    pub fn f(&self) -> &'static str {
        match self {
            Call::Read { .. } | Call::ReadAll { .. } => "read",
            Call::Write { .. } => "write",
            Call::Cas { .. } => "cas",
            Call::Add { .. } => "add",
            Call::Increment { .. } => "incr",
            Call::Txn { .. } => "txn",
            Call::Acquire { .. } => "acquire",
            Call::Release { .. } => "release",
            Call::Store { .. } => "store",
            Call::Stale(read) if matches!(**read, Call::Txn { .. }) => "stale-txn",
            Call::Stale(_) => "stale-read",
            Call::Dump { .. } => "dump",
            Call::Manage(manage) => manage.f(),
        }
    }

    pub fn key(&self) -> Option<Key> {
        match self {
            Call::Read { key }
            | Call::Write { key, .. }
            | Call::Cas { key, .. }
            | Call::Add { key, .. }
            | Call::ReadAll { key }
            | Call::Increment { key }
            | Call::Acquire { key, .. }
            | Call::Release { key, .. }
            | Call::Store { key, .. } => Some(Key::Int(*key)),
            Call::Stale(read) => read.key(),
            Call::Txn { .. } | Call::Dump { .. } | Call::Manage(_) => None,
        }
    }

    /// The argument as it stands in the invocation event.
    pub fn value(&self) -> Value {
        match self {
            Call::Read { .. } | Call::ReadAll { .. } | Call::Increment { .. } => Value::Nil,
            Call::Write { value, .. } | Call::Add { value, .. } => Value::Int(*value),
            Call::Cas { from, to, .. } => Value::Pair(*from, *to),
            Call::Txn { ops } => Value::Json(Box::new(ops.iter().map(MicroOp::asked).collect())),
            Call::Acquire { owner, .. } | Call::Release { owner, .. } => Value::Int(*owner),
            Call::Store { token, value, .. } => Value::Pair(*token, *value),
            Call::Stale(read) => read.value(),
            Call::Dump { .. } => Value::Nil,
            Call::Manage(manage) => manage.value(),
        }
    }
}

impl MicroOp {
    pub fn key(&self) -> i64 {
        match self {
            MicroOp::Append { key, .. } | MicroOp::Read { key } => *key,
        }
    }

    /// As Jepsen's `list-append` writes it, before it was done: `["append", 3, 7]`, `["r", 3, null]`.
    fn asked(&self) -> serde_json::Value {
        match self {
            MicroOp::Append { key, value } => json!(["append", key, value]),
            MicroOp::Read { key } => json!(["r", key, null]),
        }
    }
}

impl Manage {
    pub fn f(&self) -> &'static str {
        match self {
            Manage::Migrate { .. } => "migrate",
            Manage::Failover { .. } => "failover",
            Manage::Topology => "topology",
            Manage::CreateNamespace { .. } => "create-namespace",
            Manage::DeleteNamespace { .. } => "delete-namespace",
        }
    }

    fn value(&self) -> Value {
        Value::Json(Box::new(match self {
            Manage::Migrate { slot, target } => json!({ "slot": slot, "target": target }),
            Manage::Failover { shard } => json!({ "shard": shard }),
            Manage::Topology => return Value::Nil,
            Manage::CreateNamespace { name } | Manage::DeleteNamespace { name } => {
                json!({ "namespace": name })
            }
        }))
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

/// What a client tells of a call: how it ended and, if it went from server to server, its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    pub outcome: Outcome,
    pub route: Option<Box<Route>>,
}

impl From<Outcome> for Completion {
    fn from(outcome: Outcome) -> Completion {
        Completion { outcome, route: None }
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
    /// Of completions, where the operation went from server to server.
    pub route: Option<Box<Route>>,
}

impl Event {
    /// Nothing but that it happened; for struct update syntax.
    pub fn new(kind: Kind, process: Process, f: impl Into<Name>) -> Event {
        Event {
            index: 0,
            time: 0,
            kind,
            process,
            node: None,
            f: f.into(),
            key: None,
            value: Value::Nil,
            error: None,
            route: None,
        }
    }
}

/// Two of these are kept for each operation of a run.
const _: () = assert!(std::mem::size_of::<Event>() <= 96);
