//! A component as seen through what edges one may take.

use super::part::Part;
use crate::checker::txn::graph::{Graph, Successors, rel};

/// Only edges of some kinds.
pub struct Plain<'a> {
    offsets: &'a [u32],
    targets: &'a [u32],
    kinds: &'a [u8],
    mask: u8,
}

impl<'a> Plain<'a> {
    pub fn new(part: &'a Part, mask: u8) -> Plain<'a> {
        Plain { offsets: &part.offsets, targets: &part.targets, kinds: &part.kinds, mask }
    }

    /// All edges of a graph.
    pub fn whole(graph: &'a Graph) -> Plain<'a> {
        let (offsets, targets, kinds) = graph.rows();
        Plain { offsets, targets, kinds, mask: u8::MAX }
    }
}

impl Successors for Plain<'_> {
    fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    fn follow(&self, _node: u32, edge: u32) -> Option<u32> {
        let taken = self.kinds[edge as usize] & self.mask != 0;
        taken.then(|| self.targets[edge as usize])
    }
}

/// Edges of some kinds, and anti-dependencies but never two in a row.
///
/// Its nodes are pairs: twice the node of the component, and one more where an anti-dependency led to it.
pub struct Apart<'a> {
    pub part: &'a Part,
    pub mask: u8,
}

impl Successors for Apart<'_> {
    fn nodes(&self) -> usize {
        self.part.len() * 2
    }

    fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.part.range(node >> 1)
    }

    fn follow(&self, node: u32, edge: u32) -> Option<u32> {
        let (kind, target) =
            (self.part.kinds[edge as usize], self.part.targets[edge as usize] << 1);
        if kind & self.mask != 0 {
            Some(target)
        } else if kind & rel::PASS != 0 {
            Some(target | (node & 1))
        } else {
            (kind & rel::RW != 0 && node & 1 == 0).then_some(target | 1)
        }
    }
}
