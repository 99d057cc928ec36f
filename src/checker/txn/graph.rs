//! Who must come before whom: dependencies, process order and real-time order in one graph.
//!
//! The first nodes are the transactions, by number; further ones stand for moments and for groups, so that
//! orders between many and many cost as many edges as there are transactions.

mod build;
mod order;
mod scc;
#[cfg(test)]
mod tests;

pub use build::Edges;
pub use order::{process_order, realtime_order};
pub use scc::{Components, Successors, components};

/// What an edge says, as bits.
pub mod rel {
    /// The one's write was followed by the other's.
    pub const WW: u8 = 1;
    /// The other read what the one wrote.
    pub const WR: u8 = 2;
    /// The one read what the other replaced.
    pub const RW: u8 = 4;
    /// One process did the one before the other.
    pub const PROCESS: u8 = 8;
    /// The one was over before the other began.
    pub const REALTIME: u8 = 16;
    /// Out of a node that stands for a group of writers: the rest of the `RW` edge that led into it.
    pub const PASS: u8 = 32;
}

/// A directed graph in compressed sparse rows.
#[derive(Debug, Default)]
pub struct Graph {
    /// How many of its nodes are transactions.
    pub txns: u32,
    offsets: Vec<u32>,
    targets: Vec<u32>,
    kinds: Vec<u8>,
}

impl Graph {
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The edges out of a node: where to, and what they say.
    pub fn out(&self, node: u32) -> impl Iterator<Item = (u32, u8)> {
        self.range(node).map(|edge| self.edge(edge))
    }

    /// The numbers of the edges out of a node.
    pub fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    pub fn edge(&self, edge: u32) -> (u32, u8) {
        (self.targets[edge as usize], self.kinds[edge as usize])
    }

    /// Where the edges out of each node begin, where they lead to, and what they say.
    pub fn rows(&self) -> (&[u32], &[u32], &[u8]) {
        (&self.offsets, &self.targets, &self.kinds)
    }

    pub fn bytes(&self) -> usize {
        self.offsets.len() * 4 + self.targets.len() * 5
    }
}
