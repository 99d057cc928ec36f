//! How one transaction happened before another.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::checker::txn::weak::committed::Committed;
use crate::checker::txn::weak::order::Step;

/// The fewest steps of reads, and of processes if they count, by breadth and backwards.
pub(super) fn hops(committed: &Committed, from: u32, to: u32, processes: bool) -> Vec<Step> {
    let mut after: FxHashMap<u32, Step> = FxHashMap::default();
    let mut queue = VecDeque::from([to]);
    while let Some(node) = queue.pop_front().filter(|node| *node != from) {
        let session = committed.session_predecessor(node).filter(|_| processes);
        let session = session.map(|before| Step::Session { from: before, to: node });
        let reads = committed.reads(node).iter();
        let reads =
            reads.map(|read| Step::ReadFrom { from: read.writer, to: node, version: read.version });
        for step in session.into_iter().chain(reads) {
            if let Entry::Vacant(slot) = after.entry(step.from()) {
                slot.insert(step);
                queue.push_back(step.from());
            }
        }
    }
    let mut hops = Vec::new();
    let mut node = from;
    while let Some(step) = after.get(&node).filter(|_| node != to) {
        hops.push(*step);
        node = match step {
            Step::Session { to, .. } | Step::ReadFrom { to, .. } => *to,
            Step::Inferred(inferred) => inferred.to,
        };
    }
    hops
}
