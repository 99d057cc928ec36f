//! Who depends on whom: by the order of each key's elements.

use super::versions::{Unseen, Versions, effective};
use crate::checker::txn::graph::{Edges, rel};
use crate::checker::txn::table::{ListRead, MicroOp, NONE, Table};

/// From how many edges on nodes stand for several of the appends that no read of a key has seen.
const MANY: usize = 16;

/// All dependencies, linear in the micro-operations.
pub fn add(table: &Table, versions: &Versions, edges: &mut Edges) {
    // Transactions that read all there is of a key, to which somebody appended unseen.
    let mut at_the_end: Vec<(u32, u32)> = Vec::new();
    for (id, _) in table.txns().filter(|(_, txn)| txn.is_ok()) {
        for op in table.micro_ops(id) {
            let MicroOp::ReadList { key, read } = *op else { continue };
            let Some(place) = versions.place_after(table, key, read) else {
                wrote(table, versions, edges, (id, key, read));
                continue;
            };
            let last =
                place.checked_sub(1).and_then(|last| effective(table, versions.writers(key)[last]));
            if let Some(writer) = last {
                edges.add(writer, id, rel::WR);
            }
            match versions.next(key, place) {
                Some(next) => edges.add(id, next, rel::RW),
                None => at_the_end.push((key, id)),
            }
        }
    }
    for key in 0..table.keys.len() as u32 {
        follow(table, versions, edges, key);
    }
    at_the_end.sort_unstable();
    at_the_end.dedup();
    for readers in at_the_end.chunk_by(|one, other| one.0 == other.0) {
        overlooked(versions, edges, readers);
    }
}

fn wrote(
    table: &Table,
    versions: &Versions,
    edges: &mut Edges,
    (id, key, read): (u32, u32, ListRead),
) {
    let Some(last) = table.lists.seen(read).last() else { return };
    let writer = versions.writer(key, *last).and_then(|writer| effective(table, writer));
    if let Some(writer) = writer {
        edges.add(writer, id, rel::WR);
    }
}

/// Each append follows the one before it in the key's order; those that no read has seen follow the last.
fn follow(table: &Table, versions: &Versions, edges: &mut Edges, key: u32) {
    let mut before = NONE;
    for writer in versions.writers(key) {
        let Some(writer) = effective(table, *writer) else { continue };
        if before != NONE {
            edges.add(before, writer, rel::WW);
        }
        before = writer;
    }
    if before != NONE {
        for unseen in versions.unseen_of(key) {
            edges.add(before, unseen.txn, rel::WW);
        }
    }
}

/// Who read all that any read saw overlooked every append that none saw, but for his own.
fn overlooked(versions: &Versions, edges: &mut Edges, readers: &[(u32, u32)]) {
    let unseen = versions.unseen_of(readers[0].0);
    if unseen.len() <= 1 || readers.len() * unseen.len() <= MANY {
        for (_, reader) in readers {
            unseen.iter().for_each(|unseen| edges.add(*reader, unseen.txn, rel::RW));
        }
        return;
    }
    let (before, after) = (chain(edges, unseen.iter()), chain(edges, unseen.iter().rev()));
    for (_, reader) in readers {
        let first = unseen.partition_point(|unseen| unseen.txn < *reader);
        let last = unseen.partition_point(|unseen| unseen.txn <= *reader);
        for (nodes, length) in [(&before, first), (&after, unseen.len() - last)] {
            if length > 0 {
                edges.add(*reader, nodes[length - 1], rel::RW);
            }
        }
    }
}

/// A node for each beginning of a list of appends: it stands for all of them.
fn chain<'a>(edges: &mut Edges, unseen: impl Iterator<Item = &'a Unseen>) -> Vec<u32> {
    let mut nodes: Vec<u32> = Vec::new();
    for unseen in unseen {
        let node = edges.add_node();
        edges.add(node, unseen.txn, rel::PASS);
        if let Some(before) = nodes.last() {
            edges.add(node, *before, rel::PASS);
        }
        nodes.push(node);
    }
    nodes
}
