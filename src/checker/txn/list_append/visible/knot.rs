//! Transactions that lie on cycles together: their sessions, what they appended and read.

use rustc_hash::FxHashMap;

use crate::checker::txn::list_append::versions::Versions;
use crate::checker::txn::table::{MicroOp, Outcome, Table};

/// The place of what no read has seen: after all that any read saw.
pub const UNSEEN: u32 = u32::MAX;

/// What one transaction appended to a key. Transactions are numbered within the knot.
#[derive(Clone, Copy, Debug)]
pub struct Append {
    pub key: u32,
    pub session: u32,
    /// Its turn in the session.
    pub turn: u32,
    pub member: u32,
    /// The places in the key's order of the first and the last that it appended.
    pub first: u32,
    pub last: u32,
}

/// A read: how many elements of a key's order it saw.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub key: u32,
    pub count: u32,
}

pub struct Knot<'a> {
    pub table: &'a Table,
    pub versions: &'a Versions,
    /// By number the transaction, ascending.
    pub members: &'a [u32],
    pub session: Vec<u32>,
    pub turn: Vec<u32>,
    pub sessions: usize,
    /// By number the one before in its process.
    pub previous: Vec<Option<u32>>,
    /// By key, session and turn.
    pub appends: Vec<Append>,
    /// By append the one that reached furthest, of its session's up to it.
    furthest: Vec<u32>,
}

impl<'a> Knot<'a> {
    pub fn of(table: &'a Table, versions: &'a Versions, members: &'a [u32]) -> Knot<'a> {
        let mut knot = Knot {
            table,
            versions,
            members,
            session: Vec::with_capacity(members.len()),
            turn: Vec::with_capacity(members.len()),
            sessions: 0,
            previous: Vec::with_capacity(members.len()),
            appends: Vec::new(),
            furthest: Vec::new(),
        };
        knot.seat();
        for member in 0..members.len() as u32 {
            knot.collect(member);
        }
        knot.appends.sort_unstable_by_key(|append| (append.key, append.session, append.turn));
        knot.look_back();
        knot
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Each process is a session; one that ended indeterminate may act late, and is a session by itself.
    fn seat(&mut self) {
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        for (member, id) in (0..).zip(self.members) {
            let txn = self.table.txn(*id);
            let previous = last.get(&txn.process).copied();
            self.previous.push(previous);
            let place = previous.filter(|_| txn.is_ok());
            let (session, turn) = match place.map(|before| before as usize) {
                Some(before) => (self.session[before], self.turn[before] + 1),
                None => (self.sessions as u32, 0),
            };
            self.sessions += usize::from(place.is_none());
            self.session.push(session);
            self.turn.push(turn);
            if txn.outcome == Outcome::Ok {
                last.insert(txn.process, member);
            }
        }
    }

    fn collect(&mut self, member: u32) {
        let start = self.appends.len();
        let (session, turn) = (self.session[member as usize], self.turn[member as usize]);
        for op in self.table.micro_ops(self.members[member as usize]) {
            let MicroOp::Write { key, value } = *op else { continue };
            let place = self.versions.place(key, value).unwrap_or(UNSEEN);
            self.appends.push(Append { key, session, turn, member, first: place, last: place });
        }
        self.appends[start..].sort_unstable_by_key(|append| append.key);
        let mut kept = start;
        for at in start..self.appends.len() {
            let append = self.appends[at];
            if kept > start && self.appends[kept - 1].key == append.key {
                let same = &mut self.appends[kept - 1];
                same.first = same.first.min(append.first);
                same.last = same.last.max(append.last);
            } else {
                self.appends[kept] = append;
                kept += 1;
            }
        }
        self.appends.truncate(kept);
    }

    fn look_back(&mut self) {
        for at in 0..self.appends.len() {
            let append = self.appends[at];
            let before = at.checked_sub(1).filter(|before| {
                let other = self.appends[*before];
                (other.key, other.session) == (append.key, append.session)
            });
            let best = before.map(|before| self.furthest[before]);
            let best = best.filter(|best| self.appends[*best as usize].last >= append.last);
            self.furthest.push(best.unwrap_or(at as u32));
        }
    }

    /// What an ok transaction read, where that lies in the key's order.
    pub fn reads(&self, member: u32) -> impl Iterator<Item = Seen> {
        let id = self.members[member as usize];
        let ok = self.table.txn(id).is_ok();
        let ops = self.table.micro_ops(id).iter().filter(move |_| ok);
        ops.filter_map(move |op| {
            let MicroOp::ReadList { key, read } = *op else { return None };
            let count = self.versions.place_after(self.table, key, read)? as u32;
            Some(Seen { key, count })
        })
    }

    /// The appends to a key.
    pub fn appends_to(&self, key: u32) -> std::ops::Range<usize> {
        let start = self.appends.partition_point(|append| append.key < key);
        let length = self.appends[start..].partition_point(|append| append.key == key);
        start..start + length
    }

    /// Among a session's first transactions, of those that appended to the key these, who appended
    /// something that a read did not see.
    pub fn beyond(&self, appends: std::ops::Range<usize>, turns: u32, read: Seen) -> Option<u32> {
        let start = appends.start;
        let seen = self.appends[appends].partition_point(|append| append.turn < turns);
        let best = self.furthest[start + seen.checked_sub(1)?];
        let append = self.appends[best as usize];
        (append.last >= read.count).then_some(append.member)
    }

    /// Who came before in the reader's session, and appended what it did not see.
    pub fn overlooked(&self, reader: u32, read: Seen) -> Option<u32> {
        let all = self.appends_to(read.key);
        let session = self.session[reader as usize];
        let start = all.start
            + self.appends[all.clone()].partition_point(|append| append.session < session);
        let length =
            self.appends[start..all.end].partition_point(|append| append.session == session);
        self.beyond(start..start + length, self.turn[reader as usize], read)
    }
}
