//! Read committed: once a transaction has read from another, its later reads are not older than what
//! that one wrote.
//!
//! Algorithm 1 of AWDIT (Møldrup and Pavlogiannis, PLDI 2025): O(n^1.5) in the accesses n, since of
//! each written-to set and the set of later reads the smaller is gone through.

use rustc_hash::FxHashMap;

use super::committed::{Committed, Read};
use super::order::{Inferred, Rule};

/// The next two different writers that a key will be read from.
type Ahead = (Read, Option<Read>);

pub(crate) fn infer(committed: &Committed, node: u32, into: &mut Vec<Inferred>) {
    let reads = committed.reads(node);
    if reads.len() < 2 {
        return;
    }
    let mut first_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, read) in reads.iter().enumerate() {
        first_of.entry(read.writer).or_insert(place);
    }
    let mut ahead: FxHashMap<u32, Ahead> = FxHashMap::default();
    for (place, read) in reads.iter().enumerate().rev() {
        if first_of.get(&read.writer) == Some(&place) {
            overwritten(committed, node, read.writer, &ahead, into);
        }
        look_ahead(&mut ahead, *read);
    }
}

fn look_ahead(ahead: &mut FxHashMap<u32, Ahead>, read: Read) {
    ahead
        .entry(read.key)
        .and_modify(|(next, other)| {
            if next.writer != read.writer {
                (*next, *other) = (read, Some(*next));
            }
        })
        .or_insert((read, None));
}

/// What `seen` wrote and the node is yet to read from another was there before `seen`.
fn overwritten(
    committed: &Committed,
    node: u32,
    seen: u32,
    ahead: &FxHashMap<u32, Ahead>,
    into: &mut Vec<Inferred>,
) {
    let mut note = |key: u32, (next, other): &Ahead| {
        let read = match next.writer == seen {
            false => Some(next),
            true => other.as_ref(),
        };
        if let Some(read) = read {
            let rule = Rule::ReadBefore;
            into.push(Inferred { from: seen, to: read.writer, reader: node, key, rule });
        }
    };
    let written = committed.writes(seen);
    // The initial state lists no keys, and being before all it overwrites nothing.
    if written.len() < ahead.len() {
        for key in written {
            if let Some(reads) = ahead.get(key) {
                note(*key, reads);
            }
        }
    } else {
        let mut keys: Vec<_> =
            ahead.iter().filter(|(key, _)| committed.wrote(seen, **key)).collect();
        keys.sort_unstable_by_key(|(key, _)| **key);
        keys.into_iter().for_each(|(key, reads)| note(*key, reads));
    }
}
