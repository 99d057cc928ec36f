//! What was seen, in words. The check at the end tells more.

use super::Name;
use super::key::{MOMENTS, Mark, Violation};
use crate::checker::Anomaly;
use crate::checker::moment::seconds;
use crate::op::Key;

impl Name {
    fn told(&self) -> String {
        match self {
            Name::Integer(value) => value.to_string(),
            Name::Text(text) if text == "null" => "nil".to_owned(),
            Name::Text(text) => text.clone(),
        }
    }
}

impl Mark {
    fn told(&self) -> String {
        match self.time {
            0 if self.at == 0 => "the beginning".to_owned(),
            0 => format!("event {}", self.at / MOMENTS - 1),
            time => seconds(time),
        }
    }
}

pub(super) fn anomaly(violation: &Violation, key: Option<&Key>) -> Anomaly {
    let (kind, summary) = match violation {
        Violation::Absent { name, invoked, .. } => {
            let (value, process, at) = (name.told(), invoked.process, invoked.told());
            let summary = format!(
                "process {process} read {value} at {at}, but nobody had written it since it was \
                 last replaced, if it ever was there"
            );
            ("nonlinearizable", summary)
        }
        Violation::Failed { seen, failed } => {
            let (value, process, at) = (seen.name.told(), failed.process, failed.told());
            let summary = format!(
                "the write of {value} by process {process} failed at {at}, but {value} had been \
                 read by {}",
                seen.first_completion.told()
            );
            ("nonlinearizable", summary)
        }
        Violation::Stale { read, other, .. } => {
            let (value, newer) = (read.name.told(), other.name.told());
            let last = read.last_invocation;
            let summary = format!(
                "process {} read {value} at {}, but {value} had been there by {}, and {newer} came \
                 after it: an operation of process {} on {newer} began at {}, and {newer} was there \
                 by {}",
                last.process,
                last.told(),
                read.first_completion.told(),
                other.last_invocation.process,
                other.last_invocation.told(),
                other.first_completion.told()
            );
            ("stale-read", summary)
        }
        Violation::Taken { name, first, again } => {
            let (value, one, other) = (name.told(), first.process, again.process);
            let summary = format!(
                "process {one} set {value} to something else by {}, and so did process {other} by {}, \
                 though {value} was there but once",
                first.told(),
                again.told()
            );
            ("nonlinearizable", summary)
        }
    };
    let marks = marks(violation);
    let mut ops: Vec<u64> = marks.iter().filter(|m| m.at > 0).map(|m| m.invocation).collect();
    ops.sort_unstable();
    ops.dedup();
    let times = || marks.iter().map(|mark| mark.time);
    Anomaly {
        kind: kind.to_owned(),
        summary,
        details: Vec::new(),
        key: key.map(Key::to_string),
        nodes: Vec::new(),
        ops,
        from: times().min().unwrap_or(0),
        to: times().max().unwrap_or(0),
        faults: None,
        cycle: None,
    }
}

/// Every moment that matters.
fn marks(violation: &Violation) -> Vec<Mark> {
    match violation {
        Violation::Absent { invoked, completed, .. } => vec![*invoked, *completed],
        Violation::Failed { seen, failed } => vec![seen.first_completion, *failed],
        Violation::Taken { first, again, .. } => vec![*first, *again],
        Violation::Stale { read, completed, other } => vec![
            read.first_completion,
            read.last_invocation,
            *completed,
            other.first_completion,
            other.last_invocation,
        ],
    }
}
