//! What a reader must know beside the verdict: that the servers were not the real ones, and how much was
//! let pass as failovers permit it.

use std::collections::BTreeMap;

use super::{Results, words};
use crate::checker::Finding;
use crate::scenario::REFERENCE;

pub(super) fn notes(results: &Results) -> Vec<String> {
    stand_ins(&results.images).into_iter().chain(permitted(&results.checkers)).collect()
}

fn stand_ins(images: &BTreeMap<String, String>) -> Option<String> {
    let own = images.iter().filter(|(_, image)| image.as_str() == REFERENCE);
    let own: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
    (!own.is_empty())
        .then(|| format!("{}: our own reference servers, not the real ones", own.join(" and ")))
}

fn permitted(checkers: &[Finding]) -> Option<String> {
    let figure = |checker: &str, name: &str| {
        let finding = checkers.iter().find(|finding| &*finding.name == checker);
        finding.and_then(|finding| finding.figures.get(name)).copied().unwrap_or(0.0) as usize
    };
    let lost = figure("lost-writes", "permitted-lost");
    let contradictions = figure("model", "permitted");
    let mut told = Vec::new();
    if lost > 0 {
        told.push(words::plural(lost, "acknowledged write lost", "acknowledged writes lost"));
    }
    if contradictions > 0 {
        told.push(words::plural(contradictions, "contradiction", "contradictions"));
    }
    let told = told.join(" and ");
    (!told.is_empty()).then(|| format!("{told}, let pass since failovers of that shard explain it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Verdict;

    fn finding(name: &str, figure: &str, count: f64) -> Finding {
        Finding {
            name: name.to_owned(),
            verdict: Verdict::Valid,
            why: String::new(),
            anomalies: Vec::new(),
            figures: [(figure.to_owned(), count)].into(),
            consistency: None,
            keys: None,
        }
    }

    #[test]
    fn servers_of_our_own_are_told() {
        let images = [("kvrocks", "reference"), ("zookeeper", "zookeeper:3.9")];
        let mut images: BTreeMap<String, String> =
            images.map(|(name, image)| (name.to_owned(), image.to_owned())).into();
        let told = stand_ins(&images);
        assert_eq!(told.as_deref(), Some("kvrocks: our own reference servers, not the real ones"));
        images.remove("kvrocks");
        assert_eq!(stand_ins(&images), None);
    }

    #[test]
    fn what_was_let_pass_is_told() {
        let lost = finding("lost-writes", "permitted-lost", 1.0);
        let held = finding("model", "permitted", 363.0);
        assert_eq!(
            permitted(&[lost.clone(), held]).as_deref(),
            Some(
                "1 acknowledged write lost and 363 contradictions, let pass since failovers of that shard explain it"
            )
        );
        assert_eq!(permitted(&[finding("model", "permitted", 0.0)]), None);
        let told = permitted(&[lost]).unwrap_or_default();
        assert!(told.starts_with("1 acknowledged write lost, let pass"), "{told}");
    }
}
