//! What a server keeps on its disk: epochs, a snapshot of committed state and the log after it.

use std::collections::VecDeque;
use std::rc::Rc;

use super::Zxid;
use super::tree::Tree;
use super::txn::Txn;
use crate::op::{MILLISECOND, Nanos};

/// How long the planted bug that acknowledges before it flushes puts off flushing.
const LAZY_FLUSH: Nanos = 500 * MILLISECOND;
/// Log entries after which committed ones are folded into a snapshot. Tests shall see it happen.
const SNAPSHOT_EVERY: usize = if cfg!(test) { 300 } else { 20_000 };
/// Folded entries that are kept to bring servers up to date that lag just a little.
const RETAINED: usize = if cfg!(test) { 100 } else { 500 };

#[derive(Debug, Default)]
pub struct Storage {
    /// The last epoch that this server promised to follow.
    pub accepted_epoch: u32,
    /// The last epoch whose leader's history it has taken over.
    pub current_epoch: u32,
    snapshot: Rc<Tree>,
    /// Begins somewhat before the snapshot, so that the two overlap.
    log: VecDeque<Rc<Txn>>,
    /// The zxid before the log's first entry.
    log_start: Zxid,
    /// What a lazy disk would have; a diligent one has it all.
    flushed: Zxid,
    flushed_at: Nanos,
}

impl Storage {
    pub fn snapshot(&self) -> &Rc<Tree> {
        &self.snapshot
    }

    #[cfg(test)]
    pub fn log_start(&self) -> Zxid {
        self.log_start
    }

    pub fn last_zxid(&self) -> Zxid {
        self.log.back().map_or(self.snapshot.zxid, |txn| txn.zxid)
    }

    pub fn append(&mut self, now: Nanos, txn: Rc<Txn>) {
        if now >= self.flushed_at + LAZY_FLUSH {
            self.flush();
            self.flushed_at = now;
        }
        self.log.push_back(txn);
    }

    pub fn flush(&mut self) {
        self.flushed = self.last_zxid();
    }

    /// A crash of the planted bug that acknowledges before it flushes.
    pub fn lose_unflushed(&mut self) {
        self.truncate_after(self.flushed.max(self.snapshot.zxid));
    }

    /// Entries with a zxid above this one, in order.
    pub fn after(&self, zxid: Zxid) -> impl Iterator<Item = &Rc<Txn>> {
        self.log.range(self.position_after(zxid)..)
    }

    /// The greatest zxid that this log knows and that is no greater than this one.
    ///
    /// `None` where that lies before the log.
    pub fn floor(&self, zxid: Zxid) -> Option<Zxid> {
        match self.position_after(zxid) {
            0 => (zxid >= self.log_start).then_some(self.log_start),
            position => Some(self.log[position - 1].zxid),
        }
    }

    /// The first entry above this zxid.
    pub fn next(&self, zxid: Zxid) -> Option<&Rc<Txn>> {
        // The entry wanted is nearly always at the very end.
        let near = self.log.len().saturating_sub(4);
        match self.log.get(near) {
            Some(txn) if txn.zxid <= zxid => self.log.range(near..).find(|txn| txn.zxid > zxid),
            _ => self.log.get(self.position_after(zxid)),
        }
    }

    pub fn truncate_after(&mut self, zxid: Zxid) {
        self.log.truncate(self.position_after(zxid));
    }

    pub fn replace(&mut self, snapshot: Rc<Tree>) {
        self.log_start = snapshot.zxid;
        self.snapshot = snapshot;
        self.log.clear();
    }

    /// Folds the log into a snapshot of this tree, which holds committed state only, when it is long.
    pub fn compact(&mut self, committed: &Tree) {
        if self.log.len() < SNAPSHOT_EVERY + RETAINED {
            return;
        }
        let position = self.position_after(committed.zxid);
        if position < SNAPSHOT_EVERY + RETAINED {
            return;
        }
        self.snapshot = Rc::new(committed.clone());
        if let Some(last) = self.log.drain(..position - RETAINED).next_back() {
            self.log_start = last.zxid;
        }
    }

    /// The state after this zxid, made anew from the snapshot and the log.
    pub fn rebuild(&self, zxid: Zxid) -> Tree {
        let mut tree = Tree::clone(&self.snapshot);
        let mut noted = Vec::new();
        for txn in self.after(tree.zxid).take_while(|txn| txn.zxid <= zxid) {
            // The answer went to a client long ago.
            let _ = tree.apply(txn, &mut noted);
            noted.clear();
        }
        tree
    }

    fn position_after(&self, zxid: Zxid) -> usize {
        self.log.partition_point(|txn| txn.zxid <= zxid)
    }
}
