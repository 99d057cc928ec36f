//! Compact histories for tests, an event a line: `TIME PROCESS[@NODE] KIND F VALUE [key=K]
//! [error=E] [slot=S] [via=NODE:SAID,...]`.
//!
//! `12.5 3@zookeeper1 ok read 17`; values are `nil`, `true`, `17`, `17>18` for a compare-and-set, or JSON
//! without spaces. `via=kvrocks1:MOVED@800,kvrocks3:ok` is a route: who was asked, what it said, and
//! after how many microseconds. What the nemesis records has lines of its own, see [`nemesis`].

mod nemesis;

use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Event, Hop, Key, Kind, Nanos, Process, Route, SECOND, Value};

/// The history of these lines, indexed from 0; empty lines are skipped.
pub(crate) fn history(text: &str) -> History {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    numbered(lines.flat_map(events).collect())
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
    numbered(events)
}

fn numbered(mut events: Vec<Event>) -> History {
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    History::new(events)
}

fn events(line: &str) -> Vec<Event> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [time, "nemesis", rest @ ..] => nemesis::events(time.parse().expect(line), rest),
        [time, who, kind, f, text, options @ ..] => {
            vec![event(line, [*time, *who, *kind, *f, *text], options)]
        }
        _ => panic!("`{line}`: expected TIME PROCESS[@NODE] KIND F VALUE"),
    }
}

fn event(line: &str, [time, who, kind, f, text]: [&str; 5], options: &[&str]) -> Event {
    let (process, node) = who.split_once('@').map_or((who, None), |(p, n)| (p, Some(n)));
    let option = |name: &str| options.iter().find_map(|word| word.strip_prefix(name));
    let slot = option("slot=").map(|slot| slot.parse().expect(line));
    let hops: Vec<Hop> = option("via=").map_or(Vec::new(), |via| via.split(',').map(hop).collect());
    Event {
        index: 0,
        time: nanos(time.parse().expect(line)),
        kind: kind_of(kind),
        process: Process::Client(process.parse().expect(line)),
        node: node.map(Into::into),
        f: f.into(),
        key: option("key=").map(|key| match key.parse() {
            Ok(key) => Key::Int(key),
            Err(_) => Key::Text(std::sync::Arc::new(key.into())),
        }),
        value: value(text),
        error: option("error=").map(Into::into),
        route: (slot.is_some() || !hops.is_empty()).then(|| Box::new(Route { hops, slot })),
    }
}

/// `NODE:SAID[@MICROSECONDS]`.
fn hop(text: &str) -> Hop {
    let (node, said) = text.split_once(':').expect("NODE:SAID");
    let (said, after_us) = said.split_once('@').unwrap_or((said, "0"));
    Hop { node: node.into(), said: said.into(), after_us: after_us.parse().expect(text) }
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
    if text.starts_with(['{', '[']) {
        return Value::Json(Box::new(serde_json::from_str(text).expect(text)));
    }
    match text.split_once('>') {
        _ if text == "nil" => Value::Nil,
        _ if text == "true" || text == "false" => Value::Json(Box::new((text == "true").into())),
        Some((from, to)) => Value::Pair(from.parse().expect(text), to.parse().expect(text)),
        None => text.parse().map_or_else(|_| Value::Json(Box::new(text.into())), Value::Int),
    }
}
