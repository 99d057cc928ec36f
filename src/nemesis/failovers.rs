//! Who led when, and how fast a loop of failovers went: from the views and faults in a history alone.
//!
//! It judges nothing: two nodes that lead at once are told as an overlap, a loop off its pace is told so.

mod loops;
mod reigns;

use serde::{Deserialize, Serialize};

use crate::cluster::Role;
use crate::history::History;
use crate::nemesis::{NamedNemesis, Spread};
use crate::op::{MILLISECOND, Nanos, NodeName};
pub use loops::{FailoverLoop, Pacing};

/// A node led in one epoch for one stretch of time, as far as views show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reign {
    pub leader: NodeName,
    /// As it said itself; `None` where it said none.
    pub epoch: Option<u64>,
    pub from: Nanos,
    pub until: Nanos,
    /// False where it still led when the history ended.
    pub ended: bool,
}

/// Several nodes of one role said at once that they led.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    pub leaders: Vec<NodeName>,
    pub from: Nanos,
    pub until: Nanos,
}

/// How many ended reigns were shorter than this, and not shorter than the bucket before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldFor {
    /// In milliseconds; `None` for all that are longer.
    pub below_ms: Option<u64>,
    pub count: u64,
}

/// Bounds of the buckets in milliseconds.
const BUCKETS_MS: [u64; 6] = [500, 1_000, 2_000, 5_000, 10_000, 30_000];

/// The leadership of one role, as far as views show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Office {
    pub role: Role,
    /// In the order in which they began.
    pub reigns: Vec<Reign>,
    pub overlaps: Vec<Overlap>,
    /// How long ended reigns were.
    pub held_for: Vec<HeldFor>,
    /// Times without any leader between two reigns, where a view shows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elections_ms: Option<Spread>,
}

/// All that a history tells of changes of leaders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failovers {
    /// Of roles whose leader changed, or was meant to.
    pub offices: Vec<Office>,
    /// One for each nemesis that has a pace.
    pub loops: Vec<FailoverLoop>,
}

/// `None` where no leader ever changed and no nemesis meant one to. Masters of data nodes are not
/// elected: they are no leaders here.
pub fn failovers(history: &History, named: &[NamedNemesis]) -> Option<Failovers> {
    let mut offices = reigns::offices(history);
    let paced: Vec<_> = named.iter().filter_map(|nemesis| Some((nemesis, nemesis.pace?))).collect();
    let loops = paced.iter().map(|(nemesis, pace)| {
        let office = offices.iter().find(|office| Some(office.role) == nemesis.leads);
        loops::pacing(history, (&nemesis.fault, nemesis.leads), *pace, office)
    });
    let loops: Vec<FailoverLoop> = loops.collect();
    let is_meant = |role| paced.iter().any(|(nemesis, _)| nemesis.leads == Some(role));
    offices.retain(|office| office.reigns.len() > 1 || is_meant(office.role));
    (!offices.is_empty() || !loops.is_empty()).then_some(Failovers { offices, loops })
}

impl Failovers {
    pub fn reigns(&self) -> usize {
        self.offices.iter().map(|office| office.reigns.len()).sum()
    }
}

impl Office {
    /// Epochs that were reached, each once.
    pub fn epochs(&self) -> usize {
        let mut epochs: Vec<u64> = self.reigns.iter().filter_map(|reign| reign.epoch).collect();
        epochs.sort_unstable();
        epochs.dedup();
        epochs.len()
    }
}

/// A reign that had not ended is in no bucket: nobody knows how long it would have been.
fn held_for(reigns: &[Reign]) -> Vec<HeldFor> {
    let bounds = BUCKETS_MS.into_iter().map(Some).chain([None]);
    let mut buckets: Vec<HeldFor> = bounds.map(|below_ms| HeldFor { below_ms, count: 0 }).collect();
    for reign in reigns.iter().filter(|reign| reign.ended) {
        let length_ms = reign.until.saturating_sub(reign.from) / MILLISECOND;
        let position = BUCKETS_MS.iter().position(|bound| length_ms < *bound);
        buckets[position.unwrap_or(BUCKETS_MS.len())].count += 1;
    }
    buckets
}

#[cfg(test)]
mod tests;
