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
        let owner = |(_, claims): (&u64, &BTreeMap<usize, Claim>)| owner(claims, slot);
        let before = self.claims.range(..=version).rev().find_map(owner);
        let after = self.claims.range(version..).find_map(owner);
        match (before, after) {
            (Some(before), Some(after)) => (before.0 == after.0).then_some(before.0),
            (before, after) => before.or(after).map(|(shard, _)| shard),
        }
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
