//! Histories that are wrong in one place: the error names it, and what comes before is judged on request.

use std::io::Read;
use std::ops::ControlFlow;

use super::super::{ReadOptions, stream};

const GOOD: &str = r#"{"type":"invoke","process":0,"f":"read","time":1}"#;

/// Reads a good line and then another text, in JSON lines or EDN.
fn error(second: &str) -> String {
    let first = match second.trim_start_matches('{').starts_with(':') {
        true => "{:type :invoke, :process 0, :f :read}",
        false => GOOD,
    };
    error_of(format!("{first}\n{second}\n").as_bytes(), 1)
}

/// The error that ends the reading after so many events.
fn error_of(bytes: impl Read, expected: u64) -> String {
    let mut events = 0;
    let error = stream(bytes, "h", &ReadOptions::default(), &mut |_, _| {
        events += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(events, expected);
    error.expect_err("a bad history").to_string()
}

#[test]
fn each_kind_of_bad_line_is_named_with_its_place() {
    for (second, expected) in [
        (r#"{"type":"ok","proc"#, "line 2, column 19: not JSON: the line ends within a map"),
        (
            r#"{"type":"ok","process":0 "f":1}"#,
            "column 26: not JSON: expected `,` or `}`, found '\"'",
        ),
        (
            r#"{"type":"okay","process":0,"f":"r"}"#,
            "column 2: field `type`: expected invoke, ok, fail or info, found \"okay\"",
        ),
        (
            r#"{"type":"ok","process":0,"f":"r","time":1.5}"#,
            "column 34: field `time`: expected a whole number of nanoseconds, 0 or more, found 1.5",
        ),
        (
            r#"{"type":"ok","process":0,"f":"r","time":99999999999999999999}"#,
            "found \"99999999999999999999\"",
        ),
        (
            r#"{"type":"ok","process":4294967296,"f":"r"}"#,
            "field `process`: expected a number from 0 to 4294967295",
        ),
        (
            r#"{"type":"ok","process":0,"f":"r","f":"r"}"#,
            "column 1: not JSON: key \"f\" twice in one map",
        ),
        (
            r#"{"type":"ok","process":0,"f":"r","value":{"a":1,"a":2}}"#,
            "column 42: not JSON: key \"a\" twice",
        ),
        (
            r#"{"type":"ok","process":0,"f":"a	b"}"#,
            "column 32: not JSON: expected no control character",
        ),
        ("[1]", "line 2, column 1: not an operation: expected a map, found [1]"),
        (
            "{:type :ok, :process 0, :f :read, :value [1 2}}",
            "line 2, column 46: not EDN: `}` closes nothing",
        ),
        ("{:type :ok, :process 0, :f :read, :time 0.5}", "line 2, column 35: field `time`"),
        (
            "{:type :ok, :process 0, :f}",
            "line 2, column 1: not EDN: a map with a key that has no value",
        ),
        (
            "{:type :ok, :process 0, :f :read, :value {1 2, 1 3}}",
            "column 42: not EDN: key 1 twice in one map",
        ),
    ] {
        let found = error(second);
        assert!(found.starts_with("h: line 2, column ") && found.contains(expected), "{found}");
    }
    let deep = format!("{{\"value\":{}", "[".repeat(1000));
    assert!(error(&deep).contains("column 110: not JSON: more than 100 forms within each other"));
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_place() {
    let bytes =
        [GOOD.as_bytes(), b"\n{\"type\":\"ok\",\"f\":\"\xff\"}\n", GOOD.as_bytes()].concat();
    let expected = "h: line 2, column 19: not text: expected UTF-8, found other bytes";
    assert_eq!(error_of(bytes.as_slice(), 1), expected);
    let bytes = [b"0 :ok :read 1\n0 :ok \xff\xfe".as_slice(), &[b' '; 9]].concat();
    assert_eq!(error_of(bytes.as_slice(), 1), expected.replace("19", "7"));
}

/// Whatever a line's length is, little of it is held.
#[test]
fn endless_operations_are_errors() {
    for begin in [
        r#"{"type":"ok","process":0,"f":"r","value":""#,
        "{:type :ok, :process 0, :f :r, :value \"",
        "0 :ok :read \"",
        "r 1 ",
    ] {
        let endless = begin.as_bytes().chain(std::io::repeat(b'7'));
        let found = error_of(endless, 0);
        assert!(found.starts_with("h: line 1, column 1: longer than 16 MiB"), "{found}");
    }
}

#[test]
fn marks_of_other_systems_are_no_trouble() {
    let lines = format!("\u{feff}{GOOD}\r\n\r\n{GOOD}\r\n");
    let edn =
        "\u{feff}{:type :invoke, :process 0, :f :read}\r\n{:type :ok :process 0 :f :read}\r\n";
    let text = "0\t:invoke\t:read\tnil\r\n0\t:ok\t:read\tnil\r\n";
    for text in [&lines, edn, text, "w 0 0\r\n====\r\nr 0 0\r\n"] {
        let nothing =
            &mut |_: &crate::op::Event, _: crate::history::Datum| ControlFlow::Continue(());
        let read = stream(text.as_bytes(), "h", &ReadOptions::default(), nothing);
        assert_eq!(read.map(|read| read.events), Ok(2), "{text:?}");
    }
}

#[test]
fn whole_floats_are_times_and_what_was_read_empty_is_no_absence() {
    let line = r#"{"type":"ok","process":0.0,"f":"read","time":12.0,"value":[["r",1,null]]}"#;
    let mut seen = Vec::new();
    stream(line.as_bytes(), "h", &ReadOptions::default(), &mut |head, value| {
        seen.push((head.time, value.to_text().into_owned()));
        ControlFlow::Continue(())
    })
    .expect("readable");
    assert_eq!(seen, [(12, r#"[["r",1,null]]"#.to_owned())]);
}

#[test]
fn what_comes_before_damage_is_read_on_request() {
    let options = ReadOptions { tolerate_tail: true, ..ReadOptions::default() };
    let bytes = format!("{GOOD}\n{{\"type\":\"okay\"}}\n{GOOD}\n");
    let mut events = 0;
    let summary = stream(bytes.as_bytes(), "h", &options, &mut |_, _| {
        events += 1;
        ControlFlow::Continue(())
    });
    let damage = summary.expect("tolerated").damage.expect("damage").to_string();
    assert_eq!(events, 1);
    assert_eq!(
        damage,
        "line 2, the last 66 bytes from byte 50: column 2: field `type`: expected invoke, ok, fail or \
         info, found \"okay\"; events at the end are missing"
    );
}

#[test]
fn a_sink_may_end_the_reading() {
    let bytes = format!("{GOOD}\n{GOOD}\nrubbish\n");
    let summary =
        stream(bytes.as_bytes(), "h", &ReadOptions::default(), &mut |_, _| ControlFlow::Break(()));
    assert_eq!(summary.map(|summary| summary.events), Ok(1));
}
