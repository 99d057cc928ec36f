//! The committed transactions as nodes in sessions, with what each read from whom.
//!
//! Node 0 is the initial state: a transaction before all others that wrote every key.

use crate::checker::txn::rw_register::footprint::Footprints;
use crate::checker::txn::rw_register::initial::InitialVersions;
use crate::checker::txn::rw_register::versions::{Registers, Writer};
use crate::checker::txn::table::{NONE, Outcome};
use rustc_hash::FxHashMap;

/// The node of the initial state.
pub(crate) const INITIAL: u32 = 0;

/// A read of another transaction's write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub key: u32,
    pub version: u32,
    pub writer: u32,
}

#[derive(Debug)]
pub(crate) struct Committed<'a> {
    pub registers: &'a Registers<'a>,
    /// The transaction of a node; `NONE` for the initial state.
    pub txns: Vec<u32>,
    pub session: Vec<u32>,
    /// The place in its session.
    pub place: Vec<u32>,
    pub sessions: Vec<Vec<u32>>,
    reads: Vec<Read>,
    read_ends: Vec<u32>,
    writes: Vec<u32>,
    write_ends: Vec<u32>,
}

impl<'a> Committed<'a> {
    pub fn of(
        registers: &'a Registers<'a>,
        prints: &Footprints,
        initial: &InitialVersions,
    ) -> Committed<'a> {
        let mut node_of = vec![NONE; registers.table.len()];
        let mut all = Committed {
            registers,
            txns: vec![NONE],
            session: vec![NONE],
            place: vec![0],
            sessions: Vec::new(),
            reads: Vec::new(),
            read_ends: vec![0],
            writes: Vec::new(),
            write_ends: vec![0],
        };
        let mut open = FxHashMap::default();
        for txn in 0..registers.table.len() as u32 {
            if prints.is_committed(registers, txn) {
                node_of[txn as usize] = all.txns.len() as u32;
                all.seat(txn, &mut open);
            }
        }
        for node in 1..all.txns.len() as u32 {
            all.add(node, prints, &node_of, initial);
        }
        all
    }

    /// Gives a transaction its node and place in the session of its process.
    ///
    /// One that ended indeterminate may take effect late: its process goes on in a new session.
    fn seat(&mut self, txn: u32, open: &mut FxHashMap<u32, u32>) {
        let node = self.txns.len() as u32;
        let known = self.registers.table.txn(txn);
        let session = *open.entry(known.process).or_insert_with(|| {
            self.sessions.push(Vec::new());
            self.sessions.len() as u32 - 1
        });
        let members = &mut self.sessions[session as usize];
        self.txns.push(txn);
        self.session.push(session);
        self.place.push(members.len() as u32);
        members.push(node);
        if known.outcome == Outcome::Info {
            open.remove(&known.process);
        }
    }

    fn add(&mut self, node: u32, prints: &Footprints, node_of: &[u32], initial: &InitialVersions) {
        let txn = self.txns[node as usize];
        for &version in prints.reads.of(txn) {
            let key = self.registers.key(version);
            let writer = match self.registers.versions[version as usize].writer {
                Writer::One(writer) => node_of[writer as usize],
                Writer::Nobody if initial.is(version) => INITIAL,
                Writer::Nobody | Writer::Failed(_) | Writer::Several => NONE,
            };
            if writer != NONE && writer != node {
                self.reads.push(Read { key, version, writer });
            }
        }
        self.read_ends.push(self.reads.len() as u32);
        let start = self.writes.len();
        let keys = prints.writes.of(txn).iter();
        self.writes.extend(keys.map(|version| self.registers.key(*version)));
        self.writes[start..].sort_unstable();
        self.write_ends.push(self.writes.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.txns.len()
    }

    /// In the order of the program.
    pub fn reads(&self, node: u32) -> &[Read] {
        slice(&self.reads, &self.read_ends, node)
    }

    /// The keys that it wrote, ascending; of the initial state none, for it wrote all.
    pub fn writes(&self, node: u32) -> &[u32] {
        slice(&self.writes, &self.write_ends, node)
    }

    pub fn wrote(&self, node: u32, key: u32) -> bool {
        node == INITIAL || self.writes(node).binary_search(&key).is_ok()
    }

    /// The transaction before in its session; the initial state before the first.
    pub fn session_predecessor(&self, node: u32) -> Option<u32> {
        if node == INITIAL {
            return None;
        }
        let members = &self.sessions[self.session[node as usize] as usize];
        Some(match self.place[node as usize] {
            0 => INITIAL,
            place => members[place as usize - 1],
        })
    }

    /// Whether one transaction comes before another in the same session, or is the initial state.
    pub fn is_in_session_before(&self, one: u32, other: u32) -> bool {
        one != other
            && (one == INITIAL
                || other != INITIAL
                    && self.session[one as usize] == self.session[other as usize]
                    && self.place[one as usize] < self.place[other as usize])
    }
}

fn slice<'s, T>(items: &'s [T], ends: &[u32], node: u32) -> &'s [T] {
    let start = match node {
        0 => 0,
        _ => ends[node as usize - 1],
    };
    &items[start as usize..ends[node as usize] as usize]
}
