//! Which cycles there are in a graph of dependencies, by Elle's names.
//!
//! A cycle lies within one strongly connected component; in each, every kind of cycle is decided exactly and
//! in polynomial time, so that no search has to be given up. Snapshot isolation's cycles (no two
//! anti-dependencies in a row) are those of a graph of pairs (transaction, whether an anti-dependency led
//! here), after Cerone and Gotsman, "Analysing Snapshot Isolation", PODC 2016.

mod between;
mod classify;
mod effort;
mod names;
mod part;
mod prefix;
mod search;
#[cfg(test)]
mod tests;
mod view;
mod ways;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::checker::Budget;
use crate::checker::txn::graph::{Graph, components};
use classify::Classifier;
pub use names::Tag;
use part::parts;
pub use prefix::{knots, prefix_cycles};
use view::Plain;

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
    /// Some of each kind; by component those kinds that no other found there implies.
    pub told: Vec<Cycle>,
    /// How many of each kind: components, and of `G-single-item` the anti-dependencies that close one.
    pub counts: IndexMap<&'static str, u64, FxBuildHasher>,
    /// The kinds of which there may be more than were counted.
    pub more: Vec<&'static str>,
    /// Set if the budget ended before all was decided: what was not.
    pub undecided: Option<String>,
}

/// Finds the cycles of every component. Linear where there are none.
///
/// Where there are, the anti-dependencies that may close a cycle by themselves cost a search each, bounded
/// by the transactions that lie between their ends in a topological order.
pub fn find_cycles(graph: &Graph, budget: &Budget) -> Cycles {
    find_cycles_of(graph, Tag::Plain, budget)
}

/// The same where some dependencies are known by an order only: all cycles count as cycles of that order.
pub fn find_cycles_of(graph: &Graph, least: Tag, budget: &Budget) -> Cycles {
    let mut cycles = Cycles::default();
    let found = components(&Plain::whole(graph));
    for part in parts(graph, &found) {
        if (budget.exhausted)() {
            let why = "the time ended before every group of transactions that depend on each other was searched";
            cycles.undecided.get_or_insert_with(|| why.to_owned());
            break;
        }
        Classifier::new(&part, &mut cycles, budget).classify(least);
    }
    cycles
}
