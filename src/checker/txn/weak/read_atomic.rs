//! Read atomic: of a transaction that is earlier in the reader's session, or that it reads from, it
//! sees all or something later.
//!
//! Algorithm 2 of AWDIT (Møldrup and Pavlogiannis, PLDI 2025): O(n^1.5) in the accesses n. That
//! a key is read the same twice is `internal`, and checked apart.

use rustc_hash::FxHashMap;

use super::committed::{Committed, INITIAL};
use super::order::{Inferred, Rule};

pub(crate) fn infer_session(committed: &Committed, session: &[u32], into: &mut Vec<Inferred>) {
    let mut last_writer: FxHashMap<u32, u32> = FxHashMap::default();
    for node in session {
        for read in committed.reads(*node) {
            if let Some(from) = last_writer.get(&read.key)
                && *from != read.writer
            {
                let (to, reader, key) = (read.writer, *node, read.key);
                into.push(Inferred { from: *from, to, reader, key, rule: Rule::Session });
            }
        }
        infer_reads(committed, *node, into);
        for key in committed.writes(*node) {
            last_writer.insert(*key, *node);
        }
    }
}

/// Of each transaction that the node reads from: what else it wrote, the node sees or sees replaced.
fn infer_reads(committed: &Committed, node: u32, into: &mut Vec<Inferred>) {
    let reads = committed.reads(node);
    if reads.len() < 2 {
        return;
    }
    let mut writers: Vec<u32> = reads.iter().map(|read| read.writer).collect();
    writers.sort_unstable();
    writers.dedup();
    let mut by_key: Vec<(u32, u32)> = reads.iter().map(|read| (read.key, read.writer)).collect();
    by_key.sort_unstable();
    by_key.dedup();
    for from in writers.into_iter().filter(|writer| *writer != INITIAL) {
        let mut note = |key: u32, to: u32| {
            if to != from {
                into.push(Inferred { from, to, reader: node, key, rule: Rule::ReadFrom });
            }
        };
        let written = committed.writes(from);
        if written.len() < by_key.len() {
            for key in written {
                let start = by_key.partition_point(|(other, _)| other < key);
                let same = by_key[start..].iter().take_while(|(other, _)| other == key);
                same.for_each(|(_, to)| note(*key, *to));
            }
        } else {
            let both = by_key.iter().filter(|(key, _)| written.binary_search(key).is_ok());
            both.for_each(|(key, to)| note(*key, *to));
        }
    }
}
