//! Which operations a counterexample's timeline shows: those that prove it, and some of those around.

use std::collections::BTreeSet;

use super::axis::Axis;
use crate::checker::Anomaly;
use crate::op::{Key, Nanos, NodeName, Process};
use crate::report::digest::{Digest, Operation};

const CORE_MAX: usize = 40;
const CONTEXT_MAX: usize = 40;
const LANES_MAX: usize = 16;

/// A row of the timeline: who answered whom. In order of node, then process.
pub(super) type Lane = (Option<NodeName>, Process);

pub(super) struct Selection<'a> {
    /// The counterexample, in order of time.
    pub(super) core: Vec<Operation<'a>>,
    /// Operations of the counterexample that found no room.
    pub(super) left_out: usize,
    /// Others on the same key at the same time.
    pub(super) context: Vec<Operation<'a>>,
    pub(super) lanes: Vec<Lane>,
}

/// The operations that the anomaly names and the history has.
pub(super) fn core<'a>(digest: &Digest<'a>, anomaly: &Anomaly) -> (Vec<Operation<'a>>, usize) {
    let mut core: Vec<Operation> = anomaly
        .ops
        .iter()
        .filter_map(|index| {
            let at = digest.operations.partition_point(|operation| operation.invoke.index < *index);
            digest.operations.get(at).filter(|operation| operation.invoke.index == *index).copied()
        })
        .collect();
    core.sort_by_key(|operation| (operation.invoke.time, operation.invoke.index));
    let left_out = core.len().saturating_sub(CORE_MAX);
    // The end of a counterexample is where it breaks; what is left out stands before it.
    (core.split_off(left_out), left_out)
}

pub(super) fn lane_of(operation: &Operation) -> Lane {
    (operation.node(), operation.invoke.process)
}

impl<'a> Selection<'a> {
    pub(super) fn around(
        digest: &Digest<'a>,
        core: Vec<Operation<'a>>,
        left_out: usize,
        axis: &Axis,
    ) -> Selection<'a> {
        let mut lanes: BTreeSet<Lane> = core.iter().map(lane_of).collect();
        let mut context = Vec::new();
        for (_, operation) in neighbours(digest, &core, axis) {
            let fits = lanes.contains(&lane_of(&operation)) || lanes.len() < LANES_MAX;
            if fits && context.len() < CONTEXT_MAX {
                lanes.insert(lane_of(&operation));
                context.push(operation);
            }
        }
        context.sort_by_key(|operation| operation.invoke.index);
        Selection { core, left_out, context, lanes: lanes.into_iter().collect() }
    }
}

/// Operations on the same keys that the axis shows, the nearest to the counterexample first.
fn neighbours<'a>(
    digest: &Digest<'a>,
    core: &[Operation<'a>],
    axis: &Axis,
) -> Vec<(Nanos, Operation<'a>)> {
    let keys: BTreeSet<Option<&Key>> = core.iter().map(|op| op.invoke.key.as_ref()).collect();
    let indices: BTreeSet<u64> = core.iter().map(|op| op.invoke.index).collect();
    let mut neighbours: Vec<(Nanos, Operation)> = digest
        .operations
        .iter()
        .filter(|operation| axis.shows(operation.invoke.time, operation.ended(digest.end)))
        .filter(|operation| keys.contains(&operation.invoke.key.as_ref()))
        .filter(|operation| !indices.contains(&operation.invoke.index))
        .map(|operation| (distance(operation, core, digest.end), *operation))
        .collect();
    neighbours.sort_by_key(|(distance, operation)| (*distance, operation.invoke.index));
    neighbours
}

/// How long before or after the nearest operation of the counterexample it ran; 0 if beside it.
fn distance(operation: &Operation, core: &[Operation], end: Nanos) -> Nanos {
    let gap = |other: &Operation| {
        let before = other.invoke.time.saturating_sub(operation.ended(end));
        before.max(operation.invoke.time.saturating_sub(other.ended(end)))
    };
    core.iter().map(gap).min().unwrap_or(0)
}
