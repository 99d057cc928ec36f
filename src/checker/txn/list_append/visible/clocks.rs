//! What happened before what, by sessions and by who saw whose appends.

use std::collections::VecDeque;

use super::knot::{Append, Knot, Seen, UNSEEN};
use crate::checker::Budget;
use crate::checker::txn::cycles::CycleStep;
use crate::checker::txn::graph::{Edges, Graph, rel};
use crate::checker::txn::table::NONE;

/// Steps of sessions and of reads, between the members of a knot. Further nodes stand for all who appended to
/// a key up to a place.
pub fn happened_before(knot: &Knot) -> Graph {
    let mut edges = Edges::new(knot.len());
    for (member, previous) in (0..).zip(&knot.previous) {
        if let Some(previous) = previous {
            edges.add(*previous, member, rel::PROCESS);
        }
    }
    let mut by_place: Vec<&Append> =
        knot.appends.iter().filter(|append| append.first != UNSEEN).collect();
    by_place.sort_unstable_by_key(|append| (append.key, append.first));
    let nodes: Vec<u32> = by_place.iter().map(|_| edges.add_node()).collect();
    for (at, append) in by_place.iter().enumerate() {
        edges.add(append.member, nodes[at], rel::WR);
        if at > 0 && by_place[at - 1].key == append.key {
            edges.add(nodes[at - 1], nodes[at], rel::WR);
        }
    }
    for reader in 0..knot.len() as u32 {
        for read in knot.reads(reader) {
            let is_before = |append: &&Append| (append.key, append.first) < (read.key, read.count);
            let mut seen = by_place.partition_point(is_before);
            // What it appended itself it need not have seen from others.
            while seen > 0 && by_place[seen - 1].member == reader {
                seen -= 1;
            }
            if seen > 0 && by_place[seen - 1].key == read.key {
                edges.add(nodes[seen - 1], reader, rel::WR);
            }
        }
    }
    edges.into_graph()
}

/// For each node and session, how many of the session's transactions happened before it.
pub struct Clocks {
    sessions: usize,
    counts: Vec<u32>,
}

/// Why there are none.
pub enum NoClocks {
    /// What happened before has a cycle.
    Cycle,
    Budget(&'static str),
}

impl Clocks {
    pub fn of(knot: &Knot, before: &Graph, budget: &Budget) -> Result<Clocks, NoClocks> {
        let size = before.nodes().saturating_mul(knot.sessions);
        if size.saturating_mul(4) > budget.memory {
            return Err(NoClocks::Budget(
                "the memory does not suffice to tell what happened before what",
            ));
        }
        let mut clocks = Clocks { sessions: knot.sessions, counts: vec![0; size] };
        let mut waits = vec![0_u32; before.nodes()];
        let all = 0..before.nodes() as u32;
        all.clone().flat_map(|node| before.out(node)).for_each(|(to, _)| waits[to as usize] += 1);
        let mut ready: Vec<u32> = all.filter(|node| waits[*node as usize] == 0).collect();
        let mut done = 0;
        while let Some(node) = ready.pop() {
            done += 1;
            if done % 4096 == 0 && (budget.exhausted)() {
                return Err(NoClocks::Budget(
                    "the time ended before it was told what happened before what",
                ));
            }
            for (to, _) in before.out(node) {
                clocks.join(knot, node, to);
                waits[to as usize] -= 1;
                if waits[to as usize] == 0 {
                    ready.push(to);
                }
            }
        }
        if done == before.nodes() { Ok(clocks) } else { Err(NoClocks::Cycle) }
    }

    fn join(&mut self, knot: &Knot, from: u32, to: u32) {
        let (source, target) = (from as usize * self.sessions, to as usize * self.sessions);
        for at in 0..self.sessions {
            self.counts[target + at] = self.counts[target + at].max(self.counts[source + at]);
        }
        if let Some(session) = knot.session.get(from as usize) {
            let count = &mut self.counts[target + *session as usize];
            *count = (*count).max(knot.turn[from as usize] + 1);
        }
    }

    /// Who happened before the reader, and appended what its read did not see.
    pub fn missed(&self, knot: &Knot, reader: u32, read: Seen) -> Option<u32> {
        let clock = &self.counts[reader as usize * self.sessions..][..self.sessions];
        let mut rest = knot.appends_to(read.key);
        while !rest.is_empty() {
            let session = knot.appends[rest.start].session;
            let same = |append: &Append| append.session == session;
            let end = rest.start + knot.appends[rest.clone()].partition_point(same);
            let missed = knot.beyond(rest.start..end, clock[session as usize], read);
            if missed.is_some() {
                return missed;
            }
            rest.start = end;
        }
        None
    }
}

/// The fewest steps of these kinds from one member to another.
pub fn way(knot: &Knot, graph: &Graph, (from, to): (u32, u32), mask: u8) -> Option<Vec<CycleStep>> {
    let mut parent = vec![NONE; graph.nodes()];
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front().filter(|node| *node != to) {
        for (next, kind) in graph.out(node) {
            if kind & mask != 0 && next != from && parent[next as usize] == NONE {
                parent[next as usize] = node;
                queue.push_back(next);
            }
        }
    }
    let mut steps = Vec::new();
    let (mut node, mut end) = (to, to);
    while node != from {
        let before = *parent.get(node as usize).filter(|parent| **parent != NONE)?;
        if (before as usize) < knot.len() {
            let mut out = graph.out(before);
            let kind = out.find(|(next, kind)| *next == node && kind & mask != 0)?.1;
            let id = |member: u32| knot.members[member as usize];
            steps.push(CycleStep { from: id(before), to: id(end), kind });
            end = before;
        }
        node = before;
    }
    steps.reverse();
    Some(steps)
}
