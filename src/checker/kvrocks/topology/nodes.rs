//! Versions of the topology that nodes admitted, view by view.

use std::collections::BTreeMap;

use super::super::wording::{counted, seconds};
use crate::checker::Anomaly;
use crate::cluster::{Action, NodeState, Role, View};
use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Event, Nanos, NodeName};

/// A node went by a lower version than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Back {
    pub node: NodeName,
    pub before: u64,
    /// When it was last seen to go by the higher version.
    pub seen_before: Nanos,
    pub after: u64,
    pub seen_after: Nanos,
}

/// How many versions were seen, and where a node went back.
///
/// A node that restarts, or says that it has no topology, may begin anew. A view that was taken to aim a
/// fault is left out: it may overlap the one before or after, and then nobody knows which is older.
pub(super) fn went_back(history: &History) -> (usize, Vec<Back>) {
    let (mut known, mut backs, mut sightings) = (BTreeMap::new(), Vec::new(), 0);
    let events = history.events();
    for (position, event) in events.iter().enumerate() {
        match FaultRecord::of(event) {
            Some(FaultRecord::View { view }) if !aims(events.get(position + 1)) => {
                sightings += look(&view, event.time, &mut known, &mut backs);
            }
            Some(FaultRecord::Begin { actions, .. }) => {
                for node in actions.iter().filter_map(restarted) {
                    known.remove(node);
                }
            }
            _ => {}
        }
    }
    (sightings, backs)
}

/// Whether a view before this event was taken for it.
fn aims(next: Option<&Event>) -> bool {
    let record = next.and_then(FaultRecord::of);
    matches!(
        record,
        Some(
            FaultRecord::Begin { .. } | FaultRecord::Triggered { .. } | FaultRecord::Skipped { .. }
        )
    )
}

fn restarted(action: &Action) -> Option<&NodeName> {
    match action {
        Action::Kill { node } | Action::Stop { node } | Action::Crash { node } => Some(node),
        _ => None,
    }
}

fn look(
    view: &View,
    now: Nanos,
    known: &mut BTreeMap<NodeName, (u64, Nanos)>,
    backs: &mut Vec<Back>,
) -> usize {
    let mut sightings = 0;
    for (name, node) in view.nodes.iter().filter(|(_, node)| node.role == Role::Kvrocks) {
        match (node.state, node.epoch) {
            (_, Some(version)) => {
                sightings += 1;
                if let Some((before, seen_before)) = known.insert(*name, (version, now))
                    && version < before
                {
                    let (node, after, seen_after) = (*name, version, now);
                    backs.push(Back { node, before, seen_before, after, seen_after });
                }
            }
            (NodeState::Down | NodeState::Serving, None) => {
                known.remove(name);
            }
            // It could not be asked.
            (NodeState::Running | NodeState::Paused, None) => {}
        }
    }
    sightings
}

/// One for each node, in name order, told by its first time.
pub(super) fn anomalies(backs: &[Back]) -> Vec<Anomaly> {
    let mut nodes: BTreeMap<NodeName, Vec<&Back>> = BTreeMap::new();
    for back in backs {
        nodes.entry(back.node).or_default().push(back);
    }
    nodes.values().map(|backs| anomaly(backs)).collect()
}

fn anomaly(backs: &[&Back]) -> Anomaly {
    let told = |back: &&Back| {
        let (from, to) = (seconds(back.seen_before), seconds(back.seen_after));
        format!("version {} at {from}, version {} at {to}", back.before, back.after)
    };
    let first = backs[0];
    let more = match backs.len() - 1 {
        0 => String::new(),
        more => format!(", and {} more", counted(more, "time")),
    };
    Anomaly {
        kind: "topology-went-back".to_owned(),
        summary: format!(
            "{} went by version {} of the topology at {} and by the lower version {} at {}, without a restart{more}",
            first.node,
            first.before,
            seconds(first.seen_before),
            first.after,
            seconds(first.seen_after),
        ),
        details: super::super::wording::bounded(backs.iter().map(told)),
        key: None,
        nodes: vec![first.node.to_string()],
        ops: Vec::new(),
        from: first.seen_before,
        to: backs.last().map_or(first.seen_after, |last| last.seen_after),
        faults: None,
        cycle: None,
    }
}
