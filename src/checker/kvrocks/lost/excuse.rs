//! Whether a lost write may be lost: its node was deposed by a failover of its own shard.

use std::collections::BTreeMap;

use super::gone::Gone;
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::{Custody, Evidence, Promotion};
use crate::op::{Nanos, NodeName};

/// What excuses a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checker::kvrocks) enum Acquittal {
    /// This failover deposed the node that acknowledged.
    Failover { version: u64, to: NodeName },
    /// The slot went from shard to shard by the topology, and then came this failover of its owner.
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
        let custody = self.evidence.custody_of(write);
        let since = match custody {
            Custody::Owner(version) => version,
            Custody::Nobody { owner } => return Err(Blame::NotItsSlot { owner }),
        };
        let promotions = &self.evidence.promotions;
        let deposed = self.deposed(write, shard);
        if let Some(promotion) = deposed.iter().find(|p| self.may_own(write, shard, p.version)) {
            return match self.survivor(write) {
                Some(survivor) => Err(Blame::Gap { survivor }),
                None => Ok(Acquittal::Failover { version: promotion.version, to: promotion.to }),
            };
        }
        let mut unseen = promotions.unseen.iter().filter(|unseen| {
            let later = unseen.until >= write.start && unseen.from <= gone.proof.end;
            later && unseen.by.is_none_or(|by| by > since)
        });
        if unseen.any(|unseen| self.may_own(write, unseen.shard, unseen.above + 1)) {
            return Ok(Acquittal::Unseen);
        }
        if let Some(promotion) = self.moved(gone, shard, since) {
            return Ok(Acquittal::Moved { version: promotion.version, to: promotion.to });
        }
        match deposed.iter().find_map(|p| self.evidence.owner_at(write.slot?, p.version)) {
            Some(owner) => Err(Blame::NotItsSlot { owner }),
            None => Err(Blame::NeverDeposed),
        }
    }

    /// The failovers that may have ended the term in which the node took the write: of each term that it
    /// may have been, the next.
    fn deposed(&self, write: &Answer, shard: usize) -> Vec<&Promotion> {
        let promotions = &self.evidence.promotions;
        let own: Vec<&Promotion> = promotions.all.iter().filter(|p| p.shard == shard).collect();
        let begun = own.iter().filter(|p| p.to == write.node && p.not_before <= write.end);
        let begun: Vec<&Promotion> = begun.copied().collect();
        let certain = begun.iter().rposition(|promotion| promotion.seen <= write.start);
        let mut terms: Vec<u64> = begun[certain.unwrap_or(0)..].iter().map(|p| p.version).collect();
        let from_the_start =
            promotions.first.get(&shard).is_none_or(|(node, _)| *node == write.node);
        if terms.is_empty() || (certain.is_none() && from_the_start) {
            terms.push(0);
        }
        let next =
            |term: &u64| own.iter().find(|p| p.version > *term && p.to != write.node).copied();
        terms.iter().filter_map(next).collect()
    }

    /// A failover of whom the slot, and with it the write, had been given to since: replication is
    /// asynchronous there as well.
    fn moved(&self, gone: &Gone<'a>, shard: usize, since: u64) -> Option<&Promotion> {
        let write = &gone.write;
        self.evidence.promotions.all.iter().find(|promotion| {
            promotion.version > since
                && promotion.seen > write.start
                && promotion.not_before <= gone.proof.end
                && self.may_own(write, promotion.shard, promotion.version)
                && (promotion.shard != shard || self.was_away(write, since, promotion.version))
        })
    }

    /// Whether the write's slot may have been this shard's under this version.
    fn may_own(&self, write: &Answer, shard: usize, version: u64) -> bool {
        let owner = write.slot.and_then(|slot| self.evidence.owner_at(slot, version));
        owner.is_none_or(|owner| owner == shard)
    }

    /// Whether the slot may have been another shard's meanwhile.
    fn was_away(&self, write: &Answer, since: u64, until: u64) -> bool {
        let shard = self.evidence.shards.of(&write.node);
        let owner = |version| write.slot.and_then(|slot| self.evidence.owner_at(slot, version));
        (since..until).any(|version| owner(version).is_none() || owner(version) != shard)
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
