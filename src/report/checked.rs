//! What checking a history by its models came to: as text, as JSON, as a page. All bounded, whatever the
//! history.

mod json;
mod text;

pub use text::checked_text;

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::checker::{Anomaly, Finding, Verdict};

/// The verdict on one history.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The history, as the reader named it.
    pub name: &'a str,
    pub models: &'a [&'a str],
    /// The model of each finding, if it is of one.
    pub models_of: &'a [Option<&'static str>],
    /// Where the models were not named but guessed: what spoke for them.
    pub guessed: Option<&'a str>,
    pub findings: &'a [Finding],
    pub exit_code: i32,
}

impl Checked<'_> {
    pub fn verdict(&self) -> Verdict {
        let worst = self.findings.iter().map(|finding| finding.verdict).max();
        worst.unwrap_or(Verdict::Unknown)
    }

    /// The model that the finding of this position is of.
    fn model_of(&self, position: usize) -> Option<&'static str> {
        self.models_of.get(position).copied().flatten()
    }

    /// What the finding is called: where several models are judged, with the one that it is of.
    pub(super) fn label(&self, position: usize, finding: &Finding) -> String {
        match self.model_of(position) {
            Some(model) if self.models.len() > 1 && model != finding.name => {
                format!("{} ({model})", finding.name)
            }
            _ => finding.name.clone(),
        }
    }
}

/// A finding's anomalies by kind, in order of their first appearance.
pub(super) fn by_kind(finding: &Finding) -> IndexMap<&str, Vec<&Anomaly>> {
    let mut kinds: IndexMap<&str, Vec<&Anomaly>> = IndexMap::new();
    for anomaly in &finding.anomalies {
        kinds.entry(&anomaly.kind).or_default().push(anomaly);
    }
    kinds
}

/// The first keys that a finding says are violated, each once, and how many there are.
pub(super) fn violated_keys(finding: &Finding) -> (Vec<&str>, usize) {
    if let Some(keys) = &finding.keys {
        let first = keys.violated_keys.iter().map(String::as_str).collect();
        return (first, keys.violated as usize);
    }
    let mut seen = BTreeSet::new();
    let keys = finding.anomalies.iter().filter_map(|anomaly| anomaly.key.as_deref());
    let keys: Vec<&str> = keys.filter(|key| seen.insert(*key)).collect();
    let all = keys.len();
    (keys, all)
}

/// How many anomalies of a kind there are: a checker may tell the first and count all.
pub(super) fn count_of(finding: &Finding, kind: &str, told: usize) -> usize {
    let figure = |name: &str| finding.figures.get(name).map(|count| *count as usize);
    let counted = figure(kind).or_else(|| figure(&format!("{kind}-count"))).unwrap_or(0);
    counted.max(told)
}

/// Violations beyond those that are told, of which nobody knows the kind.
pub(super) fn not_explained(finding: &Finding) -> usize {
    let figure = |name| finding.figures.get(name).map_or(0, |count| *count as usize);
    let violated = figure("violated-keys").max(figure("violated-parts"));
    violated.saturating_sub(finding.anomalies.len())
}

/// How many anomalies a finding stands for, told or not.
pub(super) fn count_all(finding: &Finding) -> usize {
    let kinds = by_kind(finding);
    let counts = kinds.iter().map(|(kind, told)| count_of(finding, kind, told.len()));
    counts.sum::<usize>() + not_explained(finding)
}
