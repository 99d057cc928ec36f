//! A split brain as one story: what was asked, which message was lost, what each of the two nodes then
//! acknowledged, when a later topology ended it, and what of it is gone.

mod fate;
mod story;

use std::collections::BTreeMap;

pub(super) use self::fate::Fate;
pub(super) use self::story::{Step, StepKind};

use self::story::Source;
use super::digest::{Digest, Operation};
use super::hits::Hit;
use super::slots::changes;
use super::versions::Versions;
use crate::checker::Anomaly;
use crate::nemesis::FaultRecord;
use crate::op::{Kind, MILLISECOND, Nanos, NodeName, SECOND, holds};

/// What came earlier or later than this is told, and drawn at the edge.
const REACH_MAX: Nanos = 6 * SECOND;
/// Writes that the story names one by one.
const NAMED_MAX: usize = 6;

/// Two nodes acknowledged for one slot.
pub(super) struct Overlap<'a> {
    pub slot: u16,
    /// While both of them took writes.
    pub both: (Nanos, Nanos),
    /// What is drawn.
    pub span: (Nanos, Nanos),
    pub sides: Vec<Side<'a>>,
    /// In order of time.
    pub steps: Vec<Step>,
}

/// What one node did for the slot in the time that is drawn.
pub(super) struct Side<'a> {
    pub node: NodeName,
    pub writes: Vec<(Operation<'a>, Fate<'a>)>,
    pub reads: Vec<Operation<'a>>,
    pub refused: Vec<Operation<'a>>,
    /// Versions of the topology that it went by, and since when.
    pub versions: Vec<(Nanos, u64)>,
}

/// The topology that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub at: Nanos,
    pub version: u64,
    pub owner: NodeName,
}

impl<'a> Overlap<'a> {
    /// `None` of other anomalies, and where the history does not tell the slot.
    pub(super) fn of(
        digest: &Digest<'a>,
        anomaly: &Anomaly,
        hits: &[Hit],
        versions: &Versions,
    ) -> Option<Overlap<'a>> {
        if anomaly.kind != "split-brain" {
            return None;
        }
        let slot = slot(digest, anomaly)?;
        let both = (anomaly.from, anomaly.to);
        let nodes: Vec<NodeName> = anomaly.nodes.iter().map(|node| node.as_str().into()).collect();
        let of_slot: Vec<Operation> =
            digest.operations.iter().filter(|op| op.slot() == Some(slot)).copied().collect();
        let end = end(digest, slot, both, &nodes, versions);
        let source = Source { digest, slot, both, nodes: &nodes, hits, end };
        let mut steps = source.before();
        let first = steps.iter().map(|step| step.at).min().unwrap_or(both.0).min(both.0);
        let last = end.map_or(both.1, |end| end.at);
        let margin = ((last - first) / 16).max(20 * MILLISECOND);
        let span = (
            first.max(both.0.saturating_sub(REACH_MAX)).saturating_sub(margin),
            last.min(both.1 + REACH_MAX) + margin,
        );
        let fates = end.map(|end| fate::Fates::at(&of_slot, end));
        let sides: Vec<Side> = nodes
            .iter()
            .map(|node| side(*node, &of_slot, (first, span), fates.as_ref(), versions))
            .collect();
        steps.extend(source.during(&sides));
        steps.extend(source.after(&sides));
        steps.sort_by_key(|step| step.at);
        Some(Overlap { slot, both, span, sides, steps })
    }
}

impl Overlap<'_> {
    /// What came of it, where something is gone.
    pub(super) fn outcome(&self) -> Option<&str> {
        let loss = self.steps.iter().find(|step| step.kind == StepKind::Loss)?;
        Some(&loss.told)
    }
}

