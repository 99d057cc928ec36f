//! Failovers that an operator asks for: the controller answers at once, and nodes take up the new topology
//! seconds later, one by one; the old master first, so that no two take writes.

use super::{Cause, Cluster};

/// A failover that not all nodes know of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    shard: usize,
    /// The old master knows that it is none any more.
    stopped: bool,
}

impl Cluster {
    pub(super) fn order(&mut self) {
        let Some((shard, _, replica)) = self.steady() else { return };
        self.version += 1;
        self.told_masters[shard] = replica;
        self.pending = Some(Pending { shard, stopped: false });
        let is_known = !self.rng.chance(0.2);
        self.recorder.failover(shard, is_known);
    }

    /// It does not serve any more, and its successor does not yet.
    pub(super) fn has_stopped(&self, node: usize) -> bool {
        self.pending.is_some_and(|p| p.stopped && node == self.pair(p.shard).0)
    }

    /// Whether the node is one of the two that a failover concerns; if so, it may take its step.
    pub(super) fn take_up(&mut self, node: usize) -> bool {
        let Some(pending) = self.pending else { return false };
        let (master, replica) = self.pair(pending.shard);
        if node == master && !pending.stopped {
            self.known[master] = self.version;
            self.pending = Some(Pending { stopped: true, ..pending });
        } else if node == replica && pending.stopped {
            for (_, change) in self.stores[master].beyond(&self.stores[replica]) {
                self.lose(&change, Cause::Failover);
            }
            self.masters[pending.shard] = replica;
            self.known[replica] = self.version;
            self.stores[replica].begin_term();
            self.stores[master] = self.stores[replica].clone();
            self.pending = None;
        }
        node == master || node == replica
    }

    pub(super) fn finish_order(&mut self) {
        while let Some(pending) = self.pending {
            let (master, replica) = self.pair(pending.shard);
            self.take_up(master);
            self.take_up(replica);
        }
    }
}
