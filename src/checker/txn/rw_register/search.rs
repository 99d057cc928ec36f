//! Whether some order of all writes explains every read: serializability, and snapshot isolation, where
//! the order of versions is not known.
//!
//! Two transactions that write a key come in one order or the other, and whoever read the earlier one's
//! value comes before the later one (a polygraph: Papadimitriou 1979). Most of these choices are forced by
//! what is known, as in Cobra (Tan et al., OSDI 2020) and PolySI (Huang et al., VLDB 2023); the rest are
//! tried, guided by an order that respects all that is known. The problem is NP-complete, so that the
//! search has a bound and may end undecided. For snapshot isolation every transaction is two nodes, its
//! beginning and its commit (Zhang et al., Viper, EuroSys 2023).

mod drawn;
mod explain;
mod forced;
mod known;
mod precedence;
mod trial;

use crate::checker::Budget;
use crate::checker::txn::consistency::Wanted;
use crate::checker::txn::rw_register::footprint::Footprints;
use crate::checker::txn::rw_register::version_order::VersionOrder;
use crate::checker::txn::weak::committed::Committed;
pub(crate) use explain::explain;
use forced::Rivals;
use known::known;
use precedence::{Edge, Precedence};
use trial::{Trial, Tried};

/// What the order is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Each transaction at one moment.
    Serial,
    /// Each reads at its beginning and writes at its commit, and of two that overlap none writes what the
    /// other writes.
    Snapshot,
}

/// What else the order is to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keep {
    Nothing,
    Process,
    RealTime,
}

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub goal: Goal,
    pub keep: Keep,
}

/// Every kind of order, those that satisfy more models last.
const ALL: [Asked; 6] = [
    Asked { goal: Goal::Snapshot, keep: Keep::Nothing },
    Asked { goal: Goal::Serial, keep: Keep::Nothing },
    Asked { goal: Goal::Snapshot, keep: Keep::Process },
    Asked { goal: Goal::Serial, keep: Keep::Process },
    Asked { goal: Goal::Snapshot, keep: Keep::RealTime },
    Asked { goal: Goal::Serial, keep: Keep::RealTime },
];

impl Asked {
    /// The orders that what is wanted needs, without those that a stronger one of them holds.
    pub fn of(wanted: &Wanted) -> Vec<Asked> {
        let needed = || ALL.into_iter().filter(|asked| wanted.prohibits(asked.anomaly()));
        let is_held =
            |asked: &Asked| needed().any(|other| other.weaker().any(|weak| weak == *asked));
        needed().filter(|asked| !is_held(asked)).collect()
    }

    /// What it is if there is no such order.
    pub fn anomaly(self) -> &'static str {
        match (self.goal, self.keep) {
            (Goal::Serial, Keep::Nothing) => "no-serial-order",
            (Goal::Serial, Keep::Process) => "no-serial-order-process",
            (Goal::Serial, Keep::RealTime) => "no-serial-order-realtime",
            (Goal::Snapshot, Keep::Nothing) => "no-snapshot-order",
            (Goal::Snapshot, Keep::Process) => "no-snapshot-order-process",
            (Goal::Snapshot, Keep::RealTime) => "no-snapshot-order-realtime",
        }
    }

    /// The weaker orders, the weakest first: whatever has no such order has none of this kind either.
    fn weaker(self) -> impl Iterator<Item = Asked> {
        ALL.into_iter().filter(move |other| {
            let is_less = other.goal == self.goal || self.goal == Goal::Serial;
            *other != self && is_less && other.keep <= self.keep
        })
    }
}

/// Why there is no order.
#[derive(Debug)]
pub(crate) struct Refutation {
    pub asked: Asked,
    /// A circle of what must come before what.
    pub cycle: Vec<Edge>,
    /// All that was known or concluded then.
    pub edges: Vec<Edge>,
    /// How many choices were tried; with none, all of the circle is forced.
    pub tried: u64,
}

pub(crate) enum Searched {
    Ordered,
    Impossible(Box<Refutation>),
    Undecided(String),
}

/// What a search works on.
pub(crate) struct Scene<'a> {
    pub committed: &'a Committed<'a>,
    pub prints: &'a Footprints,
    pub order: &'a VersionOrder,
}

/// Steps of a search, in words of bit sets: some seconds.
pub(crate) const LONG: u64 = 8_000_000_000;

/// Where undecided is good enough.
pub(crate) const SHORT: u64 = 300_000_000;

/// Searches; where there is no order, also for the weakest kind of which there is none.
pub(crate) fn search(scene: &Scene, asked: Asked, steps: u64, budget: &Budget) -> Searched {
    let found = search_one(scene, asked, steps, budget);
    if !matches!(found, Searched::Impossible(_)) {
        return found;
    }
    for weaker in asked.weaker() {
        let worse = search_one(scene, weaker, steps.min(SHORT), budget);
        if matches!(worse, Searched::Impossible(_)) {
            return worse;
        }
    }
    found
}

fn search_one(scene: &Scene, asked: Asked, steps: u64, budget: &Budget) -> Searched {
    let nodes = known::nodes(scene.committed, asked);
    if Precedence::bytes(nodes) > budget.memory / 2 {
        let txns = scene.committed.len() - 1;
        return Searched::Undecided(format!(
            "{txns} transactions are too many for the memory budget to try the orders of their writes"
        ));
    }
    let rivals = Rivals::of(scene.committed);
    let precedence = known(scene, asked);
    let mut trial = Trial::new(scene.committed, &rivals, asked.goal, precedence, steps, budget);
    match trial.run() {
        Tried::Ordered => Searched::Ordered,
        Tried::Impossible { cycle, tried } => {
            let edges = trial.into_edges();
            Searched::Impossible(Box::new(Refutation { asked, cycle, edges, tried }))
        }
        Tried::Undecided { open } => Searched::Undecided(format!(
            "the orders of {open} pairs of writes were still open when the search ended"
        )),
    }
}
