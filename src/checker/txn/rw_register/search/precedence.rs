//! What must come before what, with all that follows from it in bit sets.

use crate::checker::txn::graph::{Successors, components};

/// Why one moment comes before another. Transactions are nodes of the committed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The initial state is before all.
    Initial,
    /// A transaction begins before it commits.
    Begin,
    Process,
    RealTime,
    /// The one read this version from the other.
    Read {
        version: u32,
    },
    /// The versions of a key are known to follow each other.
    Version {
        key: u32,
    },
    /// Both wrote the key and the one cannot come later.
    Overwrite {
        key: u32,
    },
    /// The one read what `from` wrote and the other replaced it.
    Anti {
        key: u32,
        from: u32,
    },
    /// `reader` read the key from the other, and the one is visible to it.
    Visible {
        key: u32,
        reader: u32,
    },
    /// It was tried.
    Chosen {
        key: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub why: Why,
}

pub(crate) struct Precedence {
    pub nodes: usize,
    pub edges: Vec<Edge>,
    words: usize,
    /// By node what comes after it.
    after: Vec<u64>,
    /// By node its successors in `edges`.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// Words of bit sets that were gone through.
    pub work: u64,
}

impl Precedence {
    pub fn bytes(nodes: usize) -> usize {
        nodes.saturating_mul(nodes.div_ceil(64)).saturating_mul(8)
    }

    pub fn new(nodes: usize, edges: Vec<Edge>) -> Precedence {
        let words = nodes.div_ceil(64);
        let (after, work) = (vec![0; nodes * words], 0);
        Precedence { nodes, edges, words, after, starts: Vec::new(), targets: Vec::new(), work }
    }

    pub fn reaches(&self, from: u32, to: u32) -> bool {
        let word = self.after[from as usize * self.words + to as usize / 64];
        word >> (to % 64) & 1 == 1
    }

    /// Finds all that follows from the edges; false if they have a cycle. O(edges * nodes / 64).
    pub fn close(&mut self) -> bool {
        self.sort();
        let Some(order) = self.topological(|_| 0) else { return false };
        self.work += (self.edges.len() + self.nodes) as u64 * self.words as u64;
        let mut row = vec![0_u64; self.words];
        for node in order.into_iter().rev() {
            row.fill(0);
            for edge in self.range(node) {
                let target = self.targets[edge as usize] as usize;
                row[target / 64] |= 1 << (target % 64);
                let after = &self.after[target * self.words..(target + 1) * self.words];
                row.iter_mut().zip(after).for_each(|(word, other)| *word |= other);
            }
            let at = node as usize * self.words;
            self.after[at..at + self.words].copy_from_slice(&row);
        }
        true
    }

    fn sort(&mut self) {
        self.starts = vec![0; self.nodes + 1];
        for edge in &self.edges {
            self.starts[edge.from as usize + 1] += 1;
        }
        for node in 0..self.nodes {
            self.starts[node + 1] += self.starts[node];
        }
        let mut next = self.starts.clone();
        self.targets = vec![0; self.edges.len()];
        for edge in &self.edges {
            let place = &mut next[edge.from as usize];
            self.targets[*place as usize] = edge.to;
            *place += 1;
        }
    }

    /// An order that keeps all edges and else goes by rank; none if there is a cycle.
    pub fn topological(&self, rank: impl Fn(u32) -> u64) -> Option<Vec<u32>> {
        let mut waiting = vec![0_u32; self.nodes];
        self.targets.iter().for_each(|target| waiting[*target as usize] += 1);
        let ready = (0..self.nodes as u32).filter(|node| waiting[*node as usize] == 0);
        let mut ready: std::collections::BinaryHeap<_> =
            ready.map(|node| std::cmp::Reverse((rank(node), node))).collect();
        let mut order = Vec::with_capacity(self.nodes);
        while let Some(std::cmp::Reverse((_, node))) = ready.pop() {
            order.push(node);
            for edge in self.range(node) {
                let target = self.targets[edge as usize];
                waiting[target as usize] -= 1;
                if waiting[target as usize] == 0 {
                    ready.push(std::cmp::Reverse((rank(target), target)));
                }
            }
        }
        (order.len() == self.nodes).then_some(order)
    }

    /// A short cycle of edges; empty if there is none.
    pub fn cycle(&self) -> Vec<Edge> {
        let found = components(self);
        let cyclic = (0..self.nodes as u32).filter(|node| found.is_cyclic(*node));
        let mut best: Vec<Edge> = Vec::new();
        for root in cyclic.take(64) {
            let way = path(&self.edges, root, root, |node| found.same(root, node));
            if !way.is_empty() && (best.is_empty() || way.len() < best.len()) {
                best = way;
            }
        }
        best
    }
}

