//! A writer of Jepsen's op maps, one a line.

use std::io::Write;

use serde_json::Value as Json;

use super::Keys;
use crate::op::{Event, Key, Process, Value};

/// Appends the event and a newline: `{:index 3, :time 12, :type :ok, :process 0, :f :read, :value 7}`.
pub fn write_edn(out: &mut Vec<u8>, event: &Event, keys: Keys) {
    let Event { index, time, kind, .. } = event;
    // Writing to memory does not fail.
    let _ = write!(out, "{{:index {index}, :time {time}, :type :{}, :process ", kind.name());
    match event.process {
        Process::Client(id) => drop(write!(out, "{id}")),
        Process::Nemesis => out.extend_from_slice(b":nemesis"),
    }
    out.extend_from_slice(b", :f ");
    keyword(out, &event.f);
    out.extend_from_slice(b", :value ");
    match (&event.key, keys) {
        (Some(key), Keys::Independent) if event.process != Process::Nemesis => {
            out.push(b'[');
            write_key(out, key);
            out.push(b' ');
            write_value(out, &event.value);
            out.push(b']');
        }
        (key, _) => {
            write_value(out, &event.value);
            if let Some(key) = key {
                out.extend_from_slice(b", :key ");
                write_key(out, key);
            }
        }
    }
    for (field, value) in [(":node", event.node.as_deref()), (":error", event.error.as_deref())] {
        if let Some(value) = value {
            let _ = write!(out, ", {field} ");
            text(out, value);
        }
    }
    if let Some(route) = &event.route {
        out.extend_from_slice(b", :route ");
        write_json(out, &serde_json::to_value(route).expect("a route is plain data"));
    }
    out.extend_from_slice(b"}\n");
}

fn write_key(out: &mut Vec<u8>, key: &Key) {
    match key {
        Key::Int(key) => drop(write!(out, "{key}")),
        Key::Text(key) => text(out, key),
    }
}

/// The value as EDN; also the column of `history.txt`.
pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.extend_from_slice(b"nil"),
        Value::Int(value) => drop(write!(out, "{value}")),
        Value::Pair(from, to) => drop(write!(out, "[{from} {to}]")),
        Value::Json(json) => write_json(out, json),
    }
}

fn write_json(out: &mut Vec<u8>, json: &Json) {
    match json {
        Json::Null => out.extend_from_slice(b"nil"),
        Json::Bool(_) | Json::Number(_) => drop(write!(out, "{json}")),
        Json::String(value) => text(out, value),
        Json::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                separate(out, position, b" ");
                write_json(out, item);
            }
            out.push(b']');
        }
        Json::Object(map) => {
            out.push(b'{');
            for (position, (key, value)) in map.iter().enumerate() {
                separate(out, position, b", ");
                keyword(out, key);
                out.push(b' ');
                write_json(out, value);
            }
            out.push(b'}');
        }
    }
}

fn separate(out: &mut Vec<u8>, position: usize, separator: &[u8]) {
    if position > 0 {
        out.extend_from_slice(separator);
    }
}

/// A keyword where the name can be one, else text.
pub fn keyword(out: &mut Vec<u8>, name: &str) {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.*+!?/<>=".contains(c);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_name && !name.ends_with('/') && name.chars().all(fits) {
        let _ = write!(out, ":{name}");
    } else {
        text(out, name);
    }
}

/// Strings of EDN escape what strings of JSON escape, but for control characters, which they hold.
pub fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' | '\\' => drop(write!(out, "\\{c}")),
            '\n' => out.extend_from_slice(b"\\n"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\r' => out.extend_from_slice(b"\\r"),
            c if c.is_control() => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => drop(write!(out, "{c}")),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::super::super::line::parse_line;
    use super::*;

    fn edn(line: &str, keys: Keys) -> String {
        let mut out = Vec::new();
        write_edn(&mut out, &parse_line(line, 0).expect(line), keys);
        String::from_utf8(out).expect("utf-8")
    }

    #[test]
    fn op_maps_are_as_jepsen_writes_them() {
        let cas = r#"{"index":4,"time":12,"type":"fail","process":9,"node":"n1","f":"cas","key":7,"value":[1,2],"error":"a \"b\""}"#;
        assert_eq!(
            edn(cas, Keys::Independent),
            "{:index 4, :time 12, :type :fail, :process 9, :f :cas, :value [7 [1 2]], \
             :node \"n1\", :error \"a \\\"b\\\"\"}\n"
        );
        assert_eq!(
            edn(cas, Keys::Plain),
            "{:index 4, :time 12, :type :fail, :process 9, :f :cas, :value [1 2], :key 7, \
             :node \"n1\", :error \"a \\\"b\\\"\"}\n"
        );
        let nemesis = r#"{"type":"info","process":"nemesis","f":"two words","value":{"step":"begin","x y":[true,null,"z"]}}"#;
        assert_eq!(
            edn(nemesis, Keys::Independent),
            "{:index 0, :time 0, :type :info, :process :nemesis, :f \"two words\", \
             :value {:step \"begin\", \"x y\" [true nil \"z\"]}}\n"
        );
    }
}
