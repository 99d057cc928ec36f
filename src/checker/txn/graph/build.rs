//! A list of edges, and the graph made from it.

use super::Graph;

/// Edges as they are found.
#[derive(Debug)]
pub struct Edges {
    txns: u32,
    nodes: u32,
    from: Vec<u32>,
    to: Vec<u32>,
    kinds: Vec<u8>,
}

impl Edges {
    /// None yet, between so many transactions.
    pub fn new(txns: usize) -> Edges {
        let txns = txns as u32;
        Edges { txns, nodes: txns, from: Vec::new(), to: Vec::new(), kinds: Vec::new() }
    }

    /// With room for so many.
    pub fn with_capacity(txns: usize, edges: usize) -> Edges {
        Edges {
            from: Vec::with_capacity(edges),
            to: Vec::with_capacity(edges),
            kinds: Vec::with_capacity(edges),
            ..Edges::new(txns)
        }
    }

    /// Between transactions or nodes that were added; one from a node to itself says nothing and is left out.
    pub fn add(&mut self, from: u32, to: u32, kind: u8) {
        if from != to {
            self.from.push(from);
            self.to.push(to);
            self.kinds.push(kind);
        }
    }

    /// A node that is no transaction.
    pub fn add_node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    pub fn len(&self) -> usize {
        self.from.len()
    }

    /// Sorts them by origin, by counting: linear time.
    pub fn into_graph(self) -> Graph {
        let mut offsets = vec![0u32; self.nodes as usize + 1];
        for from in &self.from {
            offsets[*from as usize + 1] += 1;
        }
        for node in 0..self.nodes as usize {
            offsets[node + 1] += offsets[node];
        }
        let mut free = offsets.clone();
        let mut targets = vec![0u32; self.to.len()];
        let mut kinds = vec![0u8; self.to.len()];
        for (edge, from) in self.from.iter().enumerate() {
            let place = &mut free[*from as usize];
            targets[*place as usize] = self.to[edge];
            kinds[*place as usize] = self.kinds[edge];
            *place += 1;
        }
        Graph { txns: self.txns, offsets, targets, kinds }
    }
}
