//! One strongly connected component by itself, its nodes numbered anew.

use crate::checker::txn::graph::{Components, Graph, rel};
use crate::checker::txn::table::NONE;

/// A component. Between two nodes there is at most one edge for anti-dependencies, and one for all else.
#[derive(Debug, Default)]
pub struct Part {
    /// By node its number in the whole graph.
    pub nodes: Vec<u32>,
    /// How many of the numbers in the whole graph are transactions.
    pub txns: u32,
    pub offsets: Vec<u32>,
    pub targets: Vec<u32>,
    pub kinds: Vec<u8>,
    /// All that any edge says.
    pub all: u8,
}

/// The components with cycles, one after the other in the order of their first nodes.
pub fn parts<'a>(graph: &'a Graph, found: &'a Components) -> impl Iterator<Item = Part> + 'a {
    let mut first: Vec<u32> = Vec::new();
    let mut members: Vec<u32> = Vec::new();
    if found.any_cycle() {
        (first, members) = group(graph, found);
    }
    let mut local = vec![NONE; if members.is_empty() { 0 } else { graph.nodes() }];
    let mut bounds: Vec<(u32, u32)> = first.windows(2).map(|pair| (pair[0], pair[1])).collect();
    bounds.retain(|(start, end)| end - start > 1);
    bounds.sort_unstable_by_key(|(start, _)| members[*start as usize]);
    bounds.into_iter().map(move |(start, end)| {
        let nodes = &members[start as usize..end as usize];
        for (position, node) in nodes.iter().enumerate() {
            local[*node as usize] = position as u32;
        }
        let part = cut(graph, nodes, &local);
        for node in nodes {
            local[*node as usize] = NONE;
        }
        part
    })
}

/// The nodes by component, and where each component's begin.
fn group(graph: &Graph, found: &Components) -> (Vec<u32>, Vec<u32>) {
    let mut first = Vec::with_capacity(found.sizes.len() + 1);
    let mut total = 0;
    for size in &found.sizes {
        first.push(total);
        total += size;
    }
    first.push(total);
    let mut free = first.clone();
    let mut members = vec![0; graph.nodes()];
    for node in 0..graph.nodes() as u32 {
        let place = &mut free[found.of[node as usize] as usize];
        members[*place as usize] = node;
        *place += 1;
    }
    (first, members)
}

fn cut(graph: &Graph, nodes: &[u32], local: &[u32]) -> Part {
    let mut part =
        Part { nodes: nodes.to_vec(), txns: graph.txns, offsets: vec![0], ..Part::default() };
    let mut edges: Vec<(u32, u8)> = Vec::new();
    for node in nodes {
        edges.clear();
        let inside = graph.out(*node).map(|(target, kind)| (local[target as usize], kind));
        edges.extend(inside.filter(|(target, _)| *target != NONE));
        edges.sort_unstable();
        for same in edges.chunk_by(|one, other| one.0 == other.0) {
            let kind = same.iter().fold(0, |kinds, (_, kind)| kinds | kind);
            let kind = weighed(kind);
            // An anti-dependency stays an edge of its own: what may follow it differs.
            for kind in [kind & !rel::RW, kind & rel::RW].into_iter().filter(|kind| *kind != 0) {
                part.targets.push(same[0].0);
                part.kinds.push(kind);
                part.all |= kind;
            }
        }
        part.offsets.push(part.targets.len() as u32);
    }
    part
}

/// What was read or overwritten is no longer worth an anti-dependency: a cycle by the former is worse.
fn weighed(kind: u8) -> u8 {
    if kind & (rel::WW | rel::WR) != 0 { kind & !rel::RW } else { kind }
}

impl Part {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    pub fn is_txn(&self, node: u32) -> bool {
        self.nodes[node as usize] < self.txns
    }

    /// All anti-dependencies: from a transaction to another, or to what stands for several.
    pub fn anti_dependencies(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.len() as u32).flat_map(move |node| {
            let edges = self.range(node).filter(|edge| self.kinds[*edge as usize] & rel::RW != 0);
            edges.map(move |edge| (node, self.targets[edge as usize]))
        })
    }

    /// Where edges of a kind lead to.
    pub fn targets_by(&self, node: u32, kind: u8) -> impl Iterator<Item = u32> {
        let edges = self.range(node).filter(move |edge| self.kinds[*edge as usize] & kind != 0);
        edges.map(|edge| self.targets[edge as usize])
    }

    /// What all edges between two nodes say.
    pub fn kind(&self, from: u32, to: u32) -> u8 {
        let range = self.range(from);
        let (start, end) = (range.start as usize, range.end as usize);
        let first = start + self.targets[start..end].partition_point(|target| *target < to);
        let same = (first..end).take_while(|edge| self.targets[*edge] == to);
        same.fold(0, |kinds, edge| kinds | self.kinds[edge])
    }
}
