//! Whether a lost write may be lost: its node was deposed by a failover of its own shard.

use std::collections::BTreeMap;

use super::gone::Gone;
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::{Evidence, Promotion};
use crate::op::{Nanos, NodeName};

/// What excuses a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checker::kvrocks) enum Acquittal {
    /// This failover deposed the node that acknowledged.
    Failover { version: u64, to: NodeName },
    /// The slot went to another shard by the topology, and then this failover of that one came.
    Moved { version: u64, to: NodeName },
    /// One that nobody saw may have.
    Unseen,
}

/// Why nothing excuses a loss.
#[derive(Clone, Copy, Debug)]
pub(in crate::checker::kvrocks) enum Blame<'a> {
    /// Nobody else became master of its shard afterwards.
    NeverDeposed,
    /// The slot was another shard's, so no replica of its shard was to have it.
    NotItsSlot { owner: usize },
    /// A failover took the write and left a later one of the same node.
    Gap { survivor: Answer<'a> },
}

/// Judges losses one by one.
pub(super) struct Excuses<'a, 'e> {
    evidence: &'e Evidence,
    /// By node, in order of their starts: its writes that another node of its shard had later.
    survivors: BTreeMap<NodeName, Vec<Answer<'a>>>,
}

impl<'a, 'e> Excuses<'a, 'e> {
    /// `survived`: writes, and a read of another node that saw them.
    pub fn new(evidence: &'e Evidence, survived: &[(Answer<'a>, Answer<'a>)]) -> Excuses<'a, 'e> {
        let mut survivors: BTreeMap<NodeName, Vec<Answer>> = BTreeMap::new();
        let shard = |answer: &Answer| evidence.shards.of(&answer.node);
        for (write, read) in survived {
            // A migrated slot takes its writes along by another way than replication.
            let stayed = |slot| evidence.migrations_of(slot).next().is_none();
            let same_shard = shard(write).is_some() && shard(write) == shard(read);
            if same_shard && write.slot.is_some_and(stayed) {
                survivors.entry(write.node).or_default().push(*write);
            }
        }
        survivors.values_mut().for_each(|writes| writes.sort_by_key(|write| write.start));
        Excuses { evidence, survivors }
    }

    pub fn judge(&self, gone: &Gone<'a>) -> Result<Acquittal, Blame<'a>> {
        let write = &gone.write;
        let Some(shard) = self.evidence.shards.of(&write.node) else {
            return Err(Blame::NeverDeposed);
        };
        let promotions = &self.evidence.promotions;
        let own = promotions.all.iter().filter(|promotion| promotion.shard == shard);
        // Its term began with its last promotion that was over when it was asked.
        let term = own.clone().filter(|p| p.to == write.node && p.seen <= write.start);
        let term = term.map(|promotion| promotion.version).max().unwrap_or(0);
        let deposed: Vec<&Promotion> =
            own.filter(|p| p.to != write.node && p.version > term).collect();
        let owned = |p: &&&Promotion| self.stranger(write, shard, p.version).is_none();
        if let Some(promotion) = deposed.iter().find(owned) {
            return match self.survivor(write) {
                Some(survivor) => Err(Blame::Gap { survivor }),
                None => Ok(Acquittal::Failover { version: promotion.version, to: promotion.to }),
            };
        }
        let unseen = promotions.unseen.iter().filter(|unseen| {
            let later = unseen.above >= term && unseen.until >= write.start;
            unseen.shard == shard && later && unseen.from <= gone.proof.end
        });
        if unseen.map(|u| u.above + 1).any(|v| self.stranger(write, shard, v).is_none()) {
            return Ok(Acquittal::Unseen);
        }
        if let Some(promotion) = self.moved(write, shard) {
            return Ok(Acquittal::Moved { version: promotion.version, to: promotion.to });
        }
        match deposed.iter().find_map(|p| self.stranger(write, shard, p.version)) {
            Some(owner) => Err(Blame::NotItsSlot { owner }),
            None => Err(Blame::NeverDeposed),
        }
    }

    /// A failover of another shard that the slot, and with it the write, had been given to before.
    fn moved(&self, write: &Answer, shard: usize) -> Option<&Promotion> {
        let slot = write.slot?;
        let known = self.evidence.version_by(write.start);
        self.evidence.promotions.all.iter().find(|promotion| {
            let (to, version) = (promotion.shard, promotion.version);
            let owner = self.evidence.owner_at(slot, version);
            promotion.seen > write.start
                && to != shard
                && owner.is_none_or(|owner| owner == to)
                && self.evidence.may_have_owned(slot, shard, known, version)
        })
    }

    /// The other shard that owned the write's slot under this version, if one surely did.
    fn stranger(&self, write: &Answer, shard: usize, version: u64) -> Option<usize> {
        let owner = self.evidence.owner_at(write.slot?, version)?;
        (owner != shard).then_some(owner)
    }

    /// A later write of the same node in the same term that another node of its shard had. Replicas
    /// get all writes of a master in its order.
    fn survivor(&self, write: &Answer) -> Option<Answer<'a>> {
        let candidates = self.survivors.get(&write.node)?;
        let limit = self.same_term_until(write);
        let later = candidates.partition_point(|candidate| candidate.start <= write.end);
        candidates[later..].iter().find(|candidate| candidate.end < limit).copied()
    }

    /// Until then the node surely had no new term since this write.
    fn same_term_until(&self, write: &Answer) -> Nanos {
        let promotions = &self.evidence.promotions;
        let again = promotions.all.iter().filter(|p| p.to == write.node && p.seen > write.start);
        let shard = self.evidence.shards.of(&write.node);
        let unseen = promotions.unseen.iter();
        let unseen = unseen.filter(|u| Some(u.shard) == shard && u.until >= write.start);
        let begins = again.map(|p| p.not_before).chain(unseen.map(|unseen| unseen.from));
        begins.min().unwrap_or(Nanos::MAX)
    }
}