impl<'a> Side<'a> {
    /// The first write that it took from this moment on.
    fn first_write(&self, from: Nanos) -> Option<Operation<'a>> {
        let mut writes = self.writes.iter().map(|(write, _)| *write);
        writes.find(|write| write.last_sent() >= from)
    }

    /// How many of its writes are gone.
    pub(super) fn gone(&self) -> usize {
        self.writes.iter().filter(|(_, fate)| matches!(fate, Fate::Gone { .. })).count()
    }

    /// Writes and reads that it acknowledged while both did.
    pub(super) fn within(&self, (from, to): (Nanos, Nanos)) -> (usize, usize) {
        let within = |operation: &Operation| {
            let ended = operation.completion.map_or(Nanos::MAX, |event| event.time);
            operation.last_sent() >= from && ended <= to
        };
        let writes = self.writes.iter().filter(|(write, _)| within(write)).count();
        (writes, self.reads.iter().filter(|read| within(read)).count())
    }
}

/// The slot that most of the anomaly's operations are about.
fn slot(digest: &Digest, anomaly: &Anomaly) -> Option<u16> {
    let mut slots: BTreeMap<u16, usize> = BTreeMap::new();
    let at = |index: u64| {
        let place = digest.operations.partition_point(|op| op.invoke.index < index);
        digest.operations.get(place).filter(|operation| operation.invoke.index == index)
    };
    for slot in anomaly.ops.iter().filter_map(|index| at(*index)?.slot()) {
        *slots.entry(slot).or_default() += 1;
    }
    slots.into_iter().max_by_key(|(_, count)| *count).map(|(slot, _)| slot)
}

/// The first view after it in which all of the nodes go by a later version, and who owns the slot then.
fn end(
    digest: &Digest,
    slot: u16,
    both: (Nanos, Nanos),
    nodes: &[NodeName],
    versions: &Versions,
) -> Option<End> {
    let base = nodes.iter().filter_map(|node| versions.at(node, both.1)).max()?;
    let later = digest.steps.iter().filter(|step| step.event.time > both.1);
    later.filter_map(|step| Some((step.event.time, step.record.as_ref()?))).find_map(
        |(at, record)| {
            let FaultRecord::View { view } = record else { return None };
            let learned = |node| {
                view.nodes.get(node).is_some_and(|seen| seen.epoch.is_some_and(|v| v > base))
            };
            if !nodes.iter().all(learned) {
                return None;
            }
            let owns = view.nodes.iter().filter(|(_, node)| node.leads);
            let mut owners = owns.filter_map(|(name, node)| {
                let version = node.epoch.filter(|version| *version > base)?;
                holds(node.slots.as_deref()?, slot).then_some((version, *name))
            });
            let (version, owner) = owners.next()?;
            Some(End { at, version, owner })
        },
    )
}

fn side<'a>(
    node: NodeName,
    of_slot: &[Operation<'a>],
    (first, span): (Nanos, (Nanos, Nanos)),
    fates: Option<&fate::Fates<'a>>,
    versions: &Versions,
) -> Side<'a> {
    let mut side = Side { node, writes: vec![], reads: vec![], refused: vec![], versions: vec![] };
    let shown = |operation: &&Operation| {
        operation.node() == Some(node)
            && operation.completion.is_some_and(|event| event.time >= span.0)
            && operation.invoke.time <= span.1
    };
    for operation in of_slot.iter().filter(shown) {
        match operation.kind() {
            Kind::Ok if changes(operation) => {
                let since = operation.ended(0) >= first;
                let fate = fates.filter(|_| since).map_or(Fate::Unknown, |f| f.of(operation));
                side.writes.push((*operation, fate));
            }
            Kind::Ok => side.reads.push(*operation),
            Kind::Fail => side.refused.push(*operation),
            Kind::Info | Kind::Invoke => {}
        }
    }
    let known = versions.steps.get(&Some(node)).map_or(&[][..], |steps| steps.as_slice());
    let begins = known.partition_point(|(at, _)| *at <= span.0).saturating_sub(1);
    side.versions = known[begins..].iter().take_while(|(at, _)| *at <= span.1).copied().collect();
    side
}

/// A few of many in words, and how many more there are.
fn few(words: impl ExactSizeIterator<Item = String>) -> String {
    let count = words.len();
    let mut told: Vec<String> = words.take(NAMED_MAX).collect();
    if count > NAMED_MAX {
        told.push(format!("and {} more", count - NAMED_MAX));
    }
    told.join("; ")
}

#[cfg(test)]
mod tests;
