//! Which shard owned a slot under which version of the topology.

use std::collections::BTreeMap;

use super::operators::Told;
use super::shards::Shards;
use super::slots::Slots;
use super::views::Views;
use crate::op::Nanos;

/// One claim, and when it was first seen.
#[derive(Clone, Debug)]
struct Claim {
    slots: Slots,
    seen: Nanos,
}

/// Claims by version and shard, from documents and from masters' own words.
#[derive(Clone, Debug, Default)]
pub(super) struct Ownership {
    claims: BTreeMap<u64, BTreeMap<usize, Claim>>,
}

impl Ownership {
    pub fn of(shards: &Shards, views: &Views, told: &[Told]) -> Ownership {
        let mut ownership = Ownership::default();
        for told in told {
            for (shard, part) in told.document.shards.iter().enumerate() {
                let claim = Claim { slots: part.slots.clone(), seen: told.answered };
                ownership.add(told.document.version, shard, claim);
            }
        }
        for seen in views.data.iter().filter(|seen| seen.leads) {
            if let (Some(version), Some(slots), Some(shard)) =
                (seen.version, &seen.slots, shards.of(&seen.node))
            {
                let claim = Claim { slots: slots.clone(), seen: seen.time };
                ownership.add(version, shard, claim);
            }
        }
        ownership
    }

    /// Of several claims of one shard under one version the first stays.
    fn add(&mut self, version: u64, shard: usize, claim: Claim) {
        let known = self.claims.entry(version).or_default().entry(shard).or_insert(claim.clone());
        known.seen = known.seen.min(claim.seen);
    }

    /// The owner under this version; `None` where nothing tells, or the versions around disagree.
    pub fn at(&self, slot: u16, version: u64) -> Option<usize> {
        let positive = |(version, claims): (&u64, &BTreeMap<usize, Claim>)| {
            owner(claims, slot).map(|(shard, _)| (*version, shard))
        };
        let before = self.claims.range(..=version).rev().find_map(positive);
        let after = self.claims.range(version..).find_map(positive);
        let (shard, from, to) = match (before, after) {
            (Some((from, one)), Some((to, other))) => (one == other).then_some((one, from, to)),
            (Some((from, shard)), None) => Some((shard, from, version)),
            (None, Some((to, shard))) => Some((shard, version, to)),
            (None, None) => None,
        }?;
        // Meanwhile it may have had it not.
        let mut between = self.claims.range(from..=to).filter_map(|(_, claims)| claims.get(&shard));
        between.all(|claim| claim.slots.contains(slot)).then_some(shard)
    }

    /// The highest version of which anything is known.
    pub fn last_version(&self) -> u64 {
        self.claims.keys().next_back().copied().unwrap_or(0)
    }

    /// The owner under the lowest version known, and when that was seen.
    pub fn first(&self, slot: u16) -> Option<(usize, Nanos)> {
        self.claims.values().find_map(|claims| owner(claims, slot))
    }
}

/// Who claims the slot, if it is one alone.
fn owner(claims: &BTreeMap<usize, Claim>, slot: u16) -> Option<(usize, Nanos)> {
    let mut owners = claims.iter().filter(|(_, claim)| claim.slots.contains(slot));
    let (shard, claim) = owners.next()?;
    owners.next().is_none().then_some((*shard, claim.seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_known_between_claims_that_agree_and_nothing_denies() {
        let mut ownership = Ownership::default();
        let mut claim = |version, shard, slots: &str| {
            let slots = Slots::parse(slots).expect("slots");
            ownership.add(version, shard, Claim { slots, seen: version });
        };
        claim(2, 0, "0-99");
        claim(5, 0, "0-99");
        claim(7, 0, "0-49");
        claim(9, 1, "50-99");
        claim(20, 0, "0-99");
        let at = |slot| (1..=21).map(|version| ownership.at(slot, version)).collect::<Vec<_>>();
        let told: Vec<i8> = at(60).iter().map(|o| o.map_or(-1, |o| o as i8)).collect();
        let expected = [0, 0, 0, 0, 0, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0];
        assert_eq!(told, expected);
        assert!(at(10).iter().all(|owner| *owner == Some(0)));
        assert!(at(100).iter().all(Option::is_none));
        assert_eq!(ownership.first(60), Some((0, 2)));
        assert_eq!(ownership.last_version(), 20);
    }
}
