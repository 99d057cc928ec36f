//! What came of a stated verdict: as stated, or how it differs.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::entry::{Entry, Stated};
use crate::checker::{Finding, Verdict, canonical_model};
use crate::cli::check::judge::worst;

/// Which of the two forms of a history was judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Path,
    Raw,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Form::Path => "path",
            Form::Raw => "raw",
        }
    }
}

/// One form of a history, judged once.
pub struct Outcome {
    pub form: Form,
    /// Position among the entry's checks.
    pub check: usize,
    /// `None` if nothing could be judged; `contradictions` says why.
    pub verdict: Option<Verdict>,
    pub why: Vec<String>,
    /// How many anomalies of each kind were named.
    pub anomalies: BTreeMap<String, usize>,
    pub violates: Vec<String>,
    /// How this differs from what is stated; empty if it does not.
    pub contradictions: Vec<String>,
}

impl Outcome {
    /// Nothing came of it.
    pub fn failed(form: Form, check: usize, why: String) -> Outcome {
        Outcome {
            form,
            check,
            verdict: None,
            why: Vec::new(),
            anomalies: BTreeMap::new(),
            violates: Vec::new(),
            contradictions: vec![why],
        }
    }

    pub fn of(form: Form, check: usize, stated: &Stated, findings: &[Finding]) -> Outcome {
        let mut anomalies = BTreeMap::new();
        for anomaly in findings.iter().flat_map(|finding| &finding.anomalies) {
            *anomalies.entry(anomaly.kind.clone()).or_insert(0) += 1;
        }
        let consistencies = findings.iter().filter_map(|finding| finding.consistency.as_ref());
        let mut violates: Vec<String> = Vec::new();
        for model in consistencies.flat_map(|consistency| &consistency.violates) {
            if !violates.contains(model) {
                violates.push(model.clone());
            }
        }
        let verdict = worst(findings);
        let telling = findings.iter().filter(|finding| finding.verdict == verdict);
        let why = telling.map(|finding| format!("{}: {}", finding.name, finding.why)).collect();
        let mut outcome = Outcome {
            form,
            check,
            verdict: Some(verdict),
            why,
            anomalies,
            violates,
            contradictions: Vec::new(),
        };
        outcome.contradictions = outcome.against(stated, verdict);
        outcome
    }

    fn against(&self, stated: &Stated, verdict: Verdict) -> Vec<String> {
        let mut found = Vec::new();
        if stated.verdict.is_some_and(|stated| stated != verdict) {
            found.push(format!("{}, stated {}", verdict.name(), stated.verdict_name()));
        }
        let is_named = |name: &String| self.anomalies.contains_key(name);
        for name in stated.includes.iter().filter(|name| !is_named(name)) {
            found.push(format!("does not name {name}"));
        }
        for name in stated.excludes.iter().filter(|name| is_named(name)) {
            found.push(format!("names {name}, which is not there"));
        }
        for model in stated.violates.iter().filter(|model| !self.rules_out(model)) {
            found.push(format!("does not say that {model} is violated"));
        }
        found
    }

    /// Whether a model is violated, by whichever of its names.
    fn rules_out(&self, model: &str) -> bool {
        let name = canonical_model(model).unwrap_or(model);
        self.violates.iter().any(|violated| violated == name)
    }

    pub fn is_as_stated(&self) -> bool {
        self.contradictions.is_empty()
    }

    pub fn verdict_name(&self) -> &'static str {
        self.verdict.map_or("failed", Verdict::name)
    }

    pub fn to_json(&self, entry: &Entry) -> Json {
        let stated = &entry.checks[self.check];
        json!({
            "form": self.form.name(),
            "check": self.check,
            "label": stated.label,
            "stated": stated.verdict_name(),
            "verdict": self.verdict.map(Verdict::name),
            "as_stated": self.is_as_stated(),
            "contradictions": self.contradictions,
            "why": self.why,
            "anomalies": self.anomalies,
            "violates": self.violates,
        })
    }
}
