//! Ownership terms of a slot: a failover of the shard that owns it begins a new one.
//!
//! What a term begins with is whatever the promoted replica had: something that was there before, not
//! always the last. Within a term nothing is lost, and a migration goes on with the same term. An
//! operation belongs to the term of the node that answered it; a deposed master that has not learned of it
//! still acts in its old term. Where views leave it open, an operation may belong to several terms.

use std::ops::RangeInclusive;

use super::evidence::{Evidence, Promotion, Unseen};
use super::wording::seconds;
use crate::op::{Nanos, NodeName};

/// Where one term ends and the next begins.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Promotion(Promotion),
    /// There may have been one or several; who was promoted is not known.
    Unseen(Unseen),
}

/// The terms of one slot, numbered from 0.
pub(in crate::checker) struct Terms<'e> {
    evidence: &'e Evidence,
    cuts: Vec<Cut>,
}

impl Cut {
    /// Cuts are in the order of the versions that brought them.
    fn place(&self) -> (u64, bool) {
        match self {
            Cut::Promotion(promotion) => (promotion.version, false),
            Cut::Unseen(unseen) => (unseen.above, true),
        }
    }

    fn shard(&self) -> usize {
        match self {
            Cut::Promotion(promotion) => promotion.shard,
            Cut::Unseen(unseen) => unseen.shard,
        }
    }

    /// It surely came after the first and before the second of these moments.
    fn window(&self) -> (Nanos, Nanos) {
        match self {
            Cut::Promotion(promotion) => (promotion.not_before, promotion.seen),
            Cut::Unseen(unseen) => (unseen.from, unseen.until),
        }
    }
}

impl<'e> Terms<'e> {
    /// The terms of a slot; of a key whose slot nobody told, those of all slots.
    pub fn of(evidence: &'e Evidence, slot: Option<u16>) -> Terms<'e> {
        let concerns = |shard: usize, version: u64| {
            let owner = slot.and_then(|slot| evidence.owner_at(slot, version));
            owner.is_none_or(|owner| owner == shard)
        };
        let promotions = &evidence.promotions;
        let seen = promotions.all.iter().filter(|p| concerns(p.shard, p.version));
        let unseen = promotions.unseen.iter().filter(|u| concerns(u.shard, u.above + 1));
        let mut cuts: Vec<Cut> =
            seen.map(|p| Cut::Promotion(*p)).chain(unseen.map(|u| Cut::Unseen(*u))).collect();
        cuts.sort_by_key(Cut::place);
        Terms { evidence, cuts }
    }

    pub fn count(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The terms that an operation may belong to which this node answered between these moments.
    pub fn range(&self, node: &NodeName, start: Nanos, end: Nanos) -> RangeInclusive<usize> {
        if self.cuts.is_empty() {
            return 0..=0;
        }
        let shard = self.evidence.shards.of(node);
        let stints = shard.map_or(Vec::new(), |shard| self.stints(node, shard, start, end));
        let mut first = stints.iter().map(|stint| *stint.start()).min().unwrap_or(0);
        let mut last = stints.iter().map(|stint| *stint.end()).max().unwrap_or(self.cuts.len());
        // Another shard's failover is nothing to this node: only the time tells.
        for (position, cut) in self.cuts.iter().enumerate() {
            let (not_before, seen) = cut.window();
            if Some(cut.shard()) != shard {
                first = if start > seen { first.max(position + 1) } else { first };
                last = if end < not_before { last.min(position) } else { last };
            }
        }
        // Who was master in between is not known, and who still believes to be.
        for (position, cut) in self.cuts.iter().enumerate() {
            let Cut::Unseen(unseen) = cut else { continue };
            if Some(unseen.shard) != shard {
                continue;
            }
            if end < unseen.from {
                last = last.min(position);
            } else if unseen.after == Some(*node) && start > unseen.until {
                first = first.max(position + 1);
            } else {
                first = first.min(position);
                last = last.max(position + 1);
            }
        }
        if first > last { 0..=self.cuts.len() } else { first..=last }
    }

    /// The terms in which the node was master, of those that it can have been in then.
    fn stints(
        &self,
        node: &NodeName,
        shard: usize,
        start: Nanos,
        end: Nanos,
    ) -> Vec<RangeInclusive<usize>> {
        let promotions = &self.evidence.promotions;
        let own: Vec<&Promotion> = promotions.all.iter().filter(|p| p.shard == shard).collect();
        let first = promotions.first.get(&shard).map(|(first, _)| first);
        let mut stints = Vec::new();
        if first == Some(node) {
            stints.extend(self.stint(node, None, &own, start));
        }
        for promotion in own.iter().filter(|promotion| promotion.to == *node) {
            if end >= promotion.not_before {
                stints.extend(self.stint(node, Some(promotion.version), &own, start));
            }
        }
        stints
    }

    /// The terms from this version on until the node was deposed; `None` if it had learned of that.
    fn stint(
        &self,
        node: &NodeName,
        since: Option<u64>,
        own: &[&Promotion],
        start: Nanos,
    ) -> Option<RangeInclusive<usize>> {
        let begin = since.map_or(0, |version| self.cuts_until((version, true)));
        let deposed = own.iter().find(|p| p.to != *node && since.is_none_or(|s| p.version > s));
        let Some(deposed) = deposed else { return Some(begin..=self.cuts.len()) };
        let learned = self.evidence.views.learned(node, deposed.version);
        let over = learned.is_some_and(|learned| learned < start);
        (!over).then(|| begin..=self.cuts_until((deposed.version, false)).max(begin))
    }

    /// Cuts whose place comes before this one.
    fn cuts_until(&self, place: (u64, bool)) -> usize {
        self.cuts.partition_point(|cut| cut.place() < place)
    }

    /// How a term began, for people.
    pub fn beginning(&self, term: usize) -> String {
        match term.checked_sub(1).and_then(|cut| self.cuts.get(cut)) {
            None => "from the start".to_owned(),
            Some(Cut::Promotion(promotion)) => format!(
                "since {} became master in the place of {} (topology version {}, seen at {})",
                promotion.to,
                promotion.from,
                promotion.version,
                seconds(promotion.seen)
            ),
            Some(Cut::Unseen(unseen)) => format!(
                "since a failover of shard {} that may have happened unseen by {}",
                unseen.shard,
                seconds(unseen.until)
            ),
        }
    }
}

#[cfg(test)]
mod tests;
