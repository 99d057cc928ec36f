//! Replicas that do not hold what their master holds, at the end, when nothing is written any more and they
//! have had the time to catch up.

mod dumps;
#[cfg(test)]
mod tests;

use super::KvrocksChecks;
use super::wording::{bounded, counted, finding, seconds};
use crate::checker::{Anomaly, Budget, Checker, Finding, Verdict};
use crate::history::History;
use crate::op::{Nanos, NodeName, SECOND};
use dumps::{Differing, Dumps};

/// A replica that is sound has caught up by then.
const CATCH_UP: Nanos = 5 * SECOND;

/// Anomalies of one shard, at most: one key each.
const KEYS_MAX: usize = 3;

/// Demands that the nodes of a shard hold the same in the end.
#[derive(Clone, Debug)]
pub(super) struct ReplicaDivergence {
    pub checks: KvrocksChecks,
}

impl Checker for ReplicaDivergence {
    fn name(&self) -> &'static str {
        "diverged-replicas"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let dumps = Dumps::of(&history.operations());
        let (mut compared, mut lasting, mut fresh) = (0, Vec::new(), 0);
        for nodes in &self.checks.shards {
            let (keys, differing) = dumps.compare(nodes);
            compared += keys;
            for one in differing {
                match one.last.saturating_sub(one.first) >= CATCH_UP {
                    true => lasting.push(one),
                    false => fresh += 1,
                }
            }
        }
        let mut why = match compared {
            0 => "no two nodes of a shard told what they hold".to_owned(),
            keys => format!("{} compared", counted(keys, "key")),
        };
        why += &match (lasting.len(), fresh) {
            (0, 0) => ": replicas hold what their masters do".to_owned(),
            (0, fresh) => format!(
                ": {fresh} differ, but replicas had less than {} to catch up",
                seconds(CATCH_UP)
            ),
            (lasting, _) => format!(": {lasting} differ"),
        };
        let figures = [
            ("keys-compared", compared as f64),
            ("keys-differing", (lasting.len() + fresh) as f64),
            ("dumps", dumps.count() as f64),
        ];
        let open = compared == 0 || (lasting.is_empty() && fresh > 0);
        let mut finding = finding(self.name(), why, anomalies(&lasting), figures);
        if open {
            finding.verdict = Verdict::Unknown;
        }
        finding
    }
}

/// The first keys of each pair of nodes.
fn anomalies(differing: &[Differing]) -> Vec<Anomaly> {
    let mut told: Vec<(Vec<NodeName>, usize)> = Vec::new();
    let mut anomalies = Vec::new();
    for one in differing {
        let nodes: Vec<NodeName> = one.held.iter().map(|(node, _)| *node).collect();
        let position = told.iter().position(|(known, _)| *known == nodes).unwrap_or_else(|| {
            told.push((nodes.clone(), 0));
            told.len() - 1
        });
        told[position].1 += 1;
        if told[position].1 <= KEYS_MAX {
            let all = differing
                .iter()
                .filter(|other| other.held.iter().map(|(node, _)| *node).eq(nodes.iter().copied()));
            anomalies.push(anomaly(one, all.count()));
        }
    }
    anomalies
}

fn anomaly(one: &Differing, all: usize) -> Anomaly {
    let Differing { key, held, first, last, ops } = one;
    let values: Vec<String> =
        held.iter().map(|(node, value)| format!("{node} holds {value}")).collect();
    Anomaly {
        kind: "replica-divergence".to_owned(),
        summary: format!(
            "of key {key} {} at {}, and have done so for {}: they are one shard, and nothing is written any more",
            values.join(", "),
            seconds(*last),
            seconds(last - first),
        ),
        details: bounded([format!("{} of this shard differ", counted(all, "key"))]),
        key: Some(key.clone()),
        nodes: held.iter().map(|(node, _)| node.to_string()).collect(),
        ops: ops.clone(),
        from: *first,
        to: *last,
        faults: None,
        cycle: None,
    }
}
