//! list-append: hand-made histories, Elle's examples, brute force, simulated stores, recorded histories.

mod answers;
mod elle;
mod oracle;
mod random;
mod recorded;
mod serial;
mod spelled;
mod stores;
mod transform;
mod visible;
mod words;

use super::ListAppend;
use crate::checker::{Budget, Checker, Finding, ModelOptions};
use crate::history::History;
use crate::op::Event;

/// Options that ask for these models and anomalies.
fn asking(models: &[&str], anomalies: &[&str]) -> ModelOptions {
    ModelOptions {
        consistency_models: models.iter().map(|model| model.to_string()).collect(),
        anomalies: anomalies.iter().map(|anomaly| anomaly.to_string()).collect(),
        ..ModelOptions::default()
    }
}

fn judge(events: &[Event], options: &ModelOptions) -> Finding {
    let mut checker = ListAppend::new(options).expect("options");
    for event in events {
        checker.observe(event);
    }
    checker.finish(&History::default(), &Budget::UNBOUNDED)
}

/// The kinds of anomalies that were told, sorted.
fn kinds(finding: &Finding) -> Vec<&str> {
    let mut kinds: Vec<&str> =
        finding.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// How many random histories a test tries.
fn seeds(by_default: u64) -> u64 {
    std::env::var("STORMGLASS_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(by_default)
}
