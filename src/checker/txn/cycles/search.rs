//! Shortest paths, breadth first, with tables that are used again.

use super::effort::Effort;
use crate::checker::txn::graph::Successors;
use crate::checker::txn::table::NONE;

/// The tables of a search, for graphs of one size.
pub struct Search<'a> {
    /// By node the search that saw it last.
    seen: Vec<u32>,
    parent: Vec<u32>,
    round: u32,
    queue: Vec<u32>,
    pub effort: Effort<'a>,
}

impl<'a> Search<'a> {
    pub fn new(nodes: usize, exhausted: &'a dyn Fn() -> bool) -> Search<'a> {
        Search {
            seen: vec![0; nodes],
            parent: vec![NONE; nodes],
            round: 0,
            queue: Vec::new(),
            effort: Effort::new(exhausted),
        }
    }

    /// How many edges the shortest way from one node to another has, through nodes that are `allowed`; from
    /// a node to itself it is a way around. [`Search::way`] then tells it.
    pub fn reach<G: Successors>(
        &mut self,
        graph: &G,
        (from, to): (u32, u32),
        allowed: impl Fn(u32) -> bool,
    ) -> bool {
        self.round += 1;
        self.queue.clear();
        self.queue.push(from);
        self.seen[from as usize] = self.round;
        self.parent[from as usize] = NONE;
        let mut next = 0;
        while let Some(node) = self.queue.get(next).copied() {
            next += 1;
            if self.effort.spent() {
                return false;
            }
            for edge in graph.range(node) {
                let Some(target) = graph.follow(node, edge) else { continue };
                if target == to {
                    self.queue.truncate(1);
                    self.queue.push(node);
                    return true;
                }
                if self.seen[target as usize] != self.round && allowed(target) {
                    self.seen[target as usize] = self.round;
                    self.parent[target as usize] = node;
                    self.queue.push(target);
                }
            }
        }
        false
    }

    /// The nodes of the way that [`Search::reach`] has just found, without the last.
    pub fn way(&self) -> Vec<u32> {
        let mut way = Vec::new();
        let mut node = self.queue.last().copied().unwrap_or(NONE);
        while node != NONE {
            way.push(node);
            node = self.parent[node as usize];
        }
        way.reverse();
        way
    }
}
