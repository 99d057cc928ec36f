//! Jepsen's `history.txt`: tab-separated process, type, f, value and error, one event a line.
//!
//! Read too, also with the prefix of a log line, as in `INFO  jepsen.util - 3 :ok :read nil`.

use std::io::Write;

use serde_json::{Map, Value as Json};

use super::edn::{Forms, keyword, write_string, write_value};
use super::op_map::LineError;
use crate::op::{Event, Key, Process};

/// Begins what is told in a line beside its columns, for people; a tab within a text is escaped.
const REMARK: &str = "\t; ";

/// Appends the event and a newline. Time, index and node have no column; a key stands in the value. The
/// way of an operation that went from server to server is a remark at the end.
pub fn write_text(out: &mut Vec<u8>, event: &Event) {
    match event.process {
        Process::Client(id) => drop(write!(out, "{id}")),
        Process::Nemesis => out.extend_from_slice(b":nemesis"),
    }
    let _ = write!(out, "\t:{}\t", event.kind.name());
    keyword(out, &event.f);
    out.push(b'\t');
    match &event.key {
        Some(key) => {
            out.push(b'[');
            match key {
                Key::Int(key) => drop(write!(out, "{key}")),
                Key::Text(key) => write_string(out, key),
            }
            out.push(b' ');
            write_value(out, &event.value);
            out.push(b']');
        }
        None => write_value(out, &event.value),
    }
    if let Some(error) = &event.error {
        out.push(b'\t');
        write_string(out, error);
    }
    if let Some(route) = &event.route {
        let _ = write!(out, "{REMARK}{}", one_line(&route.to_string()));
    }
    out.push(b'\n');
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The op map of a line; `None` for a log line that is about something else.
pub(super) fn parse_text(line: &str) -> Result<Option<Json>, LineError> {
    let (columns, logged) = match line.split_once(" - ") {
        Some((prefix, columns)) if !is_process(first_word(prefix)) => (columns, true),
        _ => (line, false),
    };
    match op_map(columns) {
        Ok(Some(map)) => Ok(Some(map)),
        Ok(None) if logged => Ok(None),
        Ok(None) => Err(LineError::NotOperation {
            expected: "process, type, f and value, separated by tabs",
            found: line.chars().take(80).collect(),
        }),
        Err(error) => Err(error),
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn is_process(word: &str) -> bool {
    word == ":nemesis" || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_type(json: &Json) -> bool {
    ["invoke", "ok", "fail", "info"].iter().any(|kind| json == kind)
}

fn op_map(columns: &str) -> Result<Option<Json>, LineError> {
    let columns = columns.split_once(REMARK).map_or(columns, |(columns, _)| columns);
    if !is_process(first_word(columns)) {
        return Ok(None);
    }
    let (process, rest) = Forms::first(columns)?;
    let Ok((kind, rest)) = Forms::first(rest) else { return Ok(None) };
    if !is_type(&kind) {
        return Ok(None);
    }
    let (f, rest) = Forms::first(rest)?;
    // Jepsen of old put the error of an operation in the place of its value.
    let is_error = kind != "ok" && kind != "invoke" && rest.trim_start().starts_with(':');
    let (value, rest) = Forms::first(rest)?;
    let mut map =
        Map::from_iter([("process".into(), process), ("type".into(), kind), ("f".into(), f)]);
    map.insert(if is_error { "error" } else { "value" }.into(), value);
    if !rest.trim().is_empty() {
        map.insert("error".into(), Forms::first(rest)?.0);
    }
    Ok(Some(Json::Object(map)))
}

#[cfg(test)]
mod tests {
    use super::super::line::parse_line;
    use super::*;

    #[test]
    fn events_are_lines_of_columns_and_are_read_again() {
        for (json, expected) in [
            (r#"{"type":"ok","process":3,"f":"read","value":7}"#, "3\t:ok\t:read\t7\n"),
            (
                r#"{"type":"invoke","process":3,"f":"cas","key":9,"value":[1,2]}"#,
                "3\t:invoke\t:cas\t[9 [1 2]]\n",
            ),
            (
                r#"{"type":"fail","process":0,"f":"read","key":"a","error":"no node"}"#,
                "0\t:fail\t:read\t[\"a\" nil]\t\"no node\"\n",
            ),
            (
                r#"{"type":"info","process":"nemesis","f":"cut","value":{"a":1}}"#,
                ":nemesis\t:info\t:cut\t{:a 1}\n",
            ),
        ] {
            let mut out = Vec::new();
            write_text(&mut out, &parse_line(json, 0).expect(json));
            assert_eq!(String::from_utf8_lossy(&out), expected);
            let map = parse_text(expected.trim_end()).expect(expected).expect("an operation");
            let original: Json = serde_json::from_str(json).expect(json);
            for field in ["type", "process", "f", "error"] {
                assert_eq!(map[field], original[field], "{field} of {expected}");
            }
        }
    }

    #[test]
    fn the_way_of_an_operation_is_told_and_read_over() {
        let json = r#"{"type":"ok","process":3,"f":"read","key":9,"value":7,"route":{"hops":[{"node":"kvrocks1","said":"MOVED 130 kvrocks3","after_us":900},{"node":"kvrocks3","said":"ok","after_us":2100}],"slot":130}}"#;
        let mut out = Vec::new();
        write_text(&mut out, &parse_line(json, 0).expect(json));
        let line = String::from_utf8_lossy(&out);
        let told = "slot 130: kvrocks1 said MOVED 130 kvrocks3 after 0.9 ms, kvrocks3 said ok after 2.1 ms";
        assert_eq!(line, format!("3\t:ok\t:read\t[9 7]\t; {told}\n"));
        let map = parse_text(line.trim_end()).expect("a line").expect("an operation");
        assert_eq!((map.get("error"), map["value"].clone()), (None, serde_json::json!([9, 7])));
    }

    #[test]
    fn log_lines_are_read_and_other_log_lines_skipped() {
        let map = parse_text("INFO  jepsen.util - 3   :info   :write  :timed-out").expect("a line");
        assert_eq!(map.expect("an operation")["error"], "timed-out");
        assert_eq!(parse_text("INFO  jepsen.core - Worker 3 starting"), Ok(None));
        assert_eq!(parse_text("INFO  jepsen.core - 3 workers began"), Ok(None));
        for bad in ["3 :ok", "3\t:done\t:read\tnil", "hello", "3\t:ok\t:read\t[1"] {
            assert!(parse_text(bad).is_err(), "{bad}");
        }
    }
}
