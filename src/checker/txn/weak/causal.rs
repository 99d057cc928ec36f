//! Causal consistency: of everything that happened before a transaction, by session order and reads,
//! it sees all or something later.
//!
//! Algorithm 3 of AWDIT (Møldrup and Pavlogiannis, PLDI 2025): O(n k) in the accesses n and sessions
//! k, with a vector clock for each transaction. An order that already follows from what happened
//! before is not noted again, so the inferred edges stay few.

use super::committed::{Committed, INITIAL, Read};
use super::order::{Inferred, Order, Rule};

/// For each transaction and session, how many of the session's transactions happened before it.
pub(crate) struct Clocks {
    sessions: usize,
    counts: Vec<u32>,
}

/// Why there is no causal order to speak of.
pub(crate) enum NoClocks {
    /// What happened before has a cycle.
    Cycle,
    TooLarge,
    OutOfTime,
}

impl Clocks {
    fn of(&self, node: u32) -> &[u32] {
        let start = node as usize * self.sessions;
        &self.counts[start..start + self.sessions]
    }

    /// Whether one transaction happened before another.
    fn before(&self, committed: &Committed, one: u32, other: u32) -> bool {
        if one == INITIAL || other == INITIAL {
            return one == INITIAL && other != INITIAL;
        }
        let session = committed.session[one as usize];
        committed.place[one as usize] < self.of(other)[session as usize]
    }

    pub fn new(
        committed: &Committed,
        memory: usize,
        exhausted: &dyn Fn() -> bool,
    ) -> Result<Clocks, NoClocks> {
        let sessions = committed.sessions.len();
        let size = committed.len().saturating_mul(sessions);
        if size.saturating_mul(4) > memory {
            return Err(NoClocks::TooLarge);
        }
        let mut clocks = Clocks { sessions, counts: vec![0; size] };
        let order = Order::of(committed, Vec::new());
        for (count, node) in order.topological().ok_or(NoClocks::Cycle)?.into_iter().enumerate() {
            if count.is_multiple_of(4096) && exhausted() {
                return Err(NoClocks::OutOfTime);
            }
            clocks.set(committed, node);
        }
        Ok(clocks)
    }

    fn set(&mut self, committed: &Committed, node: u32) {
        let session = committed.session_predecessor(node);
        let readers = committed.reads(node).iter().map(|read| read.writer);
        for before in session.into_iter().chain(readers).filter(|other| *other != INITIAL) {
            let (own, other) = (node as usize * self.sessions, before as usize * self.sessions);
            for at in 0..self.sessions {
                self.counts[own + at] = self.counts[own + at].max(self.counts[other + at]);
            }
            let at = own + committed.session[before as usize] as usize;
            self.counts[at] = self.counts[at].max(committed.place[before as usize] + 1);
        }
    }
}

/// Who wrote each key: session by session, in order.
pub(crate) struct WritersOf {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl WritersOf {
    pub fn of(committed: &Committed) -> WritersOf {
        let keys = committed.registers.table.keys.len();
        let mut starts = vec![0_u32; keys + 1];
        for node in 0..committed.len() as u32 {
            for key in committed.writes(node) {
                starts[*key as usize + 1] += 1;
            }
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; starts[keys] as usize];
        for node in committed.sessions.iter().flatten() {
            for key in committed.writes(*node) {
                nodes[next[*key as usize] as usize] = *node;
                next[*key as usize] += 1;
            }
        }
        WritersOf { starts, nodes }
    }

    pub fn get(&self, key: u32) -> &[u32] {
        let (start, end) = (self.starts[key as usize], self.starts[key as usize + 1]);
        &self.nodes[start as usize..end as usize]
    }
}

pub(crate) fn infer(
    committed: &Committed,
    clocks: &Clocks,
    writers: &WritersOf,
    node: u32,
    into: &mut Vec<Inferred>,
) {
    for read in committed.reads(node) {
        let mut rest = writers.get(read.key);
        while let Some(first) = rest.first() {
            let session = committed.session[*first as usize];
            let end = rest.partition_point(|other| committed.session[*other as usize] <= session);
            infer_from_session(committed, clocks, node, *read, &rest[..end], into);
            rest = &rest[end..];
        }
    }
}

/// The last of a session's writers of the key that happened before the reader was overwritten by what
/// the reader read; so were those before it.
fn infer_from_session(
    committed: &Committed,
    clocks: &Clocks,
    reader: u32,
    read: Read,
    writers: &[u32],
    into: &mut Vec<Inferred>,
) {
    let session = committed.session[writers[0] as usize];
    let seen = clocks.of(reader)[session as usize];
    let count = writers.partition_point(|writer| committed.place[*writer as usize] < seen);
    let Some(&from) = writers[..count].last() else { return };
    let to = read.writer;
    if from != to && !clocks.before(committed, from, to) {
        into.push(Inferred { from, to, reader, key: read.key, rule: Rule::Causal });
    }
}
