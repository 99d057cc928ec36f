//! One event as one line of JSON:
//! `{"index":3,"time":123,"type":"ok","process":0,"node":"zookeeper1","f":"read","key":7,"value":12}`.
//!
//! Fields that say nothing are left out. `time` is in nanoseconds since the start. The form is the one
//! that Jepsen's op maps have in JSON, so that foreign histories are read by the same code.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::op::{Event, Key, Kind, Process, Value};

/// Why a line is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("field `{field}`: expected {expected}, found {found}")]
    Field { field: &'static str, expected: &'static str, found: String },
}

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
    out.extend_from_slice(b"}\n");
}

fn text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string always serialises to memory");
}

/// Reads one line. Unknown fields are ignored: Jepsen allows extra keys in op maps.
///
/// `index` and `time` may be absent in foreign histories; `position` then serves as the index.
pub fn parse_line(line: &str, position: u64) -> Result<Event, LineError> {
    let json: Json =
        serde_json::from_str(line).map_err(|error| LineError::NotJson(error.to_string()))?;
    let Json::Object(map) = json else {
        return Err(LineError::NotJson("expected an object".into()));
    };
    Ok(Event {
        index: unsigned(&map, "index")?.unwrap_or(position),
        time: unsigned(&map, "time")?.unwrap_or(0),
        kind: kind(&map)?,
        process: process(&map)?,
        node: optional_text(&map, "node")?.map(Arc::from),
        f: optional_text(&map, "f")?
            .map(Arc::from)
            .ok_or_else(|| wrong("f", "the operation's name", None))?,
        key: key(&map)?,
        value: value(map.get("value")),
        error: match map.get("error") {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        },
    })
}

fn wrong(field: &'static str, expected: &'static str, found: Option<&Json>) -> LineError {
    LineError::Field { field, expected, found: found.map_or("nothing".into(), Json::to_string) }
}

fn unsigned(map: &Map<String, Json>, field: &'static str) -> Result<Option<u64>, LineError> {
    match map.get(field) {
        None | Some(Json::Null) => Ok(None),
        Some(found) => found
            .as_u64()
            .map(Some)
            .ok_or_else(|| wrong(field, "a number of 0 or more", Some(found))),
    }
}

fn optional_text<'a>(
    map: &'a Map<String, Json>,
    field: &'static str,
) -> Result<Option<&'a str>, LineError> {
    match map.get(field) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(found) => Err(wrong(field, "text", Some(found))),
    }
}

fn kind(map: &Map<String, Json>) -> Result<Kind, LineError> {
    match map.get("type").and_then(Json::as_str) {
        Some("invoke") => Ok(Kind::Invoke),
        Some("ok") => Ok(Kind::Ok),
        Some("fail") => Ok(Kind::Fail),
        Some("info") => Ok(Kind::Info),
        _ => Err(wrong("type", "invoke, ok, fail or info", map.get("type"))),
    }
}

fn process(map: &Map<String, Json>) -> Result<Process, LineError> {
    let found = map.get("process");
    match found {
        Some(Json::String(name)) if name == "nemesis" => Ok(Process::Nemesis),
        Some(Json::Number(number)) => {
            number.as_u64().and_then(|id| u32::try_from(id).ok()).map(Process::Client).ok_or_else(
                || wrong("process", "a number from 0 to 4294967295 or \"nemesis\"", found),
            )
        }
        _ => Err(wrong("process", "a number or \"nemesis\"", found)),
    }
}

fn key(map: &Map<String, Json>) -> Result<Option<Key>, LineError> {
    match map.get("key") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(Key::Text(Arc::from(text.as_str())))),
        Some(found) => found
            .as_i64()
            .map(|key| Some(Key::Int(key)))
            .ok_or_else(|| wrong("key", "a number or text", Some(found))),
    }
}

fn value(json: Option<&Json>) -> Value {
    match json {
        None | Some(Json::Null) => Value::Nil,
        Some(Json::Number(number)) if number.is_i64() => {
            Value::Int(number.as_i64().unwrap_or_default())
        }
        Some(Json::Array(items)) => match items.as_slice() {
            [from, to] => match (from.as_i64(), to.as_i64()) {
                (Some(from), Some(to)) => Value::Pair(from, to),
                _ => Value::Json(Box::new(Json::Array(items.clone()))),
            },
            _ => Value::Json(Box::new(Json::Array(items.clone()))),
        },
        Some(other) => Value::Json(Box::new(other.clone())),
    }
}
