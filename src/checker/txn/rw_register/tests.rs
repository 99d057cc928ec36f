//! Registers in transactions.

mod answers;
mod asked;
mod by_hand;
mod changes;
mod derived;
mod drawn;
mod elle;
mod exact;
mod knotted;
mod orders;
mod random;
mod recorded;
mod stores;
mod unwritten;

use super::*;
use crate::op::{Event, Kind as EventKind, Process};

/// What the checker finds in the events of a history under some options.
pub(super) fn find(history: &History, options: &ModelOptions) -> Finding {
    let mut checker = RwRegister::new(options).expect("options");
    for event in history.events() {
        checker.observe(event);
    }
    checker.finish(&History::default(), &Budget::UNBOUNDED)
}

/// Options as a manifest has them.
pub(super) fn options(json: serde_json::Value) -> ModelOptions {
    serde_json::from_value(json).expect("options")
}

/// A history, an event a line: `PROCESS KIND wx1 ry_ wz2`; `_` is nil, times are the lines' numbers.
pub(super) fn history(text: &str) -> History {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    History::new(lines.zip(0..).map(|(line, index)| event(line, index)).collect())
}

fn event(line: &str, index: u64) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let kinds = [EventKind::Invoke, EventKind::Ok, EventKind::Fail, EventKind::Info];
    let kind = kinds.into_iter().find(|kind| kind.name() == words[1]).expect(line);
    let micro_op = |word: &&str| {
        let (f, key, value) = (&word[..1], &word[1..2], &word[2..]);
        let value: Option<i64> = (value != "_").then(|| value.parse().expect(line));
        serde_json::json!([f, key, value])
    };
    let value: serde_json::Value = words[2..].iter().map(micro_op).collect();
    Event {
        index,
        time: index * 1_000_000,
        value: crate::op::Value::Json(Box::new(value)),
        ..Event::new(kind, Process::Client(words[0].parse().expect(line)), "txn")
    }
}
