//! Checkers decide from a history whether the system kept its promises. Pure: no clock, no file.

mod anomaly;
mod availability;
mod compose;
mod cycle;
mod finding;
mod in_flight;
mod jepsen;
mod judge;
mod kvrocks;
mod linearizability;
mod mask;
mod memo;
mod model;
pub mod moment;
mod objects;
mod per_key;
mod phases;
mod pool;
mod recovery;
mod stats;
#[cfg(test)]
pub(crate) mod text;
mod txn;
mod well_formed;

pub use anomaly::{ANOMALIES, AnomalyKind, follows, is_within};
pub use availability::Availability;
pub use compose::{Budgets, Composed, Exhausted, Intake, compose};
pub use cycle::{CycleEdge, CycleEdgeKind, CycleTxn, TxnCycle};
pub use finding::{Anomaly, Budget, Checker, Consistency, Finding, Shows, Verdict};
pub use jepsen::{CRASHES, LogPattern};
pub use judge::{AS_SHIPPED, Case, Expectation, Identity, Judgement, WantedVariant, World, judge};
pub use kvrocks::{KvrocksBounds, KvrocksChecks, KvrocksObject, kvrocks_checkers};
pub use linearizability::Linearizability;
pub use model::{
    Guess, MODELS, ModelKind, ModelOptions, RegisterModel, Shape, UnknownModel, guess,
};
pub use objects::{Atom, Guide, Object, Objects, Seen, Shortcut, Timed};
pub use per_key::PerKey;
pub use recovery::Recovery;
pub use stats::{Stats, WantedChanges, count_operations};
pub use txn::canonical_model;
pub use well_formed::Owners;

/// Every checker by name, with what it promises; `stormglass list checkers`.
pub const CHECKERS: &[(&str, &str)] = &[
    ("well-formed", "the history is one: every completion has its invocation, in order"),
    ("linearizability", "each register behaves as if every operation took effect at one moment"),
    (
        "stats",
        "enough operations were ok before the first fault and after the heal, and what the workload is about came to pass (a migration began, a failover happened)",
    ),
    ("recovery", "the cluster serves all its clients again within a bound after the heal"),
    ("single-writer", "at any time one node of a cluster takes the writes of a slot"),
    (
        "lost-writes",
        "what was acknowledged is there at the end, unless a failover may have lost it",
    ),
    ("stale-reads", "a read sees what had been acknowledged, but for what a failover took back"),
    ("model", "what was seen of lists, sets, counters and locks can have been one of these"),
    (
        "topology-monotone",
        "versions of a kvrocks topology only grow, and no acknowledged change of it vanishes",
    ),
    ("redirect-loops", "nodes do not go on sending clients to each other for a slot"),
    ("stuck-slots", "every slot is served again, to writers too, within a bound after the heal"),
    ("stuck-migrations", "no slot migration is under way any more so long after the heal"),
    (
        "starved-failovers",
        "a dead master is replaced in time, however often the controllers' leader changes",
    ),
    ("diverged-replicas", "in the end the nodes of a shard hold the same"),
    ("log-pattern", "no line of a node's log says that its program crashed"),
    ("availability", "how long clients waited for an ok; figures only, never a verdict"),
];
