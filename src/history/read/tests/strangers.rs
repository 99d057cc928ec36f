//! What stands among operations and is none, and files that are no history at all.

use std::ops::ControlFlow;

use super::super::{ReadError, ReadOptions, Summary, stream};

fn read(bytes: &[u8]) -> Result<Summary, ReadError> {
    stream(bytes, "h", &ReadOptions::default(), &mut |_, _| ControlFlow::Continue(()))
}

const OPERATION: &str = r#"{"type":"invoke","process":0,"f":"read","value":null}"#;

#[test]
fn each_wrong_kind_of_file_is_named_with_what_to_do() {
    let tar = [&b"store/history.edn"[..], &[0; 240], b"ustar\x0000"].concat();
    for (bytes, found) in [
        (&b"\x1f\x8b\x08\0\0\0\0\0"[..], "a file packed by gzip; unpack it with `gunzip` first"),
        (b"\xfd7zXZ\0\0\x04", "a file packed by xz; unpack it with `unxz` first"),
        (b"BZh91AY&SY\xaa", "a file packed by bzip2; unpack it with `bunzip2` first"),
        (b"PK\x03\x04\x14\0", "a zip archive; unpack it with `unzip` first"),
        (&tar, "a tar archive; unpack it with `tar xf` first"),
        (
            b"JEPSEN\0\0\0\x01\xff",
            "as Jepsen stores it (test.jepsen); give the history.edn beside it",
        ),
        (
            b"{:valid? false,\n :stats {:valid? true}}\n",
            "a checker said (results.edn); give the history.edn",
        ),
        (b"{\"valid?\":true}", "what a checker said (results.edn); give the history.edn beside it"),
        (
            b"{\n  \"verdict\": \"valid\",\n  \"checkers\": []\n}",
            "the results of a run; give its folder",
        ),
        (b"{:name \"x\" :history [{:type :ok}]}", "give what is under `history` alone, as a file"),
        (
            b"[{\"ClientId\":0,\"Input\":{},\"Call\":1,\"Output\":{},\"Return\":2}]",
            "porcupine's own operations",
        ),
        (b"{\"ClientId\":0,\"Kind\":true,\"Value\":{},\"Id\":2}", "porcupine's own operations"),
        (
            b"<!DOCTYPE html>\n<html>",
            "a page or picture, such as Jepsen's timeline.html or what porcupine draws",
        ),
        (
            b"process,type,f,value\n0,invoke,read,\n",
            "a table of comma-separated values; write each event",
        ),
        (
            b"INFO jepsen.core - begins\nINFO jepsen.core - ends\n",
            "a log of which no line is an operation",
        ),
        (b"\x7fELF\x01", "binary data"),
    ] {
        let error = read(bytes).expect_err(found).to_string();
        assert!(error.starts_with("h: not a history: expected `history.jsonl.zst`"), "{error}");
        assert!(error.contains(found), "{error}");
    }
}

#[test]
fn marks_between_operations_are_passed_over() {
    for mark in [
        r#"{"t_ns":1,"type":"info","event":"phase","phase":"HEAL"}"#,
        r#"{"type":"meta","value":[1],"seed":7}"#,
        r#"{"version":1}"#,
    ] {
        for text in
            [format!("{mark}\n{OPERATION}\n{mark}\n"), format!("[{mark},\n{OPERATION},{mark}]")]
        {
            let summary = read(text.as_bytes()).expect(mark);
            assert_eq!((summary.events, summary.passed_over.count), (1, 2), "{text}");
            assert_eq!(summary.passed_over.first_line, 1);
        }
    }
    let edn = b"{:event :begin}\n{:type :ok :process 0 :f :read}\n{:type :info :event :end}\n";
    assert_eq!(read(edn).map(|summary| summary.passed_over.count), Ok(2));
}

#[test]
fn an_operation_that_lacks_a_field_is_no_mark() {
    for bad in [
        r#"{"type":"ok","value":7,"x":1}"#,
        r#"{"type":"ok","x":1}"#,
        r#"{"type":"info","value":7,"x":1}"#,
        r#"{"type":"info","key":7,"x":1}"#,
        r#"{"type":"info","process":0,"x":1}"#,
        r#"{"type":"meta","f":"read","x":1}"#,
        r#"{"type":"okay"}"#,
        r#"{"type":"info","time":7}"#,
        "{}",
    ] {
        let error = read(format!("{OPERATION}\n{bad}\n").as_bytes()).expect_err(bad).to_string();
        assert!(error.starts_with("h: line 2, column "), "{error}");
    }
    // Where operations have neither process nor name, such a one may be anything.
    let elle = br#"{"type":"ok","value":[["r",1,null]]}
{"type":"meta","x":1}"#;
    assert!(read(elle).is_err());
}

#[test]
fn marks_alone_are_no_history() {
    let error = read(b"{\"a\":1}\n{\"b\":2}\n").expect_err("no operations").to_string();
    assert!(error.starts_with("h: line 1, column 1: field `type`: expected invoke"), "{error}");
}
