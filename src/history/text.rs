//! Jepsen's `history.txt`: tab-separated process, type, f, value and error, one event a line.
//!
//! Read too, also with the prefix of a log line, as in `INFO  jepsen.util - 3 :ok :read nil`.

use std::io::Write;

use super::edn::{keyword, parse, write_string, write_value};
use super::fault::Fault;
use super::op_map::LineError;
use super::tape::Tape;
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

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its op map is on the tape. `logged` tells that it has the prefix of a log line.
    Operation { logged: bool },
    /// About something else.
    Other { logged: bool },
}

impl Line {
    /// What to say of a line that should have been an operation.
    pub fn unexpected(line: &str) -> LineError {
        LineError::NotOperation {
            expected: "process, type, f and value, separated by tabs",
            found: line.chars().take(80).collect(),
        }
    }
}

/// Puts the op map of a line on the tape, if it has one.
pub(super) fn parse_text(line: &str, tape: &mut Tape) -> Result<Line, Fault> {
    tape.clear();
    let start = columns_at(line);
    let logged = start > 0 || is_logged(line);
    let columns = &line[start..];
    let columns = columns.split_once(REMARK).map_or(columns, |(columns, _)| columns);
    if !is_operation(columns) {
        let is_blank = line.trim().is_empty();
        return Ok(if is_blank { Line::Other { logged: true } } else { Line::Other { logged } });
    }
    match op_map(columns, tape) {
        Ok(()) => Ok(Line::Operation { logged }),
        Err(fault) => Err(Fault { at: fault.at + start, ..fault }),
    }
}

/// Where the columns begin: behind the prefix of a log line, as in `INFO  jepsen.util - 3 :ok ...` or
/// `... INFO [jepsen worker 3] jepsen.util: 3 :ok ...`.
fn columns_at(line: &str) -> usize {
    if is_operation(line) {
        return 0;
    }
    let behind = |mark: &str| line.find(mark).map(|at| at + mark.len());
    [" - ", "jepsen.util: ", "jepsen.core: "].iter().find_map(|mark| behind(mark)).unwrap_or(0)
}

fn is_logged(line: &str) -> bool {
    line.split_whitespace().take(4).any(|word| matches!(word, "INFO" | "WARN" | "ERROR" | "DEBUG"))
}

fn is_operation(columns: &str) -> bool {
    let mut words = columns.split_whitespace();
    words.next().is_some_and(is_process) && words.next().is_some_and(is_type)
}

fn is_process(word: &str) -> bool {
    word == ":nemesis" || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_type(word: &str) -> bool {
    matches!(word, ":invoke" | ":ok" | ":fail" | ":info")
}

/// The columns as a map.
fn op_map(columns: &str, tape: &mut Tape) -> Result<(), Fault> {
    let map = tape.open();
    let mut at = 0;
    let mut is_completion = false;
    for field in ["process", "type", "f"] {
        tape.push_text(field);
        let begun = at;
        at = parse(columns, at, tape)?;
        is_completion = field == "type" && matches!(columns[begun..at].trim(), ":fail" | ":info")
            || field == "f" && is_completion;
    }
    // Jepsen of old put the error of an operation in the place of its value.
    let is_error = is_completion && columns[at..].trim_start().starts_with(':');
    tape.push_text(if is_error { "error" } else { "value" });
    at = parse(columns, at, tape)?;
    let error = tape.end();
    let has_error = !is_error && !columns[at..].trim().is_empty() && {
        tape.push_text("error");
        // More than one column beside the value are names and values that others add.
        columns[parse(columns, at, tape)?..].trim().is_empty()
    };
    if !has_error {
        tape.cut(error);
    }
    tape.close_map(map, if has_error { 5 } else { 4 });
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::super::line::parse_line;
    use super::*;

    fn read(line: &str) -> Option<Json> {
        let mut tape = Tape::default();
        match parse_text(line, &mut tape).expect(line) {
            Line::Operation { .. } => Some(tape.root().to_json()),
            Line::Other { .. } => None,
        }
    }

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
            let map = read(expected.trim_end()).expect("an operation");
            let original: Json = serde_json::from_str(json).expect(json);
            for field in ["type", "process", "f", "error"] {
                assert_eq!(map.get(field), original.get(field), "{field} of {expected}");
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
        let map = read(line.trim_end()).expect("an operation");
        assert_eq!((map.get("error"), map["value"].clone()), (None, serde_json::json!([9, 7])));
    }

    #[test]
    fn log_lines_are_read_and_other_log_lines_skipped() {
        for prefix in [
            "INFO  jepsen.util - ",
            "1234 INFO  jepsen.util - ",
            "2026-05-09 12:33:21,155{GMT}\tINFO\t[jepsen worker 3] jepsen.util: ",
        ] {
            let map = read(&format!("{prefix}3   :info   :write  :timed-out"));
            assert_eq!(map.expect("an operation")["error"], "timed-out");
        }
        let map =
            read("INFO  jepsen.util - 6 \t:ok :write \t37 \t:hint 9948").expect("an operation");
        assert_eq!((&map["value"], map.get("error")), (&Json::from(37), None));
        let mut tape = Tape::default();
        for other in ["INFO  jepsen.core - Worker 3 starting", "INFO  jepsen.core - 3 workers", ""]
        {
            assert_eq!(parse_text(other, &mut tape), Ok(Line::Other { logged: true }));
        }
        for other in ["3 :done", "3\t:done\t:read\tnil", "hello"] {
            assert_eq!(parse_text(other, &mut tape), Ok(Line::Other { logged: false }));
        }
        for bad in ["3 :ok", "3\t:ok\t:read\t[1", "3\t:ok\t:read\t}"] {
            assert!(parse_text(bad, &mut tape).is_err(), "{bad}");
        }
    }
}
