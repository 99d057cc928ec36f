//! Histories that cannot be read to their end: where that is, what was expected, and what is before it.

use expect_test::expect;

use super::refused;
use crate::binary::Folder;
use crate::check::STALE;

/// Bytes of a line that nobody meant.
const ENDLESS: usize = 100 << 20;

fn edn(last: &str) -> String {
    "{:type :invoke, :process 0, :f :write, :value 1}\n{:type :ok, :process 0, :f :write, :value 1}\n"
        .to_owned()
        + last
}

#[test]
fn what_cannot_be_read_is_told_with_file_line_and_column() {
    let folder = Folder::new();
    let last = r#"{"index":4,"time":5000000,"type":"invoke","process":0,"f":"read","value":null}"#;
    let with = |from: &str, to: &str| format!("{STALE}{}\n", last.replace(from, to));
    let cases = [
        ("half-a-line.jsonl", format!("{STALE}{}", &last[..40])),
        ("a-line-within.jsonl", format!("{}\n{STALE}", &last[..40])),
        ("type.jsonl", with("invoke", "invoked")),
        ("time.jsonl", with("5000000", "5.25")),
        ("integer.jsonl", with("null", "99999999999999999999")),
        ("index.jsonl", with("\"index\":4", "\"index\":99999999999999999999")),
        ("process.jsonl", with("\"process\":0", "\"process\":[0]")),
        ("unbalanced.edn", edn("{:type :invoke, :process 0, :f :read, :value nil]\n")),
        ("odd.edn", edn("{:type :invoke, :process}\n")),
        ("unfinished.edn", edn("{:type :invoke, :process 0")),
        ("no-type.edn", edn("{:process 0, :f :read}\n")),
    ];
    let mut told = String::new();
    for (name, text) in &cases {
        folder.write(name, text);
        let said = folder.run(&format!("check {name} --model register"));
        told += &format!("{name}: {:?} {}\n", said.code, said.err.trim_end());
        let tolerant = folder.run(&format!("check {name} --model register --tolerate-tail"));
        let head = tolerant.out.lines().next().unwrap_or("nothing");
        told += &format!("  with --tolerate-tail: {head}\n");
        assert!(!said.err.contains("panicked") && !tolerant.err.contains("panicked"), "{said:?}");
    }
    expect![[r#"
        half-a-line.jsonl: Some(64) stormglass: half-a-line.jsonl: line 5, the last 40 bytes from byte 304: no whole operation: a string has no end; events at the end are missing; `--tolerate-tail` judges what is readable
          with --tolerate-tail: Invalid  (exit code 1)
        a-line-within.jsonl: Some(64) stormglass: a-line-within.jsonl: line 1, column 41: not JSON: the line ends within a map; correct it or restore it from a copy
          with --tolerate-tail: nothing
        type.jsonl: Some(64) stormglass: type.jsonl: line 5, column 27: field `type`: expected invoke, ok, fail or info, found "invoked"; correct it or restore it from a copy
          with --tolerate-tail: Invalid  (exit code 1)
        time.jsonl: Some(64) stormglass: time.jsonl: line 5, column 12: field `time`: expected a whole number of nanoseconds, 0 or more, found 5.25; correct it or restore it from a copy
          with --tolerate-tail: Invalid  (exit code 1)
        integer.jsonl: Some(1) 
          with --tolerate-tail: Invalid  (exit code 1)
        index.jsonl: Some(64) stormglass: index.jsonl: line 5, column 2: field `index`: expected a number of 0 or more, found "99999999999999999999"; correct it or restore it from a copy
          with --tolerate-tail: Invalid  (exit code 1)
        process.jsonl: Some(64) stormglass: process.jsonl: line 5, column 43: field `process`: expected a number, a name or "nemesis", found [0]; correct it or restore it from a copy
          with --tolerate-tail: Invalid  (exit code 1)
        unbalanced.edn: Some(64) stormglass: unbalanced.edn: line 3, column 49: not EDN: `]` closes nothing; correct it or restore it from a copy
          with --tolerate-tail: Valid  (exit code 0)
        odd.edn: Some(64) stormglass: odd.edn: line 3, column 1: not EDN: a map with a key that has no value; correct it or restore it from a copy
          with --tolerate-tail: Valid  (exit code 0)
        unfinished.edn: Some(64) stormglass: unfinished.edn: line 3, the last 26 bytes from byte 94: no whole operation: `}` is missing for this `{`; events at the end are missing; `--tolerate-tail` judges what is readable
          with --tolerate-tail: Valid  (exit code 0)
        no-type.edn: Some(64) stormglass: no-type.edn: line 3, column 1: field `type`: expected invoke, ok, fail or info, found nothing; correct it or restore it from a copy
          with --tolerate-tail: Valid  (exit code 0)
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_line_without_end_is_refused_in_bounded_memory() {
    let folder = Folder::new();
    let text = format!("{STALE}{{\"index\":4,\"value\":\"{}\"}}\n", "x".repeat(ENDLESS));
    folder.write("endless.jsonl", text);
    let before = folder.files().len();
    let said = folder.run("check endless.jsonl --model register");
    assert_eq!((said.code, said.out.as_str(), before), (Some(64), "", 1), "{said:?}");
    expect![[r#"
        stormglass: endless.jsonl: line 5, column 1: longer than 16 MiB, which no operation is: expected a history of operations; correct it or restore it from a copy
    "#]]
    .assert_eq(&said.err);
    let tolerant = folder.run("check endless.jsonl --model register --tolerate-tail");
    assert_eq!(tolerant.code, Some(1), "{tolerant:?}");
}

#[test]
fn values_that_repeat_are_searched_and_not_refused() {
    let folder = Folder::new();
    folder.write(
        "repeat.jsonl",
        STALE.replace(
            "\"ok\",\"process\":1,\"f\":\"read\",\"value\":null",
            "\"ok\",\"process\":1,\"f\":\"read\",\"value\":1",
        ) + r#"{"index":4,"time":5000000,"type":"invoke","process":0,"f":"write","value":1}"#
            + "\n"
            + r#"{"index":5,"time":6000000,"type":"ok","process":0,"f":"write","value":1}"#
            + "\n",
    );
    let said = folder.run("check repeat.jsonl --model register");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    assert!(refused(&folder, "check repeat.jsonl --model regsiter", 64).contains("unknown model"));
}
