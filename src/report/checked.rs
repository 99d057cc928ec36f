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
}

/// A finding's anomalies by kind, in order of their first appearance.
pub(super) fn by_kind(finding: &Finding) -> IndexMap<&str, Vec<&Anomaly>> {
    let mut kinds: IndexMap<&str, Vec<&Anomaly>> = IndexMap::new();
    for anomaly in &finding.anomalies {
        kinds.entry(&anomaly.kind).or_default().push(anomaly);
    }
    kinds
}

/// The keys that a finding's anomalies name, each once.
pub(super) fn violated_keys(finding: &Finding) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let keys = finding.anomalies.iter().filter_map(|anomaly| anomaly.key.as_deref());
    keys.filter(|key| seen.insert(*key)).collect()
}

/// How many anomalies of a kind there are: a checker may tell the first and count all.
pub(super) fn count_of(finding: &Finding, kind: &str, told: usize) -> usize {
    let counted = finding.figures.get(kind).map_or(0, |count| *count as usize);
    counted.max(told)
}
