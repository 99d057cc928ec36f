//! The verdict on a history as JSON, for tools.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::{Checked, by_kind, count_all, count_of};
use crate::checker::{Anomaly, Finding};

const ANOMALIES_MAX: usize = 200;
const OPS_MAX: usize = 1_000;
const DETAILS_MAX: usize = 100;

impl Checked<'_> {
    /// All that was found. `anomalies_total`, `ops_total` and `details_total` are counts of all there is,
    /// also where the lists are cut.
    pub fn to_json(&self) -> Json {
        let numbered = self.findings.iter().enumerate();
        let findings = numbered.map(|(position, one)| finding(one, self.model_of(position)));
        json!({
            "file": self.name,
            "models": self.models,
            "guessed": self.guessed,
            "verdict": self.verdict().name(),
            "exit_code": self.exit_code,
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}

fn finding(finding: &Finding, model: Option<&str>) -> Json {
    let told = finding.anomalies.iter().take(ANOMALIES_MAX);
    let kinds = by_kind(finding).into_iter();
    let kinds: IndexMap<&str, usize> =
        kinds.map(|(kind, told)| (kind, count_of(finding, kind, told.len()))).collect();
    json!({
        "name": finding.name,
        "model": model,
        "verdict": finding.verdict.name(),
        "why": finding.why,
        "anomalies_total": count_all(finding),
        "anomalies_by_kind": kinds,
        "anomalies": told.map(anomaly).collect::<Vec<_>>(),
        "figures": finding.figures,
        "consistency": finding.consistency,
        "keys": finding.keys,
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
