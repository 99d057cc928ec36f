//! Who was master of a shard under which version of the topology, and so which failovers there were.
//!
//! Views come every quarter of a second and documents when somebody asks, so a failover is known to lie
//! between two moments. Versions that nobody was seen to hold may hide more; how many is bounded by them
//! and by what could have caused a failover meanwhile.

mod unaccounted;

use std::collections::BTreeMap;

use super::calm::Calm;
use super::operators::{FailoverOrder, Told};
use super::shards::Shards;
use super::views::{VIEW_TAKES, Views};
use crate::nemesis::role_of;
use crate::op::{Nanos, NodeName, SECOND};

/// No controller gives a master up sooner: three probes, a second apart.
const FAILOVER_TAKES: Nanos = 2 * SECOND;
/// Nodes may take up what a controller has answered this much later: a follower tells nobody of it.
const ADOPTED_WITHIN: Nanos = 10 * SECOND;
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
    /// And not above this one, which is known again.
    pub by: Option<u64>,
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

/// By version.
type Sightings = BTreeMap<u64, Sighting>;

impl Promotions {
    pub(super) fn of(sources: &Sources) -> Promotions {
        let mut promotions = Promotions::default();
        let shards = 0..sources.shards.count;
        let sightings: Vec<Sightings> = shards.map(|shard| sources.sightings(shard)).collect();
        for (shard, sightings) in sightings.iter().enumerate() {
            promotions.add_seen(shard, sightings, sources);
        }
        let unaccounted = promotions.unaccounted(sources.failovers);
        for (shard, sightings) in sightings.iter().enumerate() {
            promotions.suspect_between(shard, sightings, &unaccounted, sources);
        }
        promotions.add_unaccounted(&unaccounted, sources);
        promotions
    }

    fn add_seen(&mut self, shard: usize, sightings: &Sightings, sources: &Sources) {
        let mut before: Option<(u64, NodeName)> = None;
        for (&version, &Sighting { master: to, first, .. }) in sightings {
            match before {
                None => {
                    self.first.insert(shard, (to, first));
                }
                Some((last_before, from)) if from != to => self.all.push(Promotion {
                    shard,
                    from,
                    to,
                    last_before,
                    version,
                    not_before: sources.not_before(to, last_before),
                    seen: first_of_reign(sightings, version, to),
                }),
                Some(_) => {}
            }
            before = Some((version, to));
        }
    }

    /// What may have happened between two sightings in turn, before the first and after the last.
    fn suspect_between(
        &mut self,
        shard: usize,
        sightings: &Sightings,
        unaccounted: &[FailoverOrder],
        sources: &Sources,
    ) {
        let mut before: Option<(u64, NodeName)> = None;
        let nexts = sightings.iter().map(Some).chain([None]);
        for next in nexts {
            let above = before.map_or(0, |(version, _)| version);
            let until = next.map_or(sources.end, |(_, sighting)| sighting.first);
            let from = match before {
                Some(_) => sources.quiet_until(shard, above).min(until),
                None => 0,
            };
            let master = next.map(|(_, sighting)| sighting.master);
            let changed = before.zip(master).is_some_and(|((_, last), master)| last != master);
            // What came after the last sighting has no version to be bounded by.
            let hidden = next.map_or(u64::MAX, |(version, _)| (version - above).saturating_sub(1));
            let ordered = unaccounted.iter().filter(|order| {
                let done = order.completed.saturating_add(ADOPTED_WITHIN);
                order.shard == shard && order.invoked <= until && done >= from
            });
            let struck = sources.struck(shard, from, until).saturating_sub(usize::from(changed));
            let causes = ordered.count() + struck;
            let count = causes.min(usize::try_from(hidden).unwrap_or(usize::MAX));
            if count > 0 {
                let by = next.map(|(version, _)| *version);
                self.unseen.push(Unseen { shard, count, from, until, above, by, after: master });
            }
            before = next.map(|(version, sighting)| (*version, sighting.master));
        }
    }

    /// The master of a shard before anything can have changed it, where that is known.
    pub fn first_of(&self, shard: usize) -> Option<NodeName> {
        let (node, seen) = self.first.get(&shard)?;
        let doubtful = |unseen: &Unseen| unseen.shard == shard && unseen.until <= *seen;
        (!self.unseen.iter().any(doubtful)).then_some(*node)
    }
}

/// When the master of this version was first seen in its reign.
fn first_of_reign(sightings: &Sightings, version: u64, master: NodeName) -> Nanos {
    let reign = sightings.range(version..).map(|(_, sighting)| sighting);
    let own = reign.take_while(|sighting| sighting.master == master);
    own.map(|sighting| sighting.first).min().unwrap_or(0)
}

impl Sources<'_> {
    /// The master of a shard by version. What a controller says counts more than what nodes say, and
    /// of nodes that claim the same version the one that claims it last: a node's role and version are
    /// asked one after the other, and a new topology may come in between.
    fn sightings(&self, shard: usize) -> Sightings {
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
        let mut sightings = Sightings::new();
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
        self.unchanged_until(last_before).max(self.unaware_until(to, last_before))
    }

    /// Until then nobody of the shard had surely been promoted under a version above this one.
    fn quiet_until(&self, shard: usize, above: u64) -> Nanos {
        let nodes = self.shards.nodes(shard).map(|node| self.unaware_until(node, above));
        self.unchanged_until(above).max(nodes.min().unwrap_or(0))
    }

    /// Until then the topology had surely no higher version.
    fn unchanged_until(&self, version: u64) -> Nanos {
        // With several servers of ZooKeeper a document may be older than the moment it was asked for.
        let current =
            |told: &&Told| self.views.zookeepers.len() < 2 && told.document.version <= version;
        let asked = self.told.iter().filter(current).map(|told| told.asked);
        asked.max().unwrap_or(0)
    }

    /// Until then the node surely knew no higher version.
    fn unaware_until(&self, node: NodeName, version: u64) -> Nanos {
        let own =
            self.views.data.iter().filter(|seen| {
                seen.node == node && seen.version.is_some_and(|known| known <= version)
            });
        let own = own.map(|seen| match seen.until > seen.time {
            true => seen.until,
            false => seen.time.saturating_sub(VIEW_TAKES),
        });
        own.max().unwrap_or(0)
    }

    /// How many failovers of a shard faults could have caused in this stretch of time.
    fn struck(&self, shard: usize, from: Nanos, until: Nanos) -> usize {
        // A controller that is struck may find a healthy master dead.
        let concerns =
            |node: &NodeName| self.shards.of(node) == Some(shard) || role_of(node) == "controller";
        if !self.calm.is_shaken(concerns, from.saturating_sub(AFTERMATH), until) {
            return 0;
        }
        // One may have been all but done at the beginning.
        1 + (until.saturating_sub(from) / FAILOVER_TAKES) as usize
    }
}

#[cfg(test)]
mod tests;
