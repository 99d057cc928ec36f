//! Who was master of a shard under which version of the topology, and so which failovers there were.
//!
//! Views come every quarter of a second and documents when somebody asks, so a failover is known to lie
//! between two moments. Versions that nobody was seen to hold may hide more; how many is bounded by them
//! and by what could have caused a failover meanwhile.

use std::collections::BTreeMap;

use super::calm::Calm;
use super::operators::{FailoverOrder, Told};
use super::shards::Shards;
use super::views::{VIEW_TAKES, Views};
use crate::nemesis::role_of;
use crate::op::{Nanos, NodeName, SECOND};

/// No controller gives a master up sooner: three probes, a second apart.
const FAILOVER_TAKES: Nanos = 2 * SECOND;
/// A fault may lead to a failover this long after its end.
const AFTERMATH: Nanos = 6 * SECOND;

/// A replica became the master of its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Promotion {
    pub shard: usize,
    pub from: NodeName,
    pub to: NodeName,
    /// The last version under which somebody else was seen as master, and the first of the new one.
    pub last_before: u64,
    pub version: u64,
    /// It had surely not begun before.
    pub not_before: Nanos,
    /// It had surely happened by then.
    pub seen: Nanos,
}

/// So many promotions more may have happened in this stretch of time, of any node of the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Unseen {
    pub shard: usize,
    pub count: usize,
    pub from: Nanos,
    pub until: Nanos,
    /// They came under a version above this one.
    pub above: u64,
    /// The master that was seen afterwards, if one was.
    pub after: Option<NodeName>,
}

/// All failovers of a history.
#[derive(Clone, Debug, Default)]
pub(in crate::checker) struct Promotions {
    /// By shard, then by version.
    pub all: Vec<Promotion>,
    pub unseen: Vec<Unseen>,
    /// The first master of each shard under the lowest version known, and when it was first seen.
    pub first: BTreeMap<usize, (NodeName, Nanos)>,
}

pub(super) struct Sources<'a> {
    pub shards: &'a Shards,
    pub views: &'a Views,
    pub told: &'a [Told],
    pub failovers: &'a [FailoverOrder],
    pub calm: &'a Calm,
    pub end: Nanos,
}

/// The master of a shard under one version.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    master: NodeName,
    /// When it was first and last seen.
    first: Nanos,
    last: Nanos,
}

/// A stretch of time between two sightings, and the version of the first.
struct Window {
    from: Nanos,
    until: Nanos,
    above: u64,
}

impl Promotions {
    pub(super) fn of(sources: &Sources) -> Promotions {
        let mut promotions = Promotions::default();
        for shard in 0..sources.shards.count {
            promotions.add(shard, &sources.sightings(shard), sources);
        }
        promotions
    }

    fn add(&mut self, shard: usize, sightings: &BTreeMap<u64, Sighting>, sources: &Sources) {
        let mut before: Option<(u64, Sighting)> = None;
        for (&version, &sighting) in sightings {
            match before {
                None => {
                    self.first.insert(shard, (sighting.master, sighting.first));
                    let hidden = version.saturating_sub(1);
                    let window = Window { from: 0, until: sighting.first, above: 0 };
                    self.suspect(shard, hidden, false, window, Some(sighting.master), sources);
                }
                Some((last_before, last)) => {
                    let changed = last.master != sighting.master;
                    if changed {
                        let to = sighting.master;
                        self.all.push(Promotion {
                            shard,
                            from: last.master,
                            to,
                            last_before,
                            version,
                            not_before: sources.not_before(to, last_before),
                            seen: first_of_reign(sightings, version, to),
                        });
                    }
                    let hidden = version - last_before - 1;
                    let from = last.last.min(sighting.first);
                    let window = Window { from, until: sighting.first, above: last_before };
                    self.suspect(shard, hidden, changed, window, Some(sighting.master), sources);
                }
            }
            before = Some((version, sighting));
        }
        // What came after the last sighting has no version to be bounded by.
        let (above, from) = before.map_or((0, 0), |(version, last)| (version, last.last));
        let window = Window { from, until: sources.end, above };
        self.suspect(shard, u64::MAX, false, window, None, sources);
    }

