//! Checkers decide from a history whether the system kept its promises. Pure: no clock, no file.

mod anomaly;
mod availability;
mod compose;
mod judge;
mod kvrocks;
mod linearizability;
mod model;
mod phases;
mod recovery;
mod stats;
#[cfg(test)]
pub(crate) mod text;
mod well_formed;

pub use anomaly::{ANOMALIES, AnomalyKind, follows, is_within};
pub use availability::Availability;
pub use compose::{Composed, compose};
pub use judge::{AS_SHIPPED, Case, Expectation, Identity, Judgement, WantedVariant, World, judge};
pub use kvrocks::{KvrocksBounds, KvrocksChecks, KvrocksObject, kvrocks_checkers};
pub use linearizability::Linearizability;
pub use model::{Model, RegisterModel, UnknownModel};
pub use recovery::Recovery;
pub use stats::{Stats, WantedChanges, count_operations};
pub use well_formed::{Flaw, WellFormed, flaws};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::op::{Event, Nanos};

/// Three-valued, ordered so that the maximum of several verdicts is the verdict of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Valid,
    Unknown,
    Invalid,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "invalid",
        }
    }
}

/// One broken promise, told so that a tired person understands it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anomaly {
    /// Kebab-case, listed by `stormglass list anomalies`: `nonlinearizable`, `no-recovery`, ...
    pub kind: String,
    /// One sentence with operation, process, node and times.
    pub summary: String,
    /// The rest of the explanation, a line each; bounded.
    pub details: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub nodes: Vec<String>,
    /// Indices of the invocation events that make up the counterexample, in order of time.
    pub ops: Vec<u64>,
    /// From the first to the last moment that matters, in nanoseconds since the start.
    pub from: Nanos,
    pub to: Nanos,
}

/// What one checker found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub name: String,
    pub verdict: Verdict,
    /// One line: what was checked and how far, or why it is unknown.
    pub why: String,
    pub anomalies: Vec<Anomaly>,
    /// Figures for the report, by name: `keys`, `operations`, `longest-gap-ms`, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
}

/// How long and how big a check may get. The caller owns the clock.
pub struct Budget<'a> {
    /// Polled often; true means: stop and answer `unknown` with what has been settled.
    pub exhausted: &'a (dyn Fn() -> bool + Sync),
    /// Bytes that a checker's own tables may take.
    pub memory: usize,
}

impl Budget<'_> {
    /// Never ends by time, one GiB of memory.
    pub const UNBOUNDED: Budget<'static> = Budget { exhausted: &|| false, memory: 1 << 30 };
}

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
    ("availability", "how long clients waited for an ok; figures only, never a verdict"),
];

/// A checker sees events one by one, if it can work online, and the whole history at the end.
pub trait Checker {
    fn name(&self) -> &'static str;

    /// Called for each event in order; a checker that works online reports as soon as it knows.
    fn observe(&mut self, _event: &Event) -> Option<Anomaly> {
        None
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding;
}
