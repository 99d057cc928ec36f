//! What a checker has found so far, bounded: anomalies by kind, doubts, figures.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::streaming::Moment;
use crate::checker::moment::seconds;
use crate::checker::{Anomaly, Finding, Verdict};
use crate::op::{Key, MILLISECOND, Nanos};

/// Anomalies told of each kind; the rest is counted.
const TOLD: usize = 20;

/// Doubts told; the rest is counted.
const DOUBTS: usize = 3;

/// The quantiles that Jepsen tells of latencies.
const QUANTILES: [(&str, f64); 5] =
    [("min", 0.0), ("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)];

type ByName<T> = IndexMap<&'static str, T, FxBuildHasher>;

/// One anomaly in words, before it is known of which key.
#[derive(Default)]
pub(super) struct Told {
    pub summary: String,
    pub details: Vec<String>,
    /// The operations that prove it, in any order.
    pub proof: Vec<Moment>,
}

#[derive(Default)]
struct Anomalies {
    count: u64,
    told: Vec<Anomaly>,
}

/// Reasons to answer `unknown`.
#[derive(Default)]
struct Doubts {
    count: u64,
    told: Vec<String>,
}

impl Doubts {
    fn add(&mut self, why: impl FnOnce() -> String) {
        self.count += 1;
        if self.told.len() < DOUBTS {
            self.told.push(why());
        }
    }

    fn words(&self) -> String {
        let rest = self.count - self.told.len() as u64;
        let more = if rest == 0 { String::new() } else { format!("; and {rest} more") };
        format!("{}{more}", self.told.join("; "))
    }
}

#[derive(Default)]
pub(super) struct Tally {
    anomalies: ByName<Anomalies>,
    /// What the checker takes for granted, and the history does not keep.
    broken: Doubts,
    /// What the history leaves open.
    open: Doubts,
    counts: ByName<u64>,
    samples: ByName<Vec<Nanos>>,
    /// What is no violation and yet worth a sentence: the worst of it.
    note: Option<(Nanos, String)>,
    /// The only kinds that count, if there are any.
    wanted: Vec<String>,
    key: Option<Key>,
    new: Option<Anomaly>,
}

impl Tally {
    pub fn new(wanted: &[String]) -> Tally {
        Tally { wanted: wanted.to_vec(), ..Tally::default() }
    }

    /// What comes next is about this key.
    pub fn look_at(&mut self, key: Option<&Key>) {
        if self.key.as_ref() != key {
            self.key = key.cloned();
        }
    }

    /// Whether an anomaly of this kind counts.
    pub fn wants(&self, kind: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == kind)
    }

    /// Whether this kind was asked for by its name.
    pub fn names(&self, kind: &str) -> bool {
        self.wanted.iter().any(|wanted| wanted == kind)
    }

    /// Notes an anomaly; its words are only made while they are still told.
    pub fn report(&mut self, kind: &'static str, told: impl FnOnce() -> Told) {
        if !self.wants(kind) {
            return;
        }
        let of_kind = self.anomalies.entry(kind).or_default();
        of_kind.count += 1;
        if of_kind.told.len() < TOLD {
            let anomaly = anomaly(kind, self.key.as_ref(), told());
            self.new.get_or_insert_with(|| anomaly.clone());
            of_kind.told.push(anomaly);
        }
    }

    /// Counts what is a violation only for those who ask for it by its name.
    pub fn count_or_report(
        &mut self,
        kind: &'static str,
        number: u64,
        told: impl FnOnce() -> Told,
    ) {
        match self.names(kind) {
            true => self.report(kind, told),
            false => self.count(kind, number),
        }
    }

    /// Tells at once what will be reported at the end, by one name or the other: if both count.
    pub fn warn(&mut self, kinds: [&'static str; 2], told: impl FnOnce() -> Told) {
        if kinds.iter().all(|kind| self.wants(kind)) {
            let key = self.key.as_ref();
            self.new.get_or_insert_with(|| anomaly(kinds[0], key, told()));
        }
    }

    /// The first anomaly since this was last asked.
    pub fn take_new(&mut self) -> Option<Anomaly> {
        self.new.take()
    }

    /// The history breaks what the checker must assume: nothing that it found can be trusted.
    pub fn broken(&mut self, why: impl FnOnce() -> String) {
        self.broken.add(why);
    }

    /// The history does not say enough for `valid`; what was found holds nonetheless.
    pub fn open(&mut self, why: impl FnOnce() -> String) {
        let key = self.key.as_ref().map_or(String::new(), |key| format!("key {key}: "));
        self.open.add(|| key + &why());
    }

    pub fn count(&mut self, figure: &'static str, number: u64) {
        *self.counts.entry(figure).or_default() += number;
    }

    pub fn largest(&mut self, figure: &'static str, number: u64) {
        let most = self.counts.entry(figure).or_default();
        *most = number.max(*most);
    }

    /// A latency, of which the quantiles are told.
    pub fn sample(&mut self, figure: &'static str, latency: Nanos) {
        self.samples.entry(figure).or_default().push(latency);
    }

    /// Tells what is no violation, if nothing worse was told.
    pub fn note(&mut self, badness: Nanos, words: impl FnOnce() -> String) {
        if self.note.as_ref().is_none_or(|(worst, _)| badness > *worst) {
            self.note = Some((badness, words()));
        }
    }

    /// All of it. What is found once more afterwards is added to it.
    pub fn finding(&mut self, name: &str) -> Finding {
        let found = self.anomalies.values().any(|anomalies| anomalies.count > 0);
        let (verdict, why) = match (self.broken.count, found, self.open.count) {
            (1.., _, _) => (Verdict::Unknown, self.broken.words()),
            (0, true, _) => (Verdict::Invalid, self.found_words()),
            (0, false, 1..) => (Verdict::Unknown, self.open.words()),
            (0, false, 0) => (Verdict::Valid, self.counted_words()),
        };
        let mut finding = Finding::new(name, verdict, why);
        if verdict == Verdict::Invalid {
            finding.anomalies =
                self.anomalies.values().flat_map(|kind| kind.told.iter().cloned()).collect();
        }
        finding.figures = self.figures();
        finding
    }

    fn found_words(&self) -> String {
        let counts: Vec<String> =
            self.anomalies.iter().map(|(kind, found)| format!("{} {kind}", found.count)).collect();
        format!("{} of {}", counts.join(", "), self.counted_words())
    }

    fn counted_words(&self) -> String {
        let words: Vec<String> =
            self.counts.iter().map(|(figure, number)| format!("{figure} {number}")).collect();
        let note = self.note.as_ref().map_or(String::new(), |(_, words)| format!("; {words}"));
        if words.is_empty() { "nothing to judge".to_owned() } else { words.join(", ") + &note }
    }

    fn figures(&mut self) -> BTreeMap<String, f64> {
        let mut figures = BTreeMap::new();
        for (figure, number) in &self.counts {
            figures.insert((*figure).to_owned(), *number as f64);
        }
        for (kind, found) in &self.anomalies {
            figures.insert(format!("{kind}-count"), found.count as f64);
        }
        for (figure, samples) in &mut self.samples {
            samples.sort_unstable();
            for (name, quantile) in QUANTILES {
                let position = (samples.len() as f64 * quantile) as usize;
                if let Some(sample) = samples.get(position.min(samples.len().saturating_sub(1))) {
                    let milliseconds = *sample as f64 / MILLISECOND as f64;
                    figures.insert(format!("{figure}-ms.{name}"), milliseconds);
                }
            }
        }
        figures
    }
}

fn anomaly(kind: &str, key: Option<&Key>, mut told: Told) -> Anomaly {
    told.proof.sort_unstable_by_key(|moment| moment.index);
    let mut ops: Vec<u64> = told.proof.iter().map(|moment| moment.operation).collect();
    ops.sort_unstable();
    ops.dedup();
    let times = || told.proof.iter().map(|moment| moment.time);
    let about = key.map_or(String::new(), |key| format!("key {key}: "));
    Anomaly {
        kind: kind.to_owned(),
        summary: about + &told.summary,
        details: told.details,
        key: key.map(Key::to_string),
        nodes: Vec::new(),
        ops,
        from: times().min().unwrap_or_default(),
        to: times().max().unwrap_or_default(),
        faults: None,
        cycle: None,
    }
}

/// `2.100 s`, or the event's index in a history that tells no times.
pub(super) fn at(moment: Moment) -> String {
    match moment.time {
        0 => format!("event {}", moment.index),
        time => seconds(time),
    }
}

/// The first of these, and how many more there are.
pub(super) fn listed<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    const MOST: usize = 8;
    let mut items = items.into_iter();
    let shown: Vec<String> = items.by_ref().take(MOST).map(|item| item.to_string()).collect();
    match items.count() {
        0 => shown.join(" "),
        more => format!("{} and {more} more", shown.join(" ")),
    }
}
