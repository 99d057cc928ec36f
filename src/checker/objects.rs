//! Linearizability of objects that are more than a register: each object, and each part of one that shares
//! no operation with the rest, by itself.

mod atom;
mod certificate;
mod decide;
mod explain;
mod fast;
mod machine;
mod models;
mod object;
mod rope;
mod search;
mod seen;
mod shrink;
mod split;
mod tally;

pub use atom::Atom;
pub use fast::Shortcut;
pub(super) use models::{
    FENCED_LOCK, FIFO_QUEUE, KV, LEASE_LOCK, LINEARIZABLE_COUNTER, LINEARIZABLE_SET, LIST, LOCK,
    MULTI_REGISTER, MUTEX, OWNER_MUTEX, PRIORITY_QUEUE, REENTRANT_MUTEX, SEMAPHORE, STACK,
    UNORDERED_QUEUE,
};
pub use object::Object;
pub use search::Guide;
pub use seen::{Seen, Timed};

use crate::checker::{Anomaly, Budget, Checker, Finding, pool};
use crate::history::History;
use decide::{Decision, decide};
use search::Limits;
use split::{Pair, Part, split};
use tally::{Ruled, Tally};

/// Below this, threads cost more than they save.
const OPERATIONS_WORTH_THREADS: usize = 20_000;

/// Checks every object of a history against one model.
#[derive(Clone, Debug)]
pub struct Objects<O> {
    object: O,
}

impl<O: Object> Objects<O> {
    pub fn new(object: O) -> Objects<O> {
        Objects { object }
    }

    /// Of the violated parts that show first, in order of time.
    fn explain(
        &self,
        pairs: &[Pair],
        parts: &[Part<O::Operation>],
        ruled: &[Ruled<O::Operation>],
        most: usize,
        limits: &Limits,
    ) -> Vec<Anomaly> {
        let mut violated: Vec<(u32, usize)> = ruled
            .iter()
            .enumerate()
            .filter_map(|(part, ruled)| match &ruled.decision {
                Decision::Violated { core } => Some((explain::shown(core), part)),
                _ => None,
            })
            .collect();
        violated.sort_unstable();
        violated.truncate(most);
        let explained = violated.into_iter().filter_map(|(_, part)| {
            let Decision::Violated { core } = &ruled[part].decision else { return None };
            let shrunk = shrink::shrink(&self.object, core, limits);
            Some(explain::explain(&self.object, pairs, parts[part].key, &shrunk))
        });
        explained.collect()
    }
}

impl<O: Object> Checker for Objects<O> {
    fn name(&self) -> &'static str {
        "linearizability"
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding {
        let pairs = history.operations();
        let (mut parts, mut refused) = (Vec::new(), Vec::new());
        for outcome in split(&self.object, &pairs) {
            match outcome {
                Ok(its) => parts.extend(its),
                Err(why) => refused.push(why),
            }
        }
        let limits = Limits {
            exhausted: budget.exhausted,
            memory: budget.memory / pool::WORKERS,
            steps: u64::MAX,
        };
        // The cheapest first: a budget that ends then leaves the fewest undecided.
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|part| parts[*part].operations.len());
        let parallel = pairs.len() >= OPERATIONS_WORTH_THREADS;
        let ruled = pool::run(&order, parallel, |part| {
            let operations = &parts[part].operations;
            if (limits.exhausted)() {
                let why = "the time budget ended";
                return Ruled { decision: Decision::Undecided { settled: 0, why }, tried: 0 };
            }
            let (decision, tried) = decide(&self.object, operations, &limits);
            Ruled { decision, tried }
        });
        let ruled: Vec<_> = ruled.into_iter().map(|(_, ruled)| ruled).collect();
        let tally = Tally::of(&parts, &ruled, &refused);
        let mut finding =
            Finding::new(self.name(), tally.verdict(), tally.told(&self.object, budget.explained));
        finding.figures = tally.figures();
        finding.keys = tally.per_key();
        finding.anomalies = self.explain(&pairs, &parts, &ruled, budget.explained, &limits);
        finding
    }
}

#[cfg(test)]
mod tests;
