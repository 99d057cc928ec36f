//! An operation as a map of fields, as JSON and EDN both have it, and the event that it stands for.

use std::sync::Arc;

use super::datum::Datum;
use super::names::Names;
use super::tape::{Cursor, Node, Tape};
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
    #[error("not text: expected UTF-8, found other bytes")]
    NotText,
    #[error("longer than {most} MiB, which no operation is: expected a history of operations")]
    TooLong { most: usize },
}

/// What is taken for granted of a foreign history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dialect {
    /// It lacks processes altogether, as Elle's examples do: everything is one process's.
    pub no_process: bool,
    /// It lacks names: everything is a transaction.
    pub no_f: bool,
    /// What it holds as `key` and `node` may be anything.
    pub foreign: bool,
}

impl Dialect {
    /// Settled by a history's first operation, so that a field lost later on is an error.
    pub fn of(first: Cursor, foreign: bool) -> Dialect {
        let fields = Fields::of(first).unwrap_or_default();
        let is_list = |value: Cursor| matches!(value.node(), Node::List { .. });
        Dialect {
            no_process: fields.process.is_none(),
            no_f: fields.f.is_none() && fields.value.is_some_and(is_list),
            foreign,
        }
    }
}

/// The process that injects faults.
const NEMESIS: &str = "nemesis";

/// The fields that count, where they are there and not nil.
#[derive(Clone, Copy, Default)]
struct Fields<'a> {
    index: Option<Cursor<'a>>,
    time: Option<Cursor<'a>>,
    kind: Option<Cursor<'a>>,
    process: Option<Cursor<'a>>,
    node: Option<Cursor<'a>>,
    f: Option<Cursor<'a>>,
    key: Option<Cursor<'a>>,
    value: Option<Cursor<'a>>,
    error: Option<Cursor<'a>>,
    route: Option<Cursor<'a>>,
}

impl<'a> Fields<'a> {
    fn of(map: Cursor<'a>) -> Option<Fields<'a>> {
        let Node::Map { count, .. } = map.node() else { return None };
        let mut fields = Fields::default();
        let mut key = map.inner();
        for _ in 0..count {
            let value = key.next();
            if let Some(field) = key.as_str().and_then(|name| fields.by_name(name))
                && value.node() != Node::Nil
            {
                *field = Some(value);
            }
            key = value.next();
        }
        Some(fields)
    }

    fn by_name(&mut self, name: &str) -> Option<&mut Option<Cursor<'a>>> {
        Some(match name.as_bytes() {
            b"index" => &mut self.index,
            b"time" => &mut self.time,
            b"type" => &mut self.kind,
            b"process" => &mut self.process,
            b"node" => &mut self.node,
            b"f" => &mut self.f,
            b"key" => &mut self.key,
            b"value" => &mut self.value,
            b"error" => &mut self.error,
            b"route" => &mut self.route,
            _ => return None,
        })
    }
}

/// The event of the map at the tape's begin, without its value, and the value, still on the tape.
///
/// `position` is the index where the map names none.
pub fn event<'a>(
    tape: &'a Tape,
    position: u64,
    dialect: Dialect,
    names: &mut Names,
) -> Result<(Event, Datum<'a>), LineError> {
    let Some(fields) = Fields::of(tape.root()) else {
        return Err(LineError::NotOperation { expected: "a map", found: shortened(tape.root()) });
    };
    let event = Event {
        index: whole("index", fields.index, "a number of 0 or more")?.unwrap_or(position),
        time: whole("time", fields.time, "a whole number of nanoseconds, 0 or more")?.unwrap_or(0),
        kind: kind(fields.kind)?,
        process: process(fields.process, dialect, names)?,
        node: node(fields.node, dialect)?.map(|node| names.get(node)),
        f: names.get(f(fields.f, dialect)?),
        key: key(fields.key, dialect)?,
        value: Value::Nil,
        error: fields.error.map(|error| match error.as_str() {
            Some(text) => text.into(),
            None => Datum::Parsed(error).to_text().into(),
        }),
        route: route(fields.route)?,
    };
    Ok((event, fields.value.map_or(Datum::NIL, Datum::Parsed)))
}

/// Whether a map that is no operation was none ever: what programs write between them, as in
/// `{"type":"info","event":"phase"}`. It has neither process nor name, nothing that only operations have,
/// and something that they have not.
pub fn is_mark(map: Cursor) -> bool {
    let (Node::Map { count, .. }, Some(fields)) = (map.node(), Fields::of(map)) else {
        return false;
    };
    let of_operations = fields.process.is_some() || fields.f.is_some();
    let has_value = fields.value.is_some() || fields.key.is_some();
    let is_odd = match kind(fields.kind) {
        Ok(Kind::Info) => !has_value,
        Ok(_) => false,
        Err(_) => true,
    };
    let known = [fields.index, fields.time, fields.kind, fields.value, fields.key, fields.error];
    let known = known.iter().flatten().count() as u32;
    !of_operations && is_odd && count > known
}

