//! Blocks of operations that happen without anything between them, and whether blocks get in each
//! other's way.

use super::{Cluster, NOBODY, START};
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, ValueId};

/// A written value and what compare-and-sets made of it, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The value it begins with.
    pub root: ValueId,
    earliest_completion: u32,
    latest_invocation: u32,
}

impl Block {
    /// Takes in operations that stand next in the block. False where one of them completed before
    /// one that must happen earlier was invoked.
    fn take(&mut self, earliest_completion: u32, latest_invocation: u32) -> bool {
        let possible = earliest_completion >= self.latest_invocation;
        self.earliest_completion = self.earliest_completion.min(earliest_completion);
        self.latest_invocation = self.latest_invocation.max(latest_invocation);
        possible
    }
}

/// Finds the blocks. An error names a value whose block has no order within itself.
pub(super) fn all(operations: &[Operation], clusters: &[Cluster]) -> Result<Vec<Block>, ValueId> {
    let mut blocks = Vec::new();
    let mut reached = vec![false; clusters.len()];
    for (value, cluster) in clusters.iter().enumerate() {
        if is_root(operations, cluster) {
            blocks.push(walk(operations, clusters, value as ValueId, &mut reached)?);
        }
    }
    // A value made from itself, over however many steps, was never there to begin with; and a value
    // can be replaced only once.
    let made = |value: &usize| clusters[*value].producer != NOBODY;
    match (0..clusters.len()).find(|value| made(value) && !reached[*value]) {
        Some(value) => Err(value as ValueId),
        None => Ok(blocks),
    }
}

fn is_root(operations: &[Operation], cluster: &Cluster) -> bool {
    match cluster.producer {
        START => true,
        NOBODY => false,
        producer => matches!(operations[producer as usize].effect, Effect::Write(_)),
    }
}

fn walk(
    operations: &[Operation],
    clusters: &[Cluster],
    root: ValueId,
    reached: &mut [bool],
) -> Result<Block, ValueId> {
    let mut block = Block { root, earliest_completion: u32::MAX, latest_invocation: 0 };
    let mut value = root;
    loop {
        reached[value as usize] = true;
        let cluster = clusters[value as usize];
        let made = match cluster.producer {
            START => block.take(0, 0),
            producer => {
                let producer = operations[producer as usize];
                block.take(producer.complete, producer.invoke)
            }
        };
        let read = block.take(cluster.first_read_completion, cluster.last_read_invocation);
        if !(made && read) {
            return Err(root);
        }
        if cluster.successor == NOBODY {
            return Ok(block);
        }
        value = operations[cluster.successor as usize].effect.produces().unwrap_or(INITIAL);
    }
}

/// Two blocks that must precede each other, named by their values; the pair that shows first.
pub(super) fn conflict(blocks: Vec<Block>) -> Option<(ValueId, ValueId)> {
    // Spread blocks must be open as a whole: from the earliest completion to the latest invocation
    // nothing else fits. Tight ones only need some moment outside those stretches.
    let (mut spread, tight): (Vec<Block>, Vec<Block>) =
        blocks.into_iter().partition(|block| block.earliest_completion < block.latest_invocation);
    spread.sort_unstable_by_key(|block| block.earliest_completion);
    let overlapping = spread.windows(2).filter_map(|pair| match pair {
        [one, other] if other.earliest_completion < one.latest_invocation => Some((*one, *other)),
        _ => None,
    });
    let shows = |pair: &(Block, Block)| pair.0.latest_invocation.max(pair.1.latest_invocation);
    let within = |block: Block| {
        let next = spread.partition_point(|s| s.earliest_completion < block.latest_invocation);
        let around = spread[next.checked_sub(1)?];
        (block.earliest_completion < around.latest_invocation).then_some((block, around))
    };
    // The search for what surrounds a tight block needs spread blocks that do not overlap.
    let first = overlapping.min_by_key(shows);
    let first = first.or_else(|| tight.into_iter().filter_map(within).min_by_key(shows));
    first.map(|(one, other)| (one.root, other.root))
}

#[cfg(test)]
impl Block {
    pub fn lower_end(&self) -> u32 {
        self.earliest_completion.min(self.latest_invocation)
    }
}
