//! Read atomic, causal consistency and prefix consistency of lists.
//!
//! By the definitions of Cerone, Bernardi and Gotsman ("A Framework for Transactional Consistency Models with
//! Atomic Visibility", CONCUR 2015) and of Biswas and Enea ("On the Complexity of Checking Transactional
//! Consistency", OOPSLA 2019), with the order of each session. As the versions of each key are in a known
//! order, nothing has to be guessed: what a transaction is to see, and read before it was there, is wrong.
//!
//! A list shows all transactions that appended what it holds. Only what lies on a cycle of dependencies and
//! process order can be wrong, so that a history without cycles costs nothing more. In a group of
//! transactions on cycles it is O(n k) in their accesses and sessions, and a square for the keys of each.

mod clocks;
mod knot;
mod pairs;
mod words;

use super::versions::Versions;
use crate::checker::Budget;
use crate::checker::txn::cycles::{knots, prefix_cycles};
use crate::checker::txn::explain::cycle_anomaly;
use crate::checker::txn::graph::{Graph, rel};
use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::table::Table;
use clocks::{Clocks, NoClocks, happened_before};
use knot::{Knot, Seen};
use pairs::Pairs;
use words::{Missed, Reasons};

/// How many violations of causality are followed back to the read or session that began them.
const FOLLOWED: usize = 256;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub read_atomic: bool,
    pub causal: bool,
    pub prefix: bool,
}

impl Asked {
    /// By the names of models and anomalies. Each holds the one before.
    pub fn of(names: &[&str]) -> Asked {
        let any = |others: &[&str]| names.iter().any(|name| others.contains(name));
        let prefix = any(&["prefix", "prefix-violation", "prefix-violation-process"]);
        let causal = any(&[
            "causal-cerone",
            "parallel-snapshot-isolation",
            "causality-violation",
            "causality-violation-process",
        ]);
        let read_atomic = any(&["read-atomic", "ROLA", "fractured-read", "fractured-read-process"]);
        Asked { read_atomic: read_atomic || causal || prefix, causal: causal || prefix, prefix }
    }
}

/// A history and what it came to.
pub struct Visible<'a> {
    pub table: &'a Table,
    pub versions: &'a Versions,
    pub asked: Asked,
    pub budget: &'a Budget<'a>,
}

impl Visible<'_> {
    /// `graph`: all dependencies and the order of each process.
    pub fn check(&self, graph: &Graph, judgement: &mut Judgement) {
        if !self.asked.read_atomic {
            return;
        }
        let mut told = 0;
        for members in knots(graph) {
            if (self.budget.exhausted)() {
                return judgement
                    .doubt("the time ended before it was known what each transaction was to see");
            }
            told += self.judge(&members, judgement);
        }
        // What is missed breaks prefix consistency too.
        if self.asked.prefix && told == 0 {
            self.prefix(graph, judgement);
        }
    }

    fn prefix(&self, graph: &Graph, judgement: &mut Judgement) {
        let names = [(0, "prefix-violation"), (rel::PROCESS, "prefix-violation-process")];
        for (order, name) in names {
            let cycles = prefix_cycles(graph, order, name, self.budget);
            let found = !cycles.counts.is_empty();
            let reasons = super::explain::Reasons { table: self.table, versions: self.versions };
            judgement.take_cycles(cycles, |cycle| cycle_anomaly(self.table, cycle, &reasons));
            if found {
                break;
            }
        }
    }

    /// How many reads missed something.
    fn judge(&self, members: &[u32], judgement: &mut Judgement) -> usize {
        let knot = Knot::of(self.table, self.versions, members);
        let Some(pairs) = Pairs::of(&knot, self.budget.memory) else {
            judgement.doubt("the memory does not suffice to tell what each transaction was to see");
            return 0;
        };
        let before = happened_before(&knot);
        let clocks = match self.asked.causal.then(|| Clocks::of(&knot, &before, self.budget)) {
            None => None,
            Some(Ok(clocks)) => Some(clocks),
            // Who read from whom is a circle, and told as such.
            Some(Err(NoClocks::Cycle)) => None,
            Some(Err(NoClocks::Budget(why))) => {
                judgement.doubt(why);
                None
            }
        };
        let mut followed = Followed { knot: &knot, before: &before, left: FOLLOWED };
        let mut told = 0;
        for reader in 0..knot.len() as u32 {
            let reads: Vec<Seen> = knot.reads(reader).collect();
            let missed = reads.iter().find_map(|read| {
                let torn = pairs.torn(reader, &reads, *read).map(|writer| (writer, rel::WR));
                let own = || knot.overlooked(reader, *read).map(|writer| (writer, rel::PROCESS));
                let (writer, kind) = torn.or_else(own)?;
                Some(Missed::directly(&knot, reader, writer, kind))
            });
            let causal = || {
                let clocks = clocks.as_ref()?;
                let writer = reads.iter().find_map(|read| clocks.missed(&knot, reader, *read))?;
                followed.way(reader, writer)
            };
            if let Some(missed) = missed.or_else(causal) {
                self.tell(missed, judgement);
                told += 1;
            }
        }
        if followed.left == 0 {
            judgement.at_least("causality-violation");
            judgement.at_least("causality-violation-process");
        }
        told
    }

    fn tell(&self, missed: Missed, judgement: &mut Judgement) {
        let cycle = missed.into_cycle();
        let reasons = Reasons { table: self.table, versions: self.versions };
        judgement.tell(cycle.name, || cycle_anomaly(self.table, &cycle, &reasons));
    }
}

/// Looks for how one transaction happened before another, a bounded number of times.
struct Followed<'a> {
    knot: &'a Knot<'a>,
    before: &'a Graph,
    left: usize,
}

impl Followed<'_> {
    /// By reads alone if there is such a way, and else also by sessions.
    fn way(&mut self, reader: u32, writer: u32) -> Option<Missed> {
        self.left = self.left.checked_sub(1)?;
        let masks = [rel::WR, rel::WR | rel::PROCESS];
        let way = |mask| clocks::way(self.knot, self.before, (writer, reader), mask);
        masks.into_iter().find_map(way).map(Missed::causally)
    }
}
