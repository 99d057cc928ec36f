//! Whether the topology ever had a write in its owner's hands.
//!
//! The owner of a slot has its writes, and hands them on with the slot. The destination of a migration
//! takes writes before the topology gives it the slot; if it never does, for the migration ends otherwise
//! or the source's replica that takes over knows nothing of it, nobody has them.

use super::Evidence;
use crate::checker::kvrocks::answers::Answer;
use crate::op::Nanos;

/// Who had a write, going by the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checker) enum Custody {
    /// From this version on the owner of its slot.
    Owner(u64),
    /// The slot was this shard's and stayed so.
    Nobody { owner: usize },
}

impl Evidence {
    /// Of an acknowledged write. Where it is not known, the owner is held to have had it.
    pub fn custody_of(&self, write: &Answer) -> Custody {
        let (lowest, highest) = self.views.versions_of(&write.node, write.start, write.end);
        let from = lowest.unwrap_or(0);
        let owner = write.slot.and_then(|slot| Some((slot, self.owner_at(slot, from)?)));
        let (Some(shard), Some((slot, source))) = (self.shards.of(&write.node), owner) else {
            return Custody::Owner(from);
        };
        if source == shard {
            return Custody::Owner(from);
        }
        let broken = highest.and_then(|highest| self.broken(slot, source, highest, write.end));
        let last = broken.unwrap_or(u64::MAX).min(self.ownership.last_version());
        let other = |owner: Option<usize>| owner.is_none_or(|owner| owner != source);
        match (from..=last).find(|version| other(self.owner_at(slot, *version))) {
            Some(version) => Custody::Owner(version),
            None => Custody::Nobody { owner: source },
        }
    }

    /// The first version above this one under which nobody brings the slot from its source to where
    /// it was on its way at that time.
    fn broken(&self, slot: u16, source: usize, above: u64, time: Nanos) -> Option<u64> {
        let told = self.told.iter().filter(|told| told.asked > time).map(|told| &told.document);
        let unmarked =
            told.filter(|document| !document.is_marked(slot) && document.owns(source, slot));
        let unmarked = unmarked.map(|document| document.version);
        // A slot is marked once at a time.
        let again = self.migrations_of(slot).filter(|migration| migration.invoked > time);
        let again = again.filter_map(|migration| migration.version);
        // A replica that takes over knows of no migration.
        let promoted = self.promotions.all.iter().filter(|p| p.shard == source && p.seen > time);
        let versions = unmarked.chain(again).chain(promoted.map(|p| p.version));
        versions.filter(|version| *version > above).min()
    }
}

#[cfg(test)]
mod tests;
