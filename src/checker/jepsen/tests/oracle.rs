//! Each definition, transcribed over the whole history without regard to cost, against the checker.

mod bank;
mod counter;
mod general;
mod kafka;
mod long_fork;
mod precedence;
mod progress;
mod queue;
mod rows;
mod session;
mod set;
mod set_full;

pub(super) use counter::Count;
pub(super) use precedence::Log;
pub(super) use set::Sets;

use super::*;
use crate::op::{Kind, Process, Value};

/// An operation, as definitions speak of it.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub f: String,
    pub asked: Value,
    pub answer: Value,
    /// How it ended; `info` if it never did.
    pub kind: Kind,
    pub invoke: usize,
    pub complete: Option<usize>,
}

/// The operations of a history in the order of their invocations.
pub(super) fn ops(events: &[Event]) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::new();
    let mut open: std::collections::HashMap<Process, usize> = Default::default();
    for (position, event) in events.iter().enumerate() {
        if event.kind == Kind::Invoke {
            open.insert(event.process, ops.len());
            let (asked, answer) = (event.value.clone(), Value::Nil);
            let (f, kind) = (event.f.to_string(), Kind::Info);
            ops.push(Op { f, asked, answer, kind, invoke: position, complete: None });
        } else if let Some(op) = open.remove(&event.process) {
            ops[op].answer = event.value.clone();
            ops[op].kind = event.kind;
            ops[op].complete = Some(position);
        }
    }
    ops
}

impl Op {
    pub fn is_ok(&self, f: &str) -> bool {
        self.kind == Kind::Ok && self.f == f
    }

    pub fn done(&self) -> usize {
        self.complete.unwrap_or(usize::MAX)
    }

    pub fn int(value: &Value) -> i64 {
        Datum::Value(value).as_i64().expect("a number")
    }

    pub fn seen(&self) -> Vec<i64> {
        self.answer.as_list().expect("numbers")
    }
}

/// Compares on random histories, and insists that all wanted verdicts came up.
pub(super) fn compare(
    model: &ModelKind,
    options: &ModelOptions,
    by_default: u64,
    wanted: &[Verdict],
    mut history: impl FnMut(u64) -> Vec<Event>,
    oracle: impl Fn(&[Event], &Finding) -> Verdict,
) {
    let mut met = Vec::new();
    for seed in seeds(by_default) {
        let events = history(seed);
        let finding = judge_events(model, options, &events);
        let expected = oracle(&events, &finding);
        met.push(expected);
        assert_eq!(
            finding.verdict,
            expected,
            "seed {seed}\n{}\n{}",
            told(&finding),
            shown(&events)
        );
    }
    for verdict in wanted {
        let share = met.iter().filter(|other| *other == verdict).count() as f64 / met.len() as f64;
        assert!(share > 0.02, "{}: only {share} are {verdict:?}", model.name);
    }
}

pub(super) fn shown(events: &[Event]) -> String {
    let line = |event: &Event| {
        let Event { index, time, process, kind, f, value, .. } = event;
        format!("{index} {time} {process} {} {} {value}", kind.name(), &**f)
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}
