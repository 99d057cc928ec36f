//! Checkers of a kvrocks cluster: who may answer for a slot, what may be lost, what never goes back.
//!
//! What they read in a history, beside the events of the clients themselves:
//! - `route` of completions: its last hop is the node that answered, `slot` the slot of the keys;
//!   hops tell nodes by name, and errors as the server put them (`MOVED 130 kvrocks2`);
//! - operations of operators: `migrate` and `failover` with what they ask for as JSON (`{"slot", "target"}`,
//!   `{"shard"}`), `topology`; an `ok` carries the topology that the controller told, bare or as `cluster`;
//! - what replicas answer on purpose (READONLY) are operations `stale-read` and `stale-txn`, never `read`;
//! - `dump`: what one node holds at the end, by key;
//! - views: role, version of the topology and slots of each data node; who leads the controllers;
//! - fault records: from when to when a place was struck.

mod answers;
mod bounds;
mod counters;
mod divergence;
mod elements;
mod evidence;
mod lost;
mod objects;
mod redirects;
mod registers;
#[cfg(test)]
mod simulated;
mod single_writer;
mod stale;
mod starved;
mod stuck;
mod terms;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told;
mod topology;
mod wording;

pub(super) use answers::Answer;
pub use bounds::KvrocksBounds;
pub(super) use evidence::Evidence;
pub(super) use lost::lost_writes;
pub(super) use terms::Terms;

use crate::checker::{Checker, Linearizability, RegisterModel};
use crate::op::{Nanos, NodeName};

/// What the keys of a workload hold, and so what its clients rely on.
#[derive(Clone, Debug, PartialEq)]
pub enum KvrocksObject {
    /// `read`, `write` and `cas`; values are all different.
    Register(RegisterModel),
    /// `txn` of appends and reads; values are all different.
    List,
    /// `add`, and `read` of all elements.
    Set,
    /// `incr`, answering the new count, and `read`.
    Counter,
    /// `acquire` (answering a token), `release` and `store` (of `[token, value]`).
    Lock {
        /// For how long a lock is taken.
        ttl: Nanos,
    },
}

impl KvrocksObject {
    /// What is written stays until something else is written. Locks are meant to be lost in time.
    fn is_kept(&self) -> bool {
        !matches!(self, KvrocksObject::Lock { .. })
    }
}

/// What is checked, and against what.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KvrocksChecks {
    /// The nodes of each shard, in the order of the topology.
    pub shards: Vec<Vec<NodeName>>,
    /// `None` where clients only change the topology.
    pub object: Option<KvrocksObject>,
    pub bounds: KvrocksBounds,
}

/// The checkers of a kvrocks scenario, beside those of every scenario.
pub fn kvrocks_checkers(checks: &KvrocksChecks) -> Vec<Box<dyn Checker>> {
    let own = || checks.clone();
    let mut checkers: Vec<Box<dyn Checker>> =
        vec![Box::new(single_writer::SingleWriter { checks: own() })];
    if checks.object.as_ref().is_some_and(KvrocksObject::is_kept) {
        checkers.push(Box::new(lost::LostWrites { checks: own() }));
        checkers.push(Box::new(stale::StaleReads { checks: own() }));
    }
    match &checks.object {
        Some(KvrocksObject::Register(model)) => {
            let shards = checks.shards.clone();
            checkers.push(Box::new(Linearizability::per_term(model.clone(), shards)));
        }
        Some(_) => checkers.push(Box::new(objects::Objects { checks: own() })),
        None => {}
    }
    checkers.push(Box::new(topology::TopologyMonotone { checks: own() }));
    checkers.push(Box::new(redirects::RedirectLoop { checks: own() }));
    checkers.push(Box::new(stuck::StuckSlots { checks: own() }));
    checkers.push(Box::new(stuck::StuckMigrations { checks: own() }));
    checkers.push(Box::new(starved::StarvedFailover { checks: own() }));
    if checks.object.as_ref().is_some_and(KvrocksObject::is_kept) {
        checkers.push(Box::new(divergence::ReplicaDivergence { checks: own() }));
    }
    checkers
}
