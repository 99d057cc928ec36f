//! Compact histories for tests, an event a line: `TIME PROCESS[@NODE] KIND F VALUE [key=K]
//! [error=E]`.
//!
//! `12.5 3@zookeeper1 ok read 17`; values are `nil`, `17`, or `17>18` for a compare-and-set.

use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Event, Key, Kind, Nanos, Process, SECOND, Value};

/// The history of these lines, indexed from 0; empty lines are skipped.
pub(crate) fn history(text: &str) -> History {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    History::new(lines.enumerate().map(|(index, line)| event(index as u64, line)).collect())
}

/// A nemesis event with this record.
pub(crate) fn record(seconds: f64, f: &str, record: &FaultRecord) -> Event {
    let (time, value) = (nanos(seconds), record.to_value());
    Event { time, value, ..Event::new(Kind::Info, Process::Nemesis, f) }
}

/// The events of both in order of time, numbered anew.
pub(crate) fn merge(history: &History, records: Vec<Event>) -> History {
    let mut events = history.events().to_vec();
    events.extend(records);
    events.sort_by_key(|event| event.time);
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    History::new(events)
}

fn event(index: u64, line: &str) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, who, kind, f, text, options @ ..] = words.as_slice() else {
        panic!("`{line}`: expected TIME PROCESS[@NODE] KIND F VALUE");
    };
    let (process, node) = who.split_once('@').map_or((*who, None), |(p, n)| (p, Some(n)));
    let option = |name: &str| options.iter().find_map(|word| word.strip_prefix(name));
    Event {
        index,
        time: nanos(time.parse().expect(line)),
        kind: kind_of(kind),
        process: Process::Client(process.parse().expect(line)),
        node: node.map(Into::into),
        f: (*f).into(),
        key: option("key=").map(|key| match key.parse() {
            Ok(key) => Key::Int(key),
            Err(_) => Key::Text(std::sync::Arc::new(key.into())),
        }),
        value: value(text),
        error: option("error=").map(Into::into),
        route: None,
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND as f64).round() as Nanos
}

fn kind_of(name: &str) -> Kind {
    [Kind::Invoke, Kind::Ok, Kind::Fail, Kind::Info]
        .into_iter()
        .find(|kind| kind.name() == name)
        .unwrap_or_else(|| panic!("`{name}`: expected invoke, ok, fail or info"))
}

fn value(text: &str) -> Value {
    match text.split_once('>') {
        _ if text == "nil" => Value::Nil,
        Some((from, to)) => Value::Pair(from.parse().expect(text), to.parse().expect(text)),
        None => text.parse().map_or_else(|_| Value::Json(Box::new(text.into())), Value::Int),
    }
}
