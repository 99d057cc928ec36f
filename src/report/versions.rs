//! Versions of a cluster's topology over time: as controllers told them, as each data node admitted them.

use std::collections::BTreeMap;

use super::digest::Digest;
use crate::cluster::Role;
use crate::nemesis::FaultRecord;
use crate::op::{ClusterTopology, Kind, Nanos, NodeName};

/// Rows of the table; of more the last ones are told.
const ROWS_MAX: usize = 100;

/// One version and when each place first had it, or a later one.
pub(super) struct VersionRow {
    pub version: u64,
    /// When a controller first told it.
    pub told: Option<Nanos>,
    pub admitted: BTreeMap<NodeName, Nanos>,
}

#[derive(Default)]
pub(super) struct Versions {
    pub nodes: Vec<NodeName>,
    pub rows: Vec<VersionRow>,
    pub left_out: usize,
    /// Each node's versions as they changed, for the drawing; the controllers' without a node.
    pub steps: BTreeMap<Option<NodeName>, Vec<(Nanos, u64)>>,
}

impl Versions {
    pub(super) fn of(digest: &Digest) -> Versions {
        let mut versions = Versions::default();
        for step in &digest.steps {
            let Some(FaultRecord::View { view }) = &step.record else { continue };
            for (name, node) in view.nodes.iter().filter(|(_, node)| node.role == Role::Kvrocks) {
                if !versions.nodes.contains(name) {
                    versions.nodes.push(*name);
                }
                if let Some(version) = node.epoch {
                    versions.note(Some(*name), step.event.time, version);
                }
            }
        }
        for completion in digest.operations.iter().filter_map(|operation| operation.completion) {
            let told = (completion.kind == Kind::Ok && &*completion.f == "topology")
                .then(|| ClusterTopology::of(&completion.value));
            if let Some(topology) = told.flatten() {
                versions.note(None, completion.time, topology.version);
            }
        }
        versions.steps.values_mut().for_each(|steps| {
            steps.sort_by_key(|(at, _)| *at);
            steps.dedup_by_key(|(_, version)| *version);
        });
        versions.nodes.sort();
        versions.tabulate();
        versions
    }

    fn note(&mut self, node: Option<NodeName>, at: Nanos, version: u64) {
        self.steps.entry(node).or_default().push((at, version));
    }

    /// The version that a node was last seen to go by, by then.
    pub(super) fn at(&self, node: &NodeName, by: Nanos) -> Option<u64> {
        let steps = self.steps.get(&Some(*node))?;
        steps.iter().take_while(|(at, _)| *at <= by).last().map(|(_, version)| *version)
    }

    pub(super) fn highest(&self) -> u64 {
        self.steps.values().flatten().map(|(_, version)| *version).max().unwrap_or(0)
    }

    /// A node that goes by a later version has left the earlier ones behind.
    fn tabulate(&mut self) {
        let mut known: Vec<u64> =
            self.steps.values().flatten().map(|(_, version)| *version).collect();
        known.sort_unstable();
        known.dedup();
        self.left_out = known.len().saturating_sub(ROWS_MAX);
        let row = |version: &u64| {
            let first = |node: &Option<NodeName>| {
                let steps = self.steps.get(node)?;
                steps.iter().find(|(_, seen)| seen >= version).map(|(at, _)| *at)
            };
            let admitted = self.nodes.iter().filter_map(|node| Some((*node, first(&Some(*node))?)));
            VersionRow { version: *version, told: first(&None), admitted: admitted.collect() }
        };
        self.rows = known[self.left_out..].iter().map(row).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::{history, merge, record};
    use crate::cluster::{NodeState, NodeView, View};
    use crate::op::SECOND;

    #[test]
    fn each_version_is_told_with_when_each_node_had_it_or_a_later_one() {
        let seen = |at: f64, versions: [u64; 2]| {
            let node = |(number, version): (usize, u64)| {
                let serving = NodeView::new(Role::Kvrocks, NodeState::Serving, "");
                (Role::Kvrocks.node_name(number), NodeView { epoch: Some(version), ..serving })
            };
            let nodes = (1..).zip(versions).map(node).collect();
            record(at, "view", &FaultRecord::View { view: View { nodes } })
        };
        let asked = history(
            "
            1.0 9 invoke topology nil
            1.5 9 ok topology {\"version\":2,\"shards\":[]}
            4.0 9 invoke topology nil
            4.5 9 ok topology {\"version\":4,\"shards\":[]}",
        );
        let events = vec![seen(1.0, [1, 1]), seen(2.0, [2, 1]), seen(5.0, [4, 2])];
        let history = merge(&asked, events);
        let versions = Versions::of(&Digest::of(&history));
        let told: Vec<(u64, Option<Nanos>, Vec<Nanos>)> = versions
            .rows
            .iter()
            .map(|row| {
                let admitted = row.admitted.values().map(|at| at / SECOND).collect();
                (row.version, row.told.map(|at| at / SECOND), admitted)
            })
            .collect();
        let expected = [(1, Some(1), vec![1, 1]), (2, Some(1), vec![2, 5]), (4, Some(4), vec![5])];
        assert_eq!(told, expected);
        assert_eq!((versions.highest(), versions.left_out), (4, 0));
    }
}