    /// The master of a shard before anything can have changed it, where that is known.
    pub fn first_of(&self, shard: usize) -> Option<NodeName> {
        let (node, seen) = self.first.get(&shard)?;
        let doubtful = |unseen: &Unseen| unseen.shard == shard && unseen.until <= *seen;
        (!self.unseen.iter().any(doubtful)).then_some(*node)
    }

    fn suspect(
        &mut self,
        shard: usize,
        hidden: u64,
        changed: bool,
        Window { from, until, above }: Window,
        after: Option<NodeName>,
        sources: &Sources,
    ) {
        let causes = sources.causes(shard, from, until).saturating_sub(usize::from(changed));
        let count = causes.min(usize::try_from(hidden).unwrap_or(usize::MAX));
        if count > 0 {
            self.unseen.push(Unseen { shard, count, from, until, above, after });
        }
    }
}

/// When the master of this version was first seen in its reign.
fn first_of_reign(sightings: &BTreeMap<u64, Sighting>, version: u64, master: NodeName) -> Nanos {
    let reign = sightings.range(version..).map(|(_, sighting)| sighting);
    let own = reign.take_while(|sighting| sighting.master == master);
    own.map(|sighting| sighting.first).min().unwrap_or(0)
}

impl Sources<'_> {
    /// The master of a shard by version. What a controller says counts more than what nodes say, and
    /// of nodes that claim the same version the one that claims it last: a node's role and version are
    /// asked one after the other, and a new topology may come in between.
    fn sightings(&self, shard: usize) -> BTreeMap<u64, Sighting> {
        let mut claims: BTreeMap<(u64, NodeName), (bool, Sighting)> = BTreeMap::new();
        for seen in self.views.data.iter().filter(|s| self.shards.of(&s.node) == Some(shard)) {
            let Some(version) = seen.version else { continue };
            let sighting = Sighting { master: seen.node, first: seen.time, last: seen.until };
            let claim = claims.entry((version, seen.node)).or_insert((seen.leads, sighting));
            if seen.leads && !claim.0 {
                claim.1.first = seen.time;
            }
            (claim.0, claim.1.last) = (seen.leads, seen.until.max(claim.1.last));
        }
        let mut sightings: BTreeMap<u64, Sighting> = BTreeMap::new();
        for ((version, _), (leads, sighting)) in claims {
            if leads {
                let known = sightings.entry(version).or_insert(sighting);
                if known.last < sighting.last {
                    *known = sighting;
                }
            }
        }
        for told in self.told {
            let part = told.document.shards.get(shard);
            let Some(master) = part.and_then(|part| part.master) else { continue };
            let sighting = Sighting { master, first: told.answered, last: told.answered };
            let known = sightings.entry(told.document.version).or_insert(sighting);
            match known.master == master {
                true => known.first = known.first.min(told.answered),
                false => *known = sighting,
            }
        }
        sightings
    }

    /// A moment before the promotion of this node began, as late as can be proven.
    fn not_before(&self, to: NodeName, last_before: u64) -> Nanos {
        // With several servers of ZooKeeper a document may be older than the moment it was asked for.
        let current =
            |told: &&Told| self.views.zookeepers.len() < 2 && told.document.version <= last_before;
        let asked = self.told.iter().filter(current).map(|told| told.asked).max();
        let own = self.views.data.iter().filter(|seen| {
            seen.node == to && seen.version.is_some_and(|version| version <= last_before)
        });
        let own = own.map(|seen| match seen.until > seen.time {
            true => seen.until,
            false => seen.time.saturating_sub(VIEW_TAKES),
        });
        let own = own.max();
        asked.max(own).unwrap_or(0)
    }

    /// How many failovers of a shard something could have caused in this stretch of time.
    fn causes(&self, shard: usize, from: Nanos, until: Nanos) -> usize {
        let ordered = self.failovers.iter().filter(|order| {
            order.shard == shard && order.invoked <= until && order.completed >= from
        });
        // A controller that is struck may find a healthy master dead.
        let concerns =
            |node: &NodeName| self.shards.of(node) == Some(shard) || role_of(node) == "controller";
        let shaken = self.calm.is_shaken(concerns, from.saturating_sub(AFTERMATH), until);
        // One may have been all but done at the beginning.
        let possible = 1 + (until.saturating_sub(from) / FAILOVER_TAKES) as usize;
        ordered.count() + if shaken { possible } else { 0 }
    }
}

#[cfg(test)]
mod tests;
