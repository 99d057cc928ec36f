//! A directed graph that must stay without cycles, edge by edge: whoever adds the edge that would close
//! one is told the cycle, and the edge is left out.
//!
//! Every node has a level, and every edge leads to a higher one; an edge that does not raises what follows
//! it, each node once and in the order of the levels (a one-way form of the incremental cycle detection of
//! Bender, Fineman, Gilbert and Tarjan 2016). An edge costs as much as it raises: next to nothing where what
//! comes later was seen later. About 30 bytes an edge.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// How far apart levels are at first, so that there is room between them.
const STRIDE: u64 = 1 << 20;

/// An edge, and what it means to whoever drew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    pub tag: u32,
}

/// An edge in the list of those that leave one node.
#[derive(Clone, Copy)]
struct Link {
    edge: Edge,
    next: u32,
}

#[derive(Clone, Default)]
pub(super) struct Levels {
    levels: Vec<u64>,
    /// Of each node, the last edge that leaves it.
    last: Vec<u32>,
    links: Vec<Link>,
}

impl Levels {
    /// A node just after these; it still takes an edge from each.
    pub fn add_node(&mut self, after: impl IntoIterator<Item = u32>) -> u32 {
        let highest = after.into_iter().map(|node| self.levels[node as usize]).max();
        self.push(highest.unwrap_or(0) + 1)
    }

    /// A node well after this one, with room for others in between.
    pub fn add_node_far_after(&mut self, node: u32) -> u32 {
        self.push(self.levels[node as usize] + STRIDE)
    }

    fn push(&mut self, level: u64) -> u32 {
        self.levels.push(level);
        self.last.push(NONE);
        self.levels.len() as u32 - 1
    }

    /// The cycle that the edge would close, if it would, as its edges in order, that one first.
    pub fn add(&mut self, edge: Edge) -> Option<Vec<Edge>> {
        if !self.make_way(edge) {
            return Some(self.cycle(edge));
        }
        let before = self.last[edge.from as usize];
        self.last[edge.from as usize] = self.links.len() as u32;
        self.links.push(Link { edge, next: before });
        None
    }

    fn out(&self, node: u32) -> impl Iterator<Item = Edge> {
        let mut at = self.last[node as usize];
        std::iter::from_fn(move || {
            let link = self.links.get(at as usize)?;
            at = link.next;
            Some(link.edge)
        })
    }

    /// Raises all that must come after the edge's beginning; nothing if that would come after itself.
    fn make_way(&mut self, edge: Edge) -> bool {
        let Edge { from, to, .. } = edge;
        let level = self.levels[from as usize];
        if from == to || self.levels[to as usize] > level {
            return from != to;
        }
        // By the level that a node had: when its turn comes, all before it have been raised.
        let mut waiting = BinaryHeap::from([Reverse((self.levels[to as usize], to))]);
        let mut raised = FxHashMap::from_iter([(to, level + STRIDE)]);
        while let Some(Reverse((_, node))) = waiting.pop() {
            if node == from {
                return false;
            }
            let next = raised[&node] + 1;
            for Edge { to, .. } in
                self.out(node).filter(|edge| self.levels[edge.to as usize] < next)
            {
                let known = raised.entry(to).or_insert_with(|| {
                    waiting.push(Reverse((self.levels[to as usize], to)));
                    next
                });
                *known = next.max(*known);
            }
        }
        for (node, level) in raised {
            self.levels[node as usize] = level;
        }
        true
    }

    /// A shortest way back, breadth first; between two levels, for nothing else is on it.
    fn cycle(&self, edge: Edge) -> Vec<Edge> {
        let top = self.levels[edge.from as usize];
        let mut by: FxHashMap<u32, Edge> = FxHashMap::from_iter([(edge.to, edge)]);
        let mut queue = VecDeque::from([edge.to]);
        while let Some(node) = queue.pop_front().filter(|_| !by.contains_key(&edge.from)) {
            for step in self.out(node).filter(|step| self.levels[step.to as usize] <= top) {
                by.entry(step.to).or_insert_with(|| {
                    queue.push_back(step.to);
                    step
                });
            }
        }
        let mut path = Vec::new();
        let mut node = edge.from;
        while let Some(step) = by.get(&node) {
            path.push(*step);
            node = step.from;
            if node == edge.from {
                break;
            }
        }
        path.reverse();
        path
    }

    pub fn bytes(&self) -> usize {
        self.levels.capacity() * size_of::<u64>()
            + self.last.capacity() * size_of::<u32>()
            + self.links.capacity() * size_of::<Link>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn nodes(count: u32) -> Levels {
        let mut levels = Levels::default();
        (0..count).for_each(|_| {
            levels.add_node([]);
        });
        levels
    }

    fn edge(from: u32, to: u32) -> Edge {
        Edge { from, to, tag: from * 100 + to }
    }

    #[test]
    fn a_path_has_no_cycle_and_who_closes_a_ring_is_told() {
        let mut levels = nodes(4);
        for path in [edge(2, 3), edge(1, 2), edge(0, 1), edge(0, 3)] {
            assert_eq!(levels.add(path), None);
        }
        assert_eq!(levels.add(edge(3, 0)), Some(vec![edge(3, 0), edge(0, 3)]));
        assert_eq!(levels.add(edge(2, 0)), Some(vec![edge(2, 0), edge(0, 1), edge(1, 2)]));
        assert_eq!(levels.add(edge(1, 1)), Some(vec![edge(1, 1)]));
        assert_eq!(levels.add(edge(1, 3)), None);
    }

    /// In how many steps `to` is reached from `from`, by going everywhere.
    fn steps(edges: &[Edge], from: u32, to: u32) -> Option<usize> {
        let mut seen = vec![(from, 0)];
        let mut next = 0;
        while let Some((node, steps)) = seen.get(next).copied() {
            if node == to {
                return Some(steps);
            }
            next += 1;
            for edge in edges.iter().filter(|edge| edge.from == node) {
                if seen.iter().all(|(known, _)| *known != edge.to) {
                    seen.push((edge.to, steps + 1));
                }
            }
        }
        None
    }

    #[test]
    fn random_edges_are_refused_exactly_where_they_close_a_cycle() {
        for seed in 0..400 {
            let mut rng = Rng::from_seed(seed);
            let count = rng.between(1, 9);
            let mut levels = nodes(count as u32);
            let mut taken: Vec<Edge> = Vec::new();
            for _ in 0..rng.below(30) {
                let new = edge(rng.below(count) as u32, rng.below(count) as u32);
                let back = steps(&taken, new.to, new.from);
                let Some(cycle) = levels.add(new) else {
                    assert_eq!(back, None, "seed {seed}: {new:?}");
                    taken.push(new);
                    continue;
                };
                assert_eq!(Some(cycle.len() - 1), back, "seed {seed}: {new:?}");
                assert_eq!(cycle[0], new);
                assert!(cycle[1..].iter().all(|edge| taken.contains(edge)));
                let ends = cycle.iter().skip(1).chain([&new]);
                assert!(cycle.iter().zip(ends).all(|(one, next)| one.to == next.from));
            }
        }
    }
}
