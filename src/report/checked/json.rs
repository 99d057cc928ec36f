//! The verdict on a history as JSON, for tools.

use serde_json::{Value as Json, json};

use super::Checked;
use crate::checker::{Anomaly, Finding};

const ANOMALIES_MAX: usize = 200;
const OPS_MAX: usize = 1_000;
const DETAILS_MAX: usize = 100;

impl Checked<'_> {
    /// All that was found. `anomalies_total`, `ops_total` and `details_total` tell where lists are cut.
    pub fn to_json(&self) -> Json {
        json!({
            "file": self.name,
            "models": self.models,
            "guessed": self.guessed,
            "verdict": self.verdict().name(),
            "exit_code": self.exit_code,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

fn finding(finding: &Finding) -> Json {
    let told = finding.anomalies.iter().take(ANOMALIES_MAX);
    json!({
        "name": finding.name,
        "verdict": finding.verdict.name(),
        "why": finding.why,
        "anomalies_total": finding.anomalies.len(),
        "anomalies": told.map(anomaly).collect::<Vec<_>>(),
        "figures": finding.figures,
        "consistency": finding.consistency,
    })
}

fn anomaly(anomaly: &Anomaly) -> Json {
    let ops = &anomaly.ops[..anomaly.ops.len().min(OPS_MAX)];
    let details = &anomaly.details[..anomaly.details.len().min(DETAILS_MAX)];
    json!({
        "kind": anomaly.kind,
        "summary": anomaly.summary,
        "details": details,
        "details_total": anomaly.details.len(),
        "key": anomaly.key,
        "nodes": anomaly.nodes,
        "ops": ops,
        "ops_total": anomaly.ops.len(),
        "from": anomaly.from,
        "to": anomaly.to,
        "faults": anomaly.faults,
        "cycle": anomaly.cycle,
    })
}
