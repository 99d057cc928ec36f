//! Anomalies into a finding: what was asked for decides the verdict, what was found the consistency.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::checker::txn::consistency::{Wanted, ruled_out};
use crate::checker::txn::cycles::{Cycle, Cycles};
use crate::checker::{Anomaly, Finding, Verdict};

/// How many anomalies of a kind are told; the others are counted.
pub const TOLD: u64 = 20;

/// What an inference and a search have found so far.
#[derive(Debug, Default)]
pub struct Judgement {
    anomalies: Vec<Anomaly>,
    counts: IndexMap<&'static str, u64, FxBuildHasher>,
    /// The kinds of which there may be more than were counted.
    more: Vec<&'static str>,
    doubts: Vec<String>,
    pub figures: BTreeMap<String, f64>,
}

impl Judgement {
    /// Counts an anomaly, and keeps it if there are not many of its kind yet.
    pub fn tell(&mut self, kind: &'static str, anomaly: impl FnOnce() -> Anomaly) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count <= TOLD {
            self.anomalies.push(anomaly());
        }
    }

    /// Takes in what a search for cycles has found; `told` puts one in words.
    pub fn take_cycles(&mut self, cycles: Cycles, told: impl Fn(&Cycle) -> Anomaly) {
        for cycle in &cycles.told {
            self.tell(cycle.name, || told(cycle));
        }
        for (kind, count) in cycles.counts {
            let counted = self.counts.entry(kind).or_default();
            *counted = (*counted).max(count);
        }
        self.more.extend(cycles.more);
        if let Some(why) = cycles.undecided {
            self.doubt(why);
        }
    }

    /// Something that keeps a history in which nothing was found from being valid.
    pub fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    /// There may be more of a kind than were counted.
    pub fn at_least(&mut self, kind: &'static str) {
        self.more.push(kind);
    }

    /// Whether something was found that is not to be.
    pub fn found_any(&self, wanted: &Wanted) -> bool {
        self.counts.keys().any(|kind| wanted.prohibits(kind))
    }

    /// The verdict; `what` says in a few words what was judged: `12 transactions on 3 keys`.
    pub fn into_finding(self, name: &str, wanted: &Wanted, what: &str) -> Finding {
        let (told, other): (Vec<_>, Vec<_>) =
            self.counts.iter().partition(|(kind, _)| wanted.prohibits(kind));
        let list = |kinds: &[(&&'static str, &u64)]| {
            let more =
                |kind: &'static str| if self.more.contains(&kind) { "at least " } else { "" };
            let text =
                |(kind, count): &(&&'static str, &u64)| format!("{}{count} {kind}", more(kind));
            kinds.iter().map(text).collect::<Vec<String>>().join(", ")
        };
        let (verdict, mut why) = match (told.is_empty(), self.doubts.is_empty()) {
            (false, _) => {
                (Verdict::Invalid, format!("{what}: not {}: {}", wanted.what, list(&told)))
            }
            (true, false) => (Verdict::Unknown, format!("{what}: {}", self.doubts.join("; "))),
            (true, true) => (Verdict::Valid, format!("{what}: {}", wanted.what)),
        };
        if !other.is_empty() {
            why += &format!("; seen too, but not asked about: {}", list(&other));
        }
        let mut finding = Finding::new(name, verdict, why);
        finding.consistency = Some(ruled_out(self.counts.keys().copied(), wanted.orders()));
        finding.anomalies = self.anomalies;
        finding.anomalies.retain(|anomaly| wanted.prohibits(&anomaly.kind));
        finding.figures = self.figures;
        finding
            .figures
            .extend(self.counts.iter().map(|(kind, count)| (kind.to_string(), *count as f64)));
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::ModelOptions;

    fn cycle(name: &'static str) -> Cycle {
        Cycle { name, steps: Vec::new() }
    }

    fn told(cycle: &Cycle) -> Anomaly {
        Anomaly {
            kind: cycle.name.to_owned(),
            summary: String::new(),
            details: Vec::new(),
            key: None,
            nodes: Vec::new(),
            ops: Vec::new(),
            from: 0,
            to: 0,
            faults: None,
            cycle: None,
        }
    }

    #[test]
    fn what_was_counted_is_said_even_where_only_some_are_told() {
        let mut judgement = Judgement::default();
        let counts = [("G0", 7), ("G-single-item", 40), ("G1c", 1)];
        let mut found = vec![cycle("G0"), cycle("G1c"), cycle("G1c")];
        found.extend((0..25).map(|_| cycle("G-single-item")));
        judgement.take_cycles(
            Cycles {
                told: found,
                counts: counts.into_iter().collect(),
                more: vec!["G-single-item"],
                undecided: Some("the time ended".to_owned()),
            },
            told,
        );
        let wanted = Wanted::new(&ModelOptions::default()).expect("the default");
        let finding = judgement.into_finding("list-append", &wanted, "some transactions");
        assert_eq!(finding.verdict, Verdict::Invalid);
        let kinds = "7 G0, 2 G1c, at least 40 G-single-item";
        assert_eq!(finding.why, format!("some transactions: not strict-serializable: {kinds}"));
        assert_eq!(finding.figures["G-single-item"], 40.0);
        assert_eq!(finding.anomalies.len(), 1 + 2 + TOLD as usize);
    }
}
