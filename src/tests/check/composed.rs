//! Many checkers over one history: whose each finding is, what was decided of each key, and what is refused.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use super::STALE;
use crate::binary::{Folder, Said};

fn found(said: &Said) -> Json {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn each_finding_names_the_model_that_it_is_of() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    let arguments = "check stale.jsonl --model register,cas-register,staleness";
    let whole = found(&folder.run(&format!("{arguments} --json")));
    let of = |name: &str| -> Vec<Json> {
        let findings = whole["findings"].as_array().expect("a list").iter();
        findings.map(|finding| finding[name].clone()).collect()
    };
    let names = ["well-formed", "linearizability", "linearizability", "staleness"];
    assert_eq!(of("name"), names.map(Json::from));
    assert_eq!(
        of("model"),
        [json!(null), json!("register"), json!("cas-register"), json!("staleness")]
    );
    let text = folder.run(arguments).out;
    assert!(text.contains("invalid  linearizability (cas-register): 1 of 1"), "{text}");
    assert!(text.contains("  staleness: "), "{text}");
    let page = folder.run(&format!("{arguments} --html page.html"));
    assert_eq!(page.code, Some(1), "{page:?}");
    assert!(folder.read("page.html").contains("found by linearizability (cas-register)"));
    // Where one is judged, nobody asks which.
    assert!(folder.run("check stale.jsonl").out.contains("invalid  linearizability: "));
}

/// On each of these keys a write that a later read does not see; on the last one nothing is wrong.
fn stale_keys(count: usize) -> String {
    let mut text = String::new();
    for position in 0..=count {
        for (event, (kind, process, f, value)) in [
            ("invoke", 0, "write", "1"),
            ("ok", 0, "write", "1"),
            ("invoke", 1, "read", "null"),
            ("ok", 1, "read", if position == count { "1" } else { "null" }),
        ]
        .into_iter()
        .enumerate()
        {
            let index = position * 4 + event;
            let _ = writeln!(
                text,
                r#"{{"index":{index},"time":{},"type":"{kind}","process":{process},"f":"{f}","key":"k{position}","value":{value}}}"#,
                (index + 1) * 1_000
            );
        }
    }
    text
}

#[test]
fn all_violations_are_counted_where_few_are_told() {
    let folder = Folder::new();
    folder.write("many.jsonl", stale_keys(300));
    for (model, all) in [("register", 300), ("kv --ops read,write", 300)] {
        let said = folder.run(&format!("check many.jsonl --model {model} --json"));
        let finding = &found(&said)["findings"][1];
        assert_eq!(finding["anomalies_total"], all, "{model}");
        assert_eq!(finding["anomalies"].as_array().map(Vec::len), Some(20), "{model}");
        let keys = &finding["keys"];
        assert_eq!(
            [&keys["violated"], &keys["valid"], &keys["unknown"]],
            [&json!(300), &json!(1), &json!(0)],
            "{model}"
        );
        assert_eq!(keys["violated_keys"].as_array().map(Vec::len), Some(300), "{model}");
    }
    let text = folder.run("check many.jsonl --model register").out;
    for told in ["stale-read (20 explained)", "and 280 more violations", " and 290 others"] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[test]
fn what_happens_within_a_millisecond_is_told_more_finely() {
    let folder = Folder::new();
    folder.write("many.jsonl", stale_keys(1));
    let text = folder.run("check many.jsonl --model register").out;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("read nil at 3.000 µs"), "{text}");
    assert!(text.contains("had completed at 2.000 µs"), "{text}");
    assert!(!text.contains("0.000 s"), "{text}");
}

#[test]
fn a_history_that_breaks_what_its_checkers_assume_is_refused_with_the_events() {
    let folder = Folder::new();
    let event = |index: usize, kind: &str, process: u32, f: &str, value: &str| {
        let time = (index + 1) * 1_000_000;
        format!(
            r#"{{"index":{index},"time":{time},"type":"{kind}","process":{process},"f":"{f}","value":{value}}}"#
        )
    };
    let write = |name: &str, events: &[(&str, u32, &str, &str)]| {
        let numbered = events.iter().enumerate();
        let lines =
            numbered.map(|(at, (kind, process, f, value))| event(at, kind, *process, f, value));
        folder.write(name, lines.collect::<Vec<_>>().join("\n") + "\n");
    };
    write(
        "orphan",
        &[("invoke", 0, "write", "1"), ("ok", 0, "write", "1"), ("ok", 1, "write", "2")],
    );
    write("overlap", &[("invoke", 0, "write", "1"), ("invoke", 0, "write", "2")]);
    let twice = ["1", "1"].map(|value| [("invoke", 0, "write", value), ("ok", 0, "write", value)]);
    let read = [("invoke", 1, "read", "null"), ("ok", 1, "read", "1")];
    write("twice", &[&twice.concat()[..], &read].concat());
    for (name, model, expected) in [
        ("orphan", "register", "event 2: process 1 completes (ok write) what it never invoked"),
        ("orphan", "errors", "event 2: process 1 completes"),
        ("overlap", "register", "event 1: process 0 invokes while its write of event 0 is open"),
        ("overlap", "session", "event 1: process 0 invokes while"),
        ("twice", "session", "event 2: 1 is written to one key a second time"),
        ("twice", "staleness", "event 2: a write of 1, which was there before"),
        ("twice", "comments", "event 2: value 1 is written twice"),
    ] {
        let said = folder.run(&format!("check {name} --model {model}"));
        assert_eq!(said.code, Some(2), "{name} {model}: {said:?}");
        let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(expected), "{name} {model}: {told}");
    }
    // Registers are judged by search then.
    assert_eq!(folder.run("check twice --model register").code, Some(0));
}

#[test]
fn a_clock_that_goes_back_is_told_and_the_order_of_the_lines_counts() {
    let folder = Folder::new();
    folder.write("back.jsonl", STALE.replace("\"time\":4000000", "\"time\":100"));
    let said = folder.run("check back.jsonl --model register");
    assert_eq!(said.code, Some(1), "{said:?}");
    let told = "line 4 (index 3): time 100 is before 3000000, the time of the event before it";
    assert!(said.err.contains(told), "{}", said.err);
}

#[test]
fn options_that_can_do_nothing_are_refused() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    for (arguments, expected) in [
        ("--independent", "no value in stale.jsonl is [key value]; leave it out"),
        ("--memory 1", "expected at least 1m"),
        ("--budget 0s", "expected more, such as 10s"),
        ("--model kafka --ops a,b", "--ops means nothing here: kafka takes --anomalies"),
        ("--model set --ops a", "expected 2 names, for add,read of set in this order, found 1"),
    ] {
        let said = folder.run(&format!("check stale.jsonl {arguments}"));
        assert_eq!((said.code, said.out.as_str()), (Some(64), ""), "{arguments}: {said:?}");
        assert!(said.err.contains(expected), "{arguments}: {}", said.err);
    }
    // Blanks after commas are no part of a name.
    let set = STALE
        .replace("\"write\"", "\"insert\"")
        .replace("\"read\",\"value\":null", "\"scan\",\"value\":[1]");
    folder.write("set.jsonl", set);
    let mut command = folder.command("check set.jsonl --model set");
    let said = folder.said(command.args(["--ops", "insert, scan"]).output().expect("a process"));
    assert_eq!(said.code, Some(0), "{said:?}");
}
