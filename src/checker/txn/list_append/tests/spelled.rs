//! Histories spelled in short lines: `0 ok ax1 ry12` is process 0 completing an append of 1 to x and a read
//! of [1 2] of y; `pair` is an invocation and an ok completion. `r` alone sees nothing.

use serde_json::{Value as Json, json};

use crate::op::{Event, Kind, Process, Value};

pub fn history(text: &str) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let process = words.next().and_then(|word| word.parse().ok()).expect(line);
        let kind = words.next().expect(line);
        let ops: Vec<&str> = words.collect();
        let kinds = match kind {
            "invoke" => &[Kind::Invoke][..],
            "ok" => &[Kind::Ok],
            "fail" => &[Kind::Fail],
            "info" => &[Kind::Info],
            "pair" => &[Kind::Invoke, Kind::Ok],
            _ => panic!("{line}"),
        };
        for kind in kinds {
            let value: Vec<Json> = ops.iter().map(|op| micro_op(op, *kind)).collect();
            let value =
                if value.is_empty() { Value::Nil } else { Value::Json(Box::new(value.into())) };
            let index = events.len() as u64;
            events.push(Event {
                index,
                time: index * 1_000_000,
                value,
                ..Event::new(*kind, Process::Client(process), "txn")
            });
        }
    }
    events
}

fn micro_op(op: &str, kind: Kind) -> Json {
    let key = &op[1..2];
    let elements: Vec<u32> = op[2..].chars().map(|digit| digit.to_digit(10).expect(op)).collect();
    match op.starts_with('a') {
        true => json!(["append", key, elements[0]]),
        false if kind != Kind::Ok || elements.is_empty() => json!(["r", key, null]),
        false => json!(["r", key, elements]),
    }
}
