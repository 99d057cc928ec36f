//! Dependencies between transactions: who read from whom, and what follows from the order of versions.
//!
//! Where many read a version that many may follow, they lead to a node that stands for the followers;
//! a reader that is itself among the followers leads to those before it and those behind it. So there
//! are as many edges as reads and version edges together.

use super::footprint::{Footprints, OwnWrites};
use super::version_order::VersionOrder;
use super::versions::{Registers, Writer};
use crate::checker::txn::graph::{Edges, rel};
use crate::checker::txn::table::NONE;

/// Committed transactions by what they finally wrote and first read.
pub(crate) struct Users {
    /// By version: who wrote it for others to see.
    writer: Vec<u32>,
    reader_starts: Vec<u32>,
    readers: Vec<u32>,
}

impl Users {
    pub fn of(registers: &Registers, prints: &Footprints) -> Users {
        let mut writer = vec![NONE; registers.versions.len()];
        let mut reads: Vec<(u32, u32)> = Vec::new();
        let mut met = OwnWrites::of(registers);
        for (txn, known) in registers.table.txns() {
            if !prints.is_committed(registers, txn) {
                continue;
            }
            for version in prints.writes.of(txn) {
                if registers.versions[*version as usize].writer == Writer::One(txn) {
                    writer[*version as usize] = txn;
                }
            }
            if known.is_ok() {
                let versions = prints.reads.of(txn).iter();
                let first = versions.filter(|v| met.put(txn, registers.key(**v), 0).is_none());
                reads.extend(first.map(|version| (*version, txn)));
            }
        }
        let (reader_starts, readers) = by_version(registers.versions.len(), &reads);
        Users { writer, reader_starts, readers }
    }

    /// Whoever finally wrote it and took effect; [`NONE`] if nobody surely did.
    pub fn writer(&self, version: u32) -> u32 {
        self.writer[version as usize]
    }

    pub fn readers(&self, version: u32) -> &[u32] {
        let start = self.reader_starts[version as usize];
        &self.readers[start as usize..self.reader_starts[version as usize + 1] as usize]
    }
}

fn by_version(versions: usize, reads: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; versions + 1];
    for (version, _) in reads {
        starts[*version as usize + 1] += 1;
    }
    for version in 0..versions {
        starts[version + 1] += starts[version];
    }
    let mut next = starts.clone();
    let mut readers = vec![NONE; reads.len()];
    for (version, txn) in reads {
        readers[next[*version as usize] as usize] = *txn;
        next[*version as usize] += 1;
    }
    (starts, readers)
}

pub(crate) fn dependencies(users: &Users, order: &VersionOrder, edges: &mut Edges) {
    let mut followers = Vec::new();
    for version in 0..users.writer.len() as u32 {
        let (writer, readers) = (users.writer(version), users.readers(version));
        follow(users, order, version, &mut followers);
        if writer != NONE {
            readers.iter().for_each(|reader| edges.add(writer, *reader, rel::WR));
            // As Elle has it: who read what it replaced depends on it by that, and not by its write.
            let unread = followers.iter().filter(|f| readers.binary_search(f).is_err());
            unread.for_each(|follower| edges.add(writer, *follower, rel::WW));
        }
        anti_depend(readers, &followers, edges);
    }
}

/// Only who did not read what replaced what it read, by this order.
pub(crate) fn anti_dependencies(users: &Users, order: &VersionOrder, edges: &mut Edges) {
    let mut followers = Vec::new();
    for version in 0..users.writer.len() as u32 {
        let readers = users.readers(version);
        if !readers.is_empty() {
            follow(users, order, version, &mut followers);
            anti_depend(readers, &followers, edges);
        }
    }
}

/// Who wrote what is known to come after a version, each once and in order.
fn follow(users: &Users, order: &VersionOrder, version: u32, followers: &mut Vec<u32>) {
    followers.clear();
    followers.extend(order.after(version).iter().map(|edge| users.writer(edge.to)));
    followers.retain(|follower| *follower != NONE);
    followers.sort_unstable();
    followers.dedup();
}

/// From every reader to every follower but itself.
fn anti_depend(readers: &[u32], followers: &[u32], edges: &mut Edges) {
    if readers.len() < 3 || followers.len() < 3 {
        for reader in readers {
            followers.iter().for_each(|follower| edges.add(*reader, *follower, rel::RW));
        }
        return;
    }
    // Node `i` of the one stands for the followers up to `i`, of the other for those from `i` on.
    let up_to = chain(followers.iter(), edges);
    let mut from_on = Vec::new();
    for reader in readers {
        let Ok(own) = followers.binary_search(reader) else {
            edges.add(*reader, up_to[followers.len() - 1], rel::RW);
            continue;
        };
        if from_on.is_empty() {
            from_on = chain(followers.iter().rev(), edges);
            from_on.reverse();
        }
        if own > 0 {
            edges.add(*reader, up_to[own - 1], rel::RW);
        }
        if let Some(node) = from_on.get(own + 1) {
            edges.add(*reader, *node, rel::RW);
        }
    }
}

/// A node for each follower that leads to it and to the node before.
fn chain<'a>(followers: impl Iterator<Item = &'a u32>, edges: &mut Edges) -> Vec<u32> {
    let mut nodes: Vec<u32> = Vec::new();
    for follower in followers {
        let node = edges.add_node();
        edges.add(node, *follower, rel::PASS);
        if let Some(before) = nodes.last() {
            edges.add(node, *before, rel::PASS);
        }
        nodes.push(node);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rng::Rng;

    /// The transactions that an anti-dependency leads to, be it by way of groups.
    fn overwriters(edges: Edges, reader: u32) -> BTreeSet<u32> {
        let graph = edges.into_graph();
        let mut waiting: Vec<(u32, u8)> = graph.out(reader).collect();
        let mut found = BTreeSet::new();
        while let Some((node, kind)) = waiting.pop() {
            assert!(kind == rel::RW || kind == rel::PASS);
            match node < graph.txns {
                true => drop(found.insert(node)),
                false => waiting.extend(graph.out(node)),
            }
        }
        found
    }

    #[test]
    fn every_reader_comes_before_every_follower_but_itself() {
        const TXNS: u32 = 12;
        for seed in 0..300 {
            let mut rng = Rng::from_seed(seed);
            let share = *rng.pick(&[0.1, 0.4, 0.8]).expect("a share");
            let mut some = || (0..TXNS).filter(|_| rng.chance(share)).collect::<Vec<u32>>();
            let (readers, followers) = (some(), some());
            for reader in 0..TXNS {
                let mut edges = Edges::new(TXNS as usize);
                anti_depend(&readers, &followers, &mut edges);
                let mut expected: BTreeSet<u32> = followers.iter().copied().collect();
                expected.remove(&reader);
                if !readers.contains(&reader) {
                    expected.clear();
                }
                let found = overwriters(edges, reader);
                assert_eq!(found, expected, "seed {seed}: {reader} of {readers:?}, {followers:?}");
            }
        }
    }
}
