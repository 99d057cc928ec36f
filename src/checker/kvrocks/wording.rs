//! Puts moments, operations and lists into words.

use super::answers::Answer;
use crate::checker::Finding;
use crate::op::{Event, MILLISECOND, Nanos, SECOND};

/// Lines of one kind that an explanation holds at most.
pub(super) const LINES_MAX: usize = 10;

/// `12.405 s`.
pub(super) fn seconds(time: Nanos) -> String {
    format!("{:.3} s", time as f64 / SECOND as f64)
}

pub(super) fn milliseconds(time: Nanos) -> f64 {
    // Whole microseconds: what is finer is the clock's noise.
    (time / 1_000) as f64 / (MILLISECOND / 1_000) as f64
}

/// `1 write`, `2 writes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `once`, `twice`, `3 times`.
pub(super) fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// `write 18 of key 7`, `txn [["append",7,18]]`.
pub(super) fn what(event: &Event) -> String {
    let value = match &event.value {
        crate::op::Value::Nil => String::new(),
        value => format!(" {value}"),
    };
    let key = event.key.as_ref().map_or(String::new(), |key| format!(" of key {key}"));
    format!("{}{value}{key}", event.f)
}

/// `12.050 s to 12.101 s: process 1: write 18 of key 7: kvrocks1 acknowledged it`.
pub(super) fn line(answer: &Answer) -> String {
    let (from, to) = (seconds(answer.invocation.time), seconds(answer.end));
    let (process, node) = (answer.invocation.process, answer.node);
    let verb = if answer.is_write() { "acknowledged it" } else { "answered" };
    let told = if answer.is_write() { answer.invocation } else { answer.completion };
    format!("{from} to {to}: process {process}: {}: {node} {verb}", what(told))
}

/// At most so many lines, and how many more there are.
pub(super) fn bounded(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.into_iter().collect();
    if let Some(more) = lines.len().checked_sub(LINES_MAX).filter(|more| *more > 0) {
        lines.truncate(LINES_MAX);
        lines.push(format!("and {more} more"));
    }
    lines
}

pub(super) fn figures<const N: usize>(
    figures: [(&str, f64); N],
) -> std::collections::BTreeMap<String, f64> {
    figures.map(|(name, figure)| (name.to_owned(), figure)).into()
}

/// Valid or invalid, as the anomalies say.
pub(super) fn finding<const N: usize>(
    name: &str,
    why: String,
    anomalies: Vec<crate::checker::Anomaly>,
    told: [(&str, f64); N],
) -> Finding {
    let verdict = match anomalies.is_empty() {
        true => crate::checker::Verdict::Valid,
        false => crate::checker::Verdict::Invalid,
    };
    Finding {
        name: name.to_owned(),
        verdict,
        why,
        anomalies,
        figures: figures(told),
        consistency: None,
        keys: None,
    }
}
