//! What was found: contradictions, told one anomaly a kind; what failovers permit; what is open.

use std::collections::BTreeMap;

use super::within::Relation;
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::wording::{bounded, counted, figures, line, seconds};
use crate::checker::{Anomaly, Finding, Verdict};
use crate::op::{Key, Nanos, NodeName};

/// Contradictions of one kind that are put into words; more are counted.
const WORDED: usize = 10;

/// Operations that cannot all have been answered so.
#[derive(Clone, Debug)]
pub(super) struct Breach {
    pub key: Key,
    pub summary: String,
    lines: Vec<String>,
    ops: Vec<u64>,
    nodes: Vec<NodeName>,
    from: Nanos,
    to: Nanos,
}

impl Breach {
    pub fn new(key: &Key, summary: String, answers: &[&Answer]) -> Breach {
        let mut in_order: Vec<&&Answer> = answers.iter().collect();
        in_order.sort_by_key(|answer| answer.invocation.index);
        in_order.dedup_by_key(|answer| answer.invocation.index);
        let mut nodes: Vec<NodeName> = Vec::new();
        for answer in &in_order {
            if !nodes.contains(&answer.node) {
                nodes.push(answer.node);
            }
        }
        Breach {
            key: key.clone(),
            summary,
            lines: in_order.iter().map(|answer| line(answer)).collect(),
            ops: in_order.iter().map(|answer| answer.invocation.index).collect(),
            nodes,
            from: in_order.first().map_or(0, |answer| answer.invocation.time),
            to: answers.iter().map(|answer| answer.end).max().unwrap_or(0),
        }
    }

    /// With an operation that nobody answered.
    pub fn with_operation(mut self, invocation: &crate::op::Event) -> Breach {
        self.ops.push(invocation.index);
        self.ops.sort_unstable();
        self.ops.dedup();
        self.from = self.from.min(invocation.time);
        self
    }
}

/// Of one kind.
#[derive(Default)]
struct Breaches {
    count: usize,
    worded: Vec<Breach>,
}

/// All that the searches find.
#[derive(Default)]
pub(super) struct Found {
    /// Answers that were held against others.
    pub judged: usize,
    breaches: BTreeMap<&'static str, Breaches>,
    permitted: usize,
    permitted_worded: Vec<Breach>,
    open: usize,
    open_worded: Option<Breach>,
    /// There was no time for all of it.
    pub is_unfinished: bool,
}

impl Found {
    /// A contradiction whatever failovers there were.
    pub fn add(&mut self, kind: &'static str, breach: impl FnOnce() -> Breach) {
        let breaches = self.breaches.entry(kind).or_default();
        breaches.count += 1;
        if breaches.worded.len() < WORDED {
            breaches.worded.push(breach());
        }
    }

    /// A contradiction within one term only.
    pub fn judge(
        &mut self,
        kind: &'static str,
        relation: Relation,
        breach: impl FnOnce() -> Breach,
    ) {
        match relation {
            Relation::Same => self.add(kind, breach),
            Relation::Apart => self.permit(breach),
            Relation::Open => {
                self.open += 1;
                if self.open_worded.is_none() {
                    self.open_worded = Some(breach());
                }
            }
        }
    }

    /// A failover explains it.
    pub fn permit(&mut self, breach: impl FnOnce() -> Breach) {
        self.permitted += 1;
        if self.permitted_worded.len() < WORDED {
            self.permitted_worded.push(breach());
        }
    }

    pub fn finding(self, name: &str) -> Finding {
        let contradictions: usize = self.breaches.values().map(|breaches| breaches.count).sum();
        let verdict = match (contradictions, self.open > 0 || self.is_unfinished) {
            (1.., _) => Verdict::Invalid,
            (0, true) => Verdict::Unknown,
            (0, false) => Verdict::Valid,
        };
        let figures = figures([
            ("answers", self.judged as f64),
            ("contradictions", contradictions as f64),
            ("permitted", self.permitted as f64),
            ("open", self.open as f64),
        ]);
        let why = self.why(contradictions);
        let permitted = self.permitted_lines();
        let breaches = self.breaches.into_iter();
        let mut anomalies: Vec<Anomaly> =
            breaches.filter_map(|(kind, breaches)| breaches.anomaly(kind, &permitted)).collect();
        anomalies.sort_by_key(|anomaly| anomaly.from);
        Finding {
            name: name.to_owned(),
            verdict,
            why,
            anomalies,
            figures,
            consistency: None,
            keys: None,
        }
    }

    fn why(&self, contradictions: usize) -> String {
        let mut why = counted(self.judged, "answer");
        why += &match contradictions {
            0 => ": no contradiction".to_owned(),
            count => format!(": {}", counted(count, "contradiction")),
        };
        if let Some(first) = self.permitted_worded.first() {
            let count = self.permitted;
            why += &format!("; {count} permitted, as a failover explains them: {}", first.summary);
        }
        if let Some(first) = &self.open_worded {
            let count = self.open;
            why += &format!("; {count} that a failover may explain or not: {}", first.summary);
        }
        if self.is_unfinished {
            why += "; the time was over before all was checked";
        }
        why
    }

    fn permitted_lines(&self) -> Vec<String> {
        let told = |breach: &Breach| format!("permitted, by a failover: {}", breach.summary);
        bounded(self.permitted_worded.iter().map(told))
    }
}

impl Breaches {
    /// The earliest is told, the others are named.
    fn anomaly(mut self, kind: &str, permitted: &[String]) -> Option<Anomaly> {
        self.worded.sort_by_key(|breach| breach.from);
        let more = self.count - 1;
        let mut worded = self.worded.into_iter();
        let first = worded.next()?;
        let others =
            worded.map(|breach| format!("also, at {}: {}", seconds(breach.from), breach.summary));
        let mut details = first.lines;
        details.extend(bounded(others));
        details.extend(permitted.iter().cloned());
        let summary = match more {
            0 => first.summary,
            more => format!("{}; and {more} more like it", first.summary),
        };
        Some(Anomaly {
            kind: kind.to_owned(),
            summary,
            details,
            key: Some(first.key.to_string()),
            nodes: first.nodes.iter().map(ToString::to_string).collect(),
            ops: first.ops,
            from: first.from,
            to: first.to,
            faults: None,
            cycle: None,
        })
    }
}
