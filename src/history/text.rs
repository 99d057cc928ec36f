//! Jepsen's `history.txt`: tab-separated process, type, f, value and error, one event a line.
//!
//! Read too, also with the prefix of a log line, as in `INFO  jepsen.util - 3 :ok :read nil`, and with names
//! for processes.

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
    /// Its op map is on the tape. `logged` tells that it has the prefix of a log line, `has_more` that
    /// there is text behind its value.
    Operation { logged: bool, has_more: bool },
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
    let Some(start) = columns_at(line) else {
        return Ok(Line::Other { logged: is_logged(line) || line.trim().is_empty() });
    };
    let columns = &line[start..];
    let columns = columns.split_once(REMARK).map_or(columns, |(columns, _)| columns);
    match op_map(columns, tape) {
        Ok(has_more) => Ok(Line::Operation { logged: start > 0 || is_logged(line), has_more }),
        Err(fault) => Err(Fault { at: fault.at + start, ..fault }),
    }
}

/// Where the columns begin: at the line's begin or behind the prefix of a log line, whatever that is, as in
/// `INFO  jepsen.util - 3 :ok ...`, `INFO [...] jepsen worker 3 - jepsen.util 3 :ok ...` or
/// `... INFO [jepsen worker 3] jepsen.util: 3 :ok ...`.
fn columns_at(line: &str) -> Option<usize> {
    let mut words = line.split_whitespace().peekable();
    let mut is_first = true;
    while let Some(word) = words.next() {
        if words.peek().is_some_and(|next| is_type(next)) {
            let f = words.clone().nth(1);
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            let has_tab = line[start + word.len()..].starts_with('\t');
            let is_named = f.is_some_and(|f| f.starts_with([':', '"']));
            let is_operation = match is_number_or_nemesis(word) {
                true => is_first || is_named,
                // A word before these may be anything, unless it begins the line, or is a column.
                false => is_named && (is_first || has_tab),
            };
            if is_operation {
                return Some(start);
            }
        }
        is_first = false;
    }
    None
}

fn is_logged(line: &str) -> bool {
    line.split_whitespace().take(4).any(|word| matches!(word, "INFO" | "WARN" | "ERROR" | "DEBUG"))
}

fn is_number_or_nemesis(word: &str) -> bool {
    word.trim_start_matches(':') == "nemesis" || word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_type(word: &str) -> bool {
    matches!(word, ":invoke" | ":ok" | ":fail" | ":info")
}

/// The columns as a map. Tells whether there is text beside them, which may go on in the next lines.
fn op_map(columns: &str, tape: &mut Tape) -> Result<bool, Fault> {
    let map = tape.open();
    tape.push_text("process");
    let mut at = process(columns, tape)?;
    let mut is_completion = false;
    for field in ["type", "f"] {
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
    let more = columns[at..].trim();
    let has_error = !is_error && push_error(more, tape);
    tape.close_map(map, if has_error { 5 } else { 4 });
    Ok(!more.is_empty())
}

/// A number, or a name, which may have characters that are of no EDN. Gives the place after it.
fn process(columns: &str, tape: &mut Tape) -> Result<usize, Fault> {
    let end = columns.find(char::is_whitespace).unwrap_or(columns.len());
    let word = &columns[..end];
    if word.starts_with('"') || word.bytes().all(|byte| byte.is_ascii_digit()) {
        return parse(columns, 0, tape);
    }
    tape.push_text(word.strip_prefix(':').unwrap_or(word));
    Ok(end)
}

/// What stands behind the value as the operation's error: a value of EDN, or else text as it is. Names
/// with values, `:hint 7`, are what others add.
fn push_error(more: &str, tape: &mut Tape) -> bool {
    if more.is_empty() {
        return false;
    }
    tape.push_text("error");
    let error = tape.end();
    if parse(more, 0, tape).is_ok_and(|end| more[end..].trim().is_empty()) {
        return true;
    }
    tape.cut(error);
    if more.starts_with(':') {
        tape.cut(error - 1);
        return false;
    }
    tape.push_text(more);
    true
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