/// Only our own histories have routes; what others put there is theirs.
fn route(found: Option<Cursor>) -> Result<Option<Box<Route>>, LineError> {
    let Some(cursor) = found else { return Ok(None) };
    let json = cursor.to_json();
    if json.get("hops").is_none() {
        return Ok(None);
    }
    let route = serde_json::from_value(json).map(|route| Some(Box::new(route)));
    route.map_err(|_| wrong("route", "hops and a slot", found))
}

/// Enough of a value for an error message.
fn shortened(value: Cursor) -> String {
    const MOST: usize = 80;
    let text = Datum::Parsed(value).to_text();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

fn wrong(field: &'static str, expected: &'static str, found: Option<Cursor>) -> LineError {
    LineError::Field { field, expected, found: found.map_or("nothing".into(), shortened) }
}

/// A whole number, which may be written as `12.0`; -1 is Jepsen's own mark for "not known".
fn whole(
    field: &'static str,
    found: Option<Cursor>,
    expected: &'static str,
) -> Result<Option<u64>, LineError> {
    let Some(cursor) = found else { return Ok(None) };
    match cursor.node() {
        Node::Int(-1) => Ok(None),
        Node::Int(value) if value >= 0 => Ok(Some(value as u64)),
        Node::Large(value) => Ok(Some(value)),
        Node::Float(value) if is_exact(value) => Ok(Some(value as u64)),
        _ => Err(wrong(field, expected, found)),
    }
}

/// A float that stands for this very whole number, and for no other.
fn is_exact(value: f64) -> bool {
    const MOST: f64 = (1_u64 << 53) as f64;
    value.fract() == 0.0 && (0.0..=MOST).contains(&value)
}

fn node<'a>(found: Option<Cursor<'a>>, dialect: Dialect) -> Result<Option<&'a str>, LineError> {
    match found.map(Cursor::as_str) {
        None => Ok(None),
        Some(None) if dialect.foreign => Ok(None),
        Some(Some(text)) => Ok(Some(text)),
        Some(None) => Err(wrong("node", "text", found)),
    }
}

fn kind(found: Option<Cursor>) -> Result<Kind, LineError> {
    match found.and_then(Cursor::as_str) {
        Some("invoke") => Ok(Kind::Invoke),
        Some("ok") => Ok(Kind::Ok),
        Some("fail") => Ok(Kind::Fail),
        Some("info") => Ok(Kind::Info),
        _ => Err(wrong("type", "invoke, ok, fail or info", found)),
    }
}

fn process(
    found: Option<Cursor>,
    dialect: Dialect,
    names: &mut Names,
) -> Result<Process, LineError> {
    let Some(cursor) = found else {
        return match dialect.no_process {
            true => Ok(Process::Client(0)),
            false => Err(wrong("process", "a number, a name or \"nemesis\"", None)),
        };
    };
    let number = match (cursor.as_str(), cursor.node()) {
        (Some(NEMESIS), _) => return Ok(Process::Nemesis),
        (Some(name), _) => {
            let number = names.process(name);
            let expected = "a number, as other processes here have, or \"nemesis\"";
            return number.map(Process::Client).ok_or_else(|| wrong("process", expected, found));
        }
        (None, Node::Int(id)) => u32::try_from(id).ok(),
        (None, Node::Float(id)) if is_exact(id) => u32::try_from(id as u64).ok(),
        _ => return Err(wrong("process", "a number, a name or \"nemesis\"", found)),
    };
    let expected = match names.number_processes() {
        true => "a number from 0 to 4294967295 or \"nemesis\"",
        false => "a name, as other processes here have, or \"nemesis\"",
    };
    match number.filter(|_| names.number_processes()) {
        Some(id) => Ok(Process::Client(id)),
        None => Err(wrong("process", expected, found)),
    }
}

fn f<'a>(found: Option<Cursor<'a>>, dialect: Dialect) -> Result<&'a str, LineError> {
    match found {
        Some(cursor) => cursor.as_str().ok_or_else(|| wrong("f", "text", found)),
        None if dialect.no_f => Ok("txn"),
        None => Err(wrong("f", "the operation's name", None)),
    }
}

fn key(found: Option<Cursor>, dialect: Dialect) -> Result<Option<Key>, LineError> {
    let Some(cursor) = found else { return Ok(None) };
    match key_of(Datum::Parsed(cursor)) {
        Some(key) => Ok(Some(key)),
        None if dialect.foreign => {
            Ok(Some(Key::Text(Arc::new(Datum::Parsed(cursor).to_text().into_owned()))))
        }
        None => Err(wrong("key", "a number or text", found)),
    }
}

/// A number or text as a key.
pub fn key_of(value: Datum) -> Option<Key> {
    match (value.as_i64(), value.as_str()) {
        (Some(key), _) => Some(Key::Int(key)),
        (None, Some(text)) => Some(Key::Text(Arc::new(text.to_owned()))),
        (None, None) => None,
    }
}