/// A shortest way by these edges from one node to another; empty if there is none.
pub(crate) fn path(edges: &[Edge], from: u32, to: u32, allowed: impl Fn(u32) -> bool) -> Vec<Edge> {
    let mut out: rustc_hash::FxHashMap<u32, Vec<usize>> = Default::default();
    for (at, edge) in edges.iter().enumerate() {
        if allowed(edge.from) && allowed(edge.to) {
            out.entry(edge.from).or_default().push(at);
        }
    }
    let mut into: rustc_hash::FxHashMap<u32, usize> = Default::default();
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for at in out.get(&node).into_iter().flatten() {
            let target = edges[*at].to;
            if let std::collections::hash_map::Entry::Vacant(slot) = into.entry(target) {
                slot.insert(*at);
                queue.push_back(target);
            }
        }
        if into.contains_key(&to) {
            break;
        }
    }
    let mut way = Vec::new();
    let mut node = to;
    while let Some(at) = into.get(&node) {
        way.push(edges[*at]);
        node = edges[*at].from;
        if node == from {
            break;
        }
    }
    way.reverse();
    way
}

impl Successors for Precedence {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    fn follow(&self, _node: u32, edge: u32) -> Option<u32> {
        Some(self.targets[edge as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// By pair of nodes the least edges from the one to the other; 99 where there is no way.
    fn distances(nodes: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
        let mut distances = vec![vec![99; nodes]; nodes];
        for edge in edges {
            distances[edge.from as usize][edge.to as usize] = 1;
        }
        for through in 0..nodes {
            for from in 0..nodes {
                for to in 0..nodes {
                    let way = distances[from][through] + distances[through][to];
                    distances[from][to] = way.min(distances[from][to]);
                }
            }
        }
        distances
    }

    fn is_way(way: &[Edge], from: u32, to: u32) -> bool {
        let ends = (way.first().map(|edge| edge.from), way.last().map(|edge| edge.to));
        ends == (Some(from), Some(to)) && way.windows(2).all(|two| two[0].to == two[1].from)
    }

    #[test]
    fn what_follows_and_what_goes_in_a_circle_is_found() {
        let mut circles = 0;
        for seed in 0..300 {
            let mut rng = Rng::from_seed(seed);
            // More than fit into a word of bits, now and then.
            let nodes = *rng.pick(&[5, 9, 9, 9, 66]).expect("a size");
            let most = if nodes > 64 { 40 } else { nodes };
            let node = |rng: &mut Rng| rng.below(nodes as u64) as u32;
            let drawn = (0..rng.below(2 * most as u64)).map(|_| (node(&mut rng), node(&mut rng)));
            let edges: Vec<Edge> = drawn
                .filter(|(from, to)| from != to)
                .map(|(from, to)| Edge { from, to, why: Why::Process })
                .collect();
            let distances = distances(nodes, &edges);
            let shortest = (0..nodes).map(|node| distances[node][node]).min().unwrap_or(99);
            let mut precedence = Precedence::new(nodes, edges.clone());
            assert_eq!(precedence.close(), shortest == 99, "seed {seed}");
            let cycle = precedence.cycle();
            if shortest < 99 {
                circles += 1;
                assert_eq!(cycle.len(), shortest, "seed {seed}: {cycle:?}");
                assert!(is_way(&cycle, cycle[0].from, cycle[0].from), "seed {seed}: {cycle:?}");
            } else {
                assert_eq!(cycle, [], "seed {seed}");
            }
            for (from, row) in (0..).zip(&distances) {
                for (to, distance) in (0..).zip(row) {
                    let reaches = shortest < 99 || precedence.reaches(from, to) == (*distance < 99);
                    assert!(reaches, "seed {seed}: {from} to {to}");
                    if nodes > 64 && from % 8 > 0 {
                        continue;
                    }
                    let way = path(&edges, from, to, |_| true);
                    assert_eq!(way.is_empty(), *distance == 99, "seed {seed}: {from} to {to}");
                    if !way.is_empty() {
                        assert_eq!(way.len(), *distance, "seed {seed}: {way:?}");
                        assert!(is_way(&way, from, to), "seed {seed}: {way:?}");
                    }
                }
            }
        }
        assert!((75..225).contains(&circles), "{circles} of 300 have a circle");
    }
}
