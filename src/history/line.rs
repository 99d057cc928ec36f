//! One event as one line of JSON:
//! `{"index":3,"time":123,"type":"ok","process":0,"node":"zookeeper1","f":"read","key":7,"value":12}`.
//!
//! Fields that say nothing are left out. `time` is in nanoseconds since the start. The form is the one
//! that Jepsen's op maps have in JSON, so that foreign histories are read by the same code.

use std::io::Write;

use super::json;
use super::names::Names;
use super::op_map::{Dialect, LineError, event};
use super::tape::Tape;
use crate::op::{Event, Key, Process, Value};

/// Appends the event and a newline. The bytes depend on the event alone.
pub fn write_line(out: &mut Vec<u8>, event: &Event) {
    // Written by hand: this is the hot path of the run loop, and the field order is part of the format.
    let _ = write!(
        out,
        "{{\"index\":{},\"time\":{},\"type\":\"{}\",\"process\":",
        event.index,
        event.time,
        event.kind.name()
    );
    match event.process {
        Process::Client(id) => {
            let _ = write!(out, "{id}");
        }
        Process::Nemesis => out.extend_from_slice(b"\"nemesis\""),
    }
    if let Some(node) = &event.node {
        out.extend_from_slice(b",\"node\":");
        text(out, node);
    }
    out.extend_from_slice(b",\"f\":");
    text(out, &event.f);
    match &event.key {
        Some(Key::Int(key)) => {
            let _ = write!(out, ",\"key\":{key}");
        }
        Some(Key::Text(key)) => {
            out.extend_from_slice(b",\"key\":");
            text(out, key);
        }
        None => {}
    }
    match &event.value {
        Value::Nil => out.extend_from_slice(b",\"value\":null"),
        Value::Int(value) => {
            let _ = write!(out, ",\"value\":{value}");
        }
        Value::Pair(from, to) => {
            let _ = write!(out, ",\"value\":[{from},{to}]");
        }
        Value::Json(value) => {
            let _ = write!(out, ",\"value\":{value}");
        }
    }
    if let Some(error) = &event.error {
        out.extend_from_slice(b",\"error\":");
        text(out, error);
    }
    if let Some(route) = &event.route {
        out.extend_from_slice(b",\"route\":");
        serde_json::to_writer(&mut *out, route).expect("plain data always serialises to memory");
    }
    out.extend_from_slice(b"}\n");
}

fn text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string always serialises to memory");
}

/// Reads one line. Unknown fields are ignored: Jepsen allows extra keys in op maps.
///
/// `index` and `time` may be absent in foreign histories; `position` then serves as the index.
pub fn parse_line(line: &str, position: u64) -> Result<Event, LineError> {
    let mut tape = Tape::default();
    let wrong = |why: String, at: usize| LineError::NotJson(format!("{why} at column {}", at + 1));
    let end = json::parse(line, 0, &mut tape).map_err(|fault| wrong(fault.why, fault.at))?;
    let end = json::blanks(line, end);
    if end < line.len() {
        return Err(wrong("expected the end of the line".into(), end));
    }
    let (head, value) = event(&tape, position, Dialect::default(), &mut Names::default())?;
    Ok(Event { value: value.to_value(), ..head })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Kind;

    #[test]
    fn events_survive_the_round_trip() {
        for line in [
            r#"{"index":3,"time":123,"type":"ok","process":0,"node":"n1","f":"read","key":7,"value":12}"#,
            r#"{"index":4,"time":124,"type":"invoke","process":9,"f":"cas","key":"a\"b","value":[1,-2]}"#,
            r#"{"index":5,"time":125,"type":"info","process":"nemesis","f":"cut","value":{"step":"end"}}"#,
            r#"{"index":6,"time":126,"type":"fail","process":1,"f":"read","value":null,"error":"no\nsuch"}"#,
            r#"{"index":7,"time":127,"type":"ok","process":1,"f":"txn","value":[["r","x",null]]}"#,
        ] {
            let event = parse_line(line, 0).expect(line);
            let mut written = Vec::new();
            write_line(&mut written, &event);
            assert_eq!(String::from_utf8(written).expect("utf-8"), format!("{line}\n"));
        }
    }

    #[test]
    fn absent_index_and_time_are_made_up_and_extra_fields_ignored() {
        let line = r#"{"type":"invoke","process":3,"f":"read","time":-1,"clock":"x"}"#;
        let event = parse_line(line, 17).expect(line);
        assert_eq!((event.index, event.time, event.kind), (17, 0, Kind::Invoke));
    }

    #[test]
    fn a_bad_field_is_named_with_what_was_expected() {
        for (line, expected) in [
            ("{", "not JSON"),
            ("[1]", "not an operation: expected a map"),
            (
                r#"{"process":1,"f":"read"}"#,
                "field `type`: expected invoke, ok, fail or info, found nothing",
            ),
            (r#"{"type":"okay","process":1,"f":"read"}"#, "found \"okay\""),
            (
                r#"{"type":"ok","f":"read"}"#,
                "field `process`: expected a number, a name or \"nemesis\", found nothing",
            ),
            (r#"{"type":"ok","process":-1,"f":"read"}"#, "field `process`"),
            (r#"{"type":"ok","process":[1],"f":"read"}"#, "expected a number, a name or"),
            (
                r#"{"type":"ok","process":1}"#,
                "field `f`: expected the operation's name, found nothing",
            ),
            (r#"{"type":"ok","process":1,"f":2}"#, "field `f`: expected text, found 2"),
            (r#"{"type":"ok","process":1,"f":"read","index":-2}"#, "field `index`"),
            (r#"{"type":"ok","process":1,"f":"read","time":"noon"}"#, "field `time`"),
            (r#"{"type":"ok","process":1,"f":"read","key":1.5}"#, "field `key`"),
            (r#"{"type":"ok","process":1,"f":"read","node":7}"#, "field `node`"),
        ] {
            let error = parse_line(line, 0).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
