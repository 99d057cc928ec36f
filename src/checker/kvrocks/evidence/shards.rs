//! Which node belongs to which shard.

use std::collections::BTreeMap;

use crate::op::NodeName;

#[derive(Clone, Debug, Default)]
pub(in crate::checker) struct Shards {
    of: BTreeMap<NodeName, usize>,
    pub count: usize,
}

impl Shards {
    pub fn new(shards: &[Vec<NodeName>]) -> Shards {
        let numbered = shards.iter().enumerate();
        let of = numbered.flat_map(|(shard, nodes)| nodes.iter().map(move |node| (*node, shard)));
        Shards { of: of.collect(), count: shards.len() }
    }

    pub fn nodes(&self, shard: usize) -> impl Iterator<Item = NodeName> {
        self.of.iter().filter(move |(_, own)| **own == shard).map(|(node, _)| *node)
    }

    pub fn of(&self, node: &NodeName) -> Option<usize> {
        self.of.get(node).copied()
    }
}
