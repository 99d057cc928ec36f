//! What the controllers' store holds: versions only grow, and no two documents bear the same one.

use std::collections::BTreeMap;

use super::super::evidence::{Document, Told};
use super::super::wording::{bounded, seconds};
use crate::checker::Anomaly;
use crate::op::Nanos;

/// Two documents that cannot both be steps of one history of the topology, in order of completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt<'a> {
    pub one: &'a Told,
    pub other: &'a Told,
}

/// All of them: for each version that two documents bear the first two, and each time that the version fell.
pub(super) fn doubts(told: &[Told], is_current: bool) -> Vec<Doubt<'_>> {
    let mut doubts = twins(told);
    doubts.extend(falls(told, is_current));
    doubts
}

fn twins(told: &[Told]) -> Vec<Doubt<'_>> {
    let mut by_version: BTreeMap<u64, (&Told, bool)> = BTreeMap::new();
    let mut doubts = Vec::new();
    for other in told {
        let version = other.document.version;
        let (one, doubted) = by_version.entry(version).or_insert((other, false));
        if !*doubted && one.document != other.document {
            *doubted = true;
            doubts.push(Doubt { one, other });
        }
    }
    doubts
}

/// What was read may be older than the question where ZooKeeper has followers; what was written is not.
fn falls(told: &[Told], is_current: bool) -> Vec<Doubt<'_>> {
    // The highest so far, by the moment at which it was known.
    let mut highest: Vec<(Nanos, &Told)> = Vec::new();
    let mut doubts = Vec::new();
    for other in told.iter() {
        let version = other.document.version;
        let known = highest.partition_point(|(since, _)| *since <= other.asked);
        let before = known.checked_sub(1).map(|last| highest[last].1);
        let counts = is_current || !other.is_read;
        if let Some(one) = before.filter(|one| counts && one.document.version > version) {
            doubts.push(Doubt { one, other });
            // From here on the store goes its own way.
            highest.clear();
        }
        if highest.last().is_none_or(|(_, last)| last.document.version < version) {
            highest.push((other.answered, other));
        }
    }
    doubts
}

impl Doubt<'_> {
    pub fn anomaly(&self) -> Anomaly {
        let Doubt { one, other } = self;
        let (first, second) = (one.document.version, other.document.version);
        let (by_one, by_other) = (who(one), who(other));
        let (at_one, at_other) = (seconds(one.answered), seconds(other.answered));
        let summary = match first == second {
            true => format!(
                "two documents bear version {first} of the topology: {by_one} told one at {at_one}, {by_other} another at {at_other}"
            ),
            false => format!(
                "the controllers' store went back: {by_one} told version {first} at {at_one}, {by_other}, asked later, version {second} at {at_other}"
            ),
        };
        let mut nodes = vec![by_one, by_other];
        nodes.dedup();
        let mut ops = vec![one.index, other.index];
        ops.sort_unstable();
        Anomaly {
            kind: "topology-went-back".to_owned(),
            summary,
            details: bounded(differences(&one.document, &other.document)),
            key: None,
            nodes,
            ops,
            from: one.asked.min(other.asked),
            to: other.answered,
            faults: None,
            cycle: None,
        }
    }
}

pub(super) fn who(told: &Told) -> String {
    told.by.map_or("a controller".to_owned(), |by| by.to_string())
}

/// What one document says and the other says otherwise, shard by shard.
pub(super) fn differences(one: &Document, other: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    if one.shards.len() != other.shards.len() {
        lines.push(format!("{} shards, {} shards", one.shards.len(), other.shards.len()));
    }
    for (shard, (one, other)) in one.shards.iter().zip(&other.shards).enumerate() {
        if (one.master, &one.replicas) != (other.master, &other.replicas) {
            let master = |part: &super::super::evidence::Part| {
                part.master.map_or("nobody".to_owned(), |master| master.to_string())
            };
            lines.push(format!("shard {shard}: master {}, master {}", master(one), master(other)));
        }
        if one.slots != other.slots {
            lines.push(format!("shard {shard}: owns other slots"));
        }
        if one.mark != other.mark {
            let mark = |part: &super::super::evidence::Part| match &part.mark {
                None => "nothing on its way".to_owned(),
                Some(mark) => match mark.slots.single() {
                    Some(slot) => format!("slot {slot} on its way to shard {}", mark.target),
                    None => format!("slots on their way to shard {}", mark.target),
                },
            };
            lines.push(format!("shard {shard}: {}, {}", mark(one), mark(other)));
        }
    }
    lines
}
