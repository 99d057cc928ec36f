//! Cycles that prefix consistency forbids: those on which each anti-dependency follows a read or a step of a
//! session (Cerone, Bernardi and Gotsman, CONCUR 2015). Linear but for the search for short ones.

use super::part::{Part, parts};
use super::search::Search;
use super::view::Plain;
use super::ways::{shortest, spread, without_repetition};
use super::{Cycle, CycleStep, Cycles};
use crate::checker::Budget;
use crate::checker::txn::graph::{Graph, Successors, components, rel};

/// The transactions that lie on cycles together.
pub fn knots(graph: &Graph) -> Vec<Vec<u32>> {
    let found = components(&Plain::whole(graph));
    let is_txn = |node: &u32| *node < graph.txns;
    parts(graph, &found).map(|part| part.nodes.into_iter().filter(is_txn).collect()).collect()
}

/// What a transaction saw and all before it in the order of writes: a cycle of both for each component that
/// has one. `order`: [`rel::PROCESS`] if the order of sessions counts.
pub fn prefix_cycles(graph: &Graph, order: u8, name: &'static str, budget: &Budget) -> Cycles {
    let mut cycles = Cycles::default();
    let found = components(&Plain::whole(graph));
    for part in parts(graph, &found) {
        let view = AfterSight { part: &part, sight: rel::WR | order };
        let found = components(&view);
        let mut closing: Vec<(u32, u32)> = part.anti_dependencies().collect();
        closing.retain(|(from, to)| found.same(from << 1 | 1, to << 1));
        if closing.is_empty() {
            continue;
        }
        let mut search = Search::new(view.nodes(), budget.exhausted);
        let around = spread(&closing).map(|(from, to)| (to << 1, from << 1 | 1, true));
        let ways = shortest(&mut search, &view, around, |from, node| found.same(from, node));
        let ways = ways.into_iter().map(|way| without_repetition(view.steps(&way)));
        let way = ways.into_iter().find(|way| way.iter().any(|step| step.kind == rel::RW));
        match way {
            Some(steps) => {
                *cycles.counts.entry(name).or_default() += 1;
                cycles.told.push(Cycle { name, steps });
            }
            None => {
                let why = format!("the time ended before it was known whether there is a {name}");
                cycles.undecided.get_or_insert(why);
            }
        }
    }
    cycles
}

/// Anti-dependencies only where a read or a session led to.
///
/// Its nodes are pairs: twice the node of the component, and one more where such a step led to it.
struct AfterSight<'a> {
    part: &'a Part,
    /// The kinds of such steps.
    sight: u8,
}

impl Successors for AfterSight<'_> {
    fn nodes(&self) -> usize {
        self.part.len() * 2
    }

    fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.part.range(node >> 1)
    }

    fn follow(&self, node: u32, edge: u32) -> Option<u32> {
        let (kind, target) =
            (self.part.kinds[edge as usize], self.part.targets[edge as usize] << 1);
        if kind & self.sight != 0 {
            return Some(target | 1);
        }
        let free = kind & (rel::WW | rel::PASS) != 0;
        (free || kind & rel::RW != 0 && node & 1 == 1).then_some(target)
    }
}

impl AfterSight<'_> {
    /// A way around, closed by an anti-dependency, as steps between transactions.
    fn steps(&self, way: &[u32]) -> Vec<CycleStep> {
        let way: Vec<u32> = way.iter().map(|node| node >> 1).collect();
        let Some(first) = way.iter().position(|node| self.part.is_txn(*node)) else {
            return Vec::new();
        };
        let mut steps: Vec<CycleStep> = Vec::new();
        let (mut from, mut kind) = (way[first], 0);
        for offset in 0..way.len() {
            let at = (first + offset) % way.len();
            let (node, next) = (way[at], way[(at + 1) % way.len()]);
            if self.part.is_txn(node) {
                let closes = at + 1 == way.len();
                (from, kind) = (node, if closes { rel::RW } else { self.taken(node, next) });
            }
            if self.part.is_txn(next) {
                let number = |node: u32| self.part.nodes[node as usize];
                steps.push(CycleStep { from: number(from), to: number(next), kind });
            }
        }
        steps
    }

    /// What a step is by: the kind that lets most follow.
    fn taken(&self, from: u32, to: u32) -> u8 {
        let all = self.part.kind(from, to);
        let kinds = [all & self.sight, all & rel::WW, all];
        let usable = kinds.into_iter().find(|kind| *kind != 0).unwrap_or(all);
        usable & usable.wrapping_neg()
    }
}
