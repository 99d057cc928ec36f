//! What of the acknowledged writes is lost, by each kind of evidence: one place that all panels ask.
//!
//! Final reads show what is missing at the end. What was lost and then written anew is not missing there;
//! only what clients saw meanwhile shows it.

use super::{Results, words};
use crate::checker::Finding;

/// Counts of lost writes; `None` where nobody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Losses {
    /// Missing at the end, and no failover explains it.
    pub at_the_end: Option<u64>,
    /// Keys on which clients meanwhile saw that a write was lost.
    pub meanwhile: Option<u64>,
    /// Writes of a split brain that the node which kept the slot never had.
    pub after_splits: u64,
}

impl Losses {
    pub(super) fn of(results: &Results, after_splits: u64) -> Losses {
        let figure = |finding: &Finding| finding.figures.get("lost").map(|lost| *lost as u64);
        let at_the_end = results.checkers.iter().find_map(figure);
        let told = |finding: &&Finding| finding.name == "linearizability";
        let meanwhile = results.checkers.iter().find(told).map(|finding| {
            finding.anomalies.iter().filter(|anomaly| anomaly.kind == "lost-write").count() as u64
        });
        Losses { at_the_end, meanwhile, after_splits }
    }

    /// Why one kind of evidence shows losses and another none; `None` where they do not differ so.
    pub(super) fn why_they_differ(&self) -> Option<String> {
        let elsewhere = self.meanwhile.unwrap_or(0) + self.after_splits;
        (self.at_the_end == Some(0) && elsewhere > 0).then(|| {
            let mut seen = Vec::new();
            if self.after_splits > 0 {
                let after = self.after_splits as usize;
                seen.push(words::plural(after, "write that is gone", "writes that are gone"));
            }
            if let Some(keys) = self.meanwhile.filter(|keys| *keys > 0) {
                let keys = words::plural(keys as usize, "key", "keys");
                seen.push(format!("a lost write on {keys} (linearizability)"));
            }
            format!(
                "Final reads show only what is missing at the end, and every key with a loss was \
                 written again before them. What clients saw meanwhile proves {}.",
                seen.join(" and ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_evidence_that_differ_are_explained() {
        let losses =
            |at_the_end, meanwhile, after_splits| Losses { at_the_end, meanwhile, after_splits };
        assert_eq!(losses(Some(0), Some(0), 0).why_they_differ(), None);
        assert_eq!(losses(Some(2), Some(3), 4).why_they_differ(), None);
        assert_eq!(losses(None, Some(3), 4).why_they_differ(), None, "nobody looked at the end");
        let why = losses(Some(0), Some(3), 1).why_they_differ().expect("they differ");
        assert!(
            why.ends_with(
                "proves 1 write that is gone and a lost write on 3 keys (linearizability)."
            ),
            "{why}"
        );
    }
}
