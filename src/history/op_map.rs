//! An operation as a map of fields, as JSON and EDN both have it, and the event that it stands for.

use serde_json::{Map, Value as Json};
use std::sync::Arc;

use crate::name::Name;
use crate::op::{Event, Key, Kind, Process, Route, Value};

/// Why a line, or an EDN map, is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("not EDN: {0}")]
    NotEdn(String),
    #[error("not an operation: expected {expected}, found {found}")]
    NotOperation { expected: &'static str, found: String },
    #[error("field `{field}`: expected {expected}, found {found}")]
    Field { field: &'static str, expected: &'static str, found: String },
}

/// Fields that a foreign history lacks altogether, as Elle's examples do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dialect {
    /// Everything is one process's.
    pub no_process: bool,
    /// Everything is a transaction.
    pub no_f: bool,
}

impl Dialect {
    /// Settled by a history's first operation, so that a field lost later on is an error.
    pub fn of(first: &Json) -> Dialect {
        let absent = |field| first.get(field).is_none_or(Json::is_null);
        Dialect { no_process: absent("process"), no_f: absent("f") && first["value"].is_array() }
    }
}

/// The event of a map. `position` is the index where the map names none.
pub fn event(json: &Json, position: u64, dialect: Dialect) -> Result<Event, LineError> {
    let Json::Object(map) = json else {
        return Err(LineError::NotOperation { expected: "a map", found: shortened(json) });
    };
    Ok(Event {
        index: unsigned(map, "index")?.unwrap_or(position),
        time: unsigned(map, "time")?.unwrap_or(0),
        kind: kind(map)?,
        process: process(map, dialect)?,
        node: optional_text(map, "node")?.map(Name::from),
        f: f(map, dialect)?,
        key: key(map)?,
        value: value(map.get("value")),
        error: match map.get("error") {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => Some(text.as_str().into()),
            Some(other) => Some(other.to_string().into()),
        },
        route: route(map)?,
    })
}

/// Only our own histories have routes; what others put there is theirs.
fn route(map: &Map<String, Json>) -> Result<Option<Box<Route>>, LineError> {
    let found = map.get("route").filter(|json| json.get("hops").is_some());
    let read = |json: &Json| serde_json::from_value(json.clone()).map(Box::new);
    found.map(read).transpose().map_err(|_| wrong("route", "hops and a slot", found))
}

/// Enough of a value for an error message.
fn shortened(json: &Json) -> String {
    const MOST: usize = 80;
    let text = json.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn wrong(field: &'static str, expected: &'static str, found: Option<&Json>) -> LineError {
    LineError::Field { field, expected, found: found.map_or("nothing".into(), shortened) }
}

fn unsigned(map: &Map<String, Json>, field: &'static str) -> Result<Option<u64>, LineError> {
    match map.get(field) {
        None | Some(Json::Null) => Ok(None),
        // Jepsen's own mark for "not known".
        Some(found) if found.as_i64() == Some(-1) => Ok(None),
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

fn process(map: &Map<String, Json>, dialect: Dialect) -> Result<Process, LineError> {
    let found = map.get("process");
    match found {
        None | Some(Json::Null) if dialect.no_process => Ok(Process::Client(0)),
        Some(Json::String(name)) if name == "nemesis" => Ok(Process::Nemesis),
        Some(Json::Number(number)) => {
            number.as_u64().and_then(|id| u32::try_from(id).ok()).map(Process::Client).ok_or_else(
                || wrong("process", "a number from 0 to 4294967295 or \"nemesis\"", found),
            )
        }
        _ => Err(wrong("process", "a number or \"nemesis\"", found)),
    }
}

fn f(map: &Map<String, Json>, dialect: Dialect) -> Result<Name, LineError> {
    match optional_text(map, "f")? {
        Some(f) => Ok(Name::from(f)),
        None if dialect.no_f => Ok(Name::from("txn")),
        None => Err(wrong("f", "the operation's name", None)),
    }
}

fn key(map: &Map<String, Json>) -> Result<Option<Key>, LineError> {
    match map.get("key") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(Key::Text(Arc::new(text.clone())))),
        Some(found) => found
            .as_i64()
            .map(|key| Some(Key::Int(key)))
            .ok_or_else(|| wrong("key", "a number or text", Some(found))),
    }
}

pub(super) fn value(json: Option<&Json>) -> Value {
    match json {
        None | Some(Json::Null) => Value::Nil,
        Some(Json::Number(number)) if number.is_i64() => {
            Value::Int(number.as_i64().unwrap_or_default())
        }
        Some(other) => match pair(other) {
            Some((from, to)) => Value::Pair(from, to),
            None => Value::Json(Box::new(other.clone())),
        },
    }
}

fn pair(json: &Json) -> Option<(i64, i64)> {
    match json.as_array()?.as_slice() {
        [from, to] => Some((from.as_i64()?, to.as_i64()?)),
        _ => None,
    }
}
