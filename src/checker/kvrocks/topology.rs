//! The topology never goes back: not at a node, not in the controllers' store; and what was acknowledged of
//! it stays until somebody undoes it.

mod changes;
mod documents;
mod namespaces;
mod nodes;
#[cfg(test)]
mod tests;

use super::KvrocksChecks;
use super::evidence::Evidence;
use super::wording::{counted, finding};
use crate::checker::{Anomaly, Budget, Checker, Finding};
use crate::history::History;

/// Demands that versions of the topology only grow, and that changes of it do not vanish.
#[derive(Clone, Debug)]
pub(super) struct TopologyMonotone {
    pub checks: KvrocksChecks,
}

impl Checker for TopologyMonotone {
    fn name(&self) -> &'static str {
        "topology-monotone"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let pairs = history.operations();
        let evidence = Evidence::of(history, &pairs, &self.checks.shards);
        let (sightings, backs) = nodes::went_back(history);
        let is_current = evidence.views.reads_are_current();
        let doubts = documents::doubts(&evidence.told, is_current);
        let mut lost = changes::lost_migrations(&evidence, &doubts);
        lost.extend(changes::lost_failovers(&pairs, &evidence));
        lost.extend(namespaces::lost(&pairs));
        // A document that displaced an acknowledged change is told with that change.
        let told = |doubt: &documents::Doubt| lost.iter().any(|lost| lost.is_told_by(doubt));
        let unexplained: Vec<_> = doubts.iter().filter(|doubt| !told(doubt)).collect();
        let why = format!(
            "{} of nodes, {} of controllers: {}, {}",
            counted(sightings, "version"),
            counted(evidence.told.len(), "document"),
            match backs.len() + doubts.len() {
                0 => "none went back".to_owned(),
                some => format!("went back {}", super::wording::times(some)),
            },
            match lost.len() {
                0 => "no acknowledged change vanished".to_owned(),
                some => format!("{} vanished", counted(some, "acknowledged change")),
            },
        );
        let figures = [
            ("node-versions", sightings as f64),
            ("documents", evidence.told.len() as f64),
            ("nodes-went-back", backs.len() as f64),
            ("documents-went-back", doubts.len() as f64),
            ("lost-changes", lost.len() as f64),
        ];
        let mut anomalies: Vec<Anomaly> = nodes::anomalies(&backs);
        anomalies.extend(unexplained.into_iter().map(documents::Doubt::anomaly));
        anomalies.extend(lost.into_iter().map(|lost| lost.anomaly));
        anomalies.sort_by_key(|anomaly| (anomaly.from, anomaly.to));
        finding(self.name(), why, anomalies, figures)
    }
}
