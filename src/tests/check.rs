//! `stormglass check` on files, as people call it.

mod composed;
mod foreign;
mod kinds;
mod manifest;
mod page;
mod pipes;

use expect_test::expect;

use crate::binary::Folder;

/// A write that a later read does not see.
pub const STALE: &str = r#"{"index":0,"time":1000000,"type":"invoke","process":0,"f":"write","value":1}
{"index":1,"time":2000000,"type":"ok","process":0,"f":"write","value":1}
{"index":2,"time":3000000,"type":"invoke","process":1,"f":"read","value":null}
{"index":3,"time":4000000,"type":"ok","process":1,"f":"read","value":null}
"#;

/// Two transactions that each read what the other had not yet written.
const CYCLE: &str = r#"{:type :invoke, :process 0, :f :txn, :value [[:r :x nil] [:append :y 1]]}
{:type :invoke, :process 1, :f :txn, :value [[:r :y nil] [:append :x 1]]}
{:type :ok, :process 0, :f :txn, :value [[:r :x []] [:append :y 1]]}
{:type :ok, :process 1, :f :txn, :value [[:r :y []] [:append :x 1]]}
{:type :invoke, :process 2, :f :txn, :value [[:r :x nil] [:r :y nil]]}
{:type :ok, :process 2, :f :txn, :value [[:r :x [1]] [:r :y [1]]]}
"#;

#[test]
fn the_model_is_guessed_and_the_guess_is_said() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    let said = folder.run("check stale.jsonl");
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{said:?}");
    let head: Vec<&str> = said.out.lines().take(3).collect();
    expect![[r#"
        Invalid  (exit code 1)
          stale.jsonl against register
          the model is guessed: its operations are read, write; --model says which it is"#]]
    .assert_eq(&head.join("\n"));
    let told = "\n    stale-read\n    = an operation saw a value after it had surely been replaced\n      process 1 read nil";
    assert!(said.out.contains(told), "{}", said.out);
}

#[test]
fn no_model_or_several_are_refused_with_what_was_seen() {
    let folder = Folder::new();
    folder.write("odd.jsonl", STALE.replace("\"write\"", "\"paint\""));
    let queue = STALE
        .replace("\"write\"", "\"add\"")
        .replace("\"read\",\"value\":null", "\"read\",\"value\":[1]");
    folder.write("set.jsonl", queue);
    let odd = folder.run("check odd.jsonl");
    assert_eq!((odd.code, odd.out.as_str()), (Some(64), ""), "{odd:?}");
    let start = "stormglass: odd.jsonl: its operations are paint, read, which no model has; say --model, one of register";
    assert!(odd.err.starts_with(start), "{}", odd.err);
    folder.write("reads.jsonl", STALE.lines().skip(2).collect::<Vec<_>>().join("\n") + "\n");
    let reads = folder.run("check reads.jsonl");
    let start = "stormglass: reads.jsonl: its operations are read alone, as several models have; say --model, one of register, cas-register, ";
    assert!(reads.err.starts_with(start) && reads.code == Some(64), "{reads:?}");
    let several = folder.run("check set.jsonl");
    let start = "stormglass: set.jsonl: its operations are add, read, as several models have; say --model, one of ";
    assert!(several.err.starts_with(start) && several.code == Some(64), "{several:?}");
}

#[test]
fn several_models_are_judged_in_one_pass_and_the_worst_verdict_counts() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    let said = folder.run("check stale.jsonl --model register,cas-register --json");
    let whole: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let findings = whole["findings"].as_array().expect("a list");
    let names: Vec<_> = findings.iter().filter_map(|finding| finding["name"].as_str()).collect();
    assert_eq!(names, ["well-formed", "linearizability", "linearizability"]);
    assert_eq!((said.code, whole["verdict"].as_str()), (Some(1), Some("invalid")));
    assert_eq!(findings[1]["anomalies"][0]["ops"], serde_json::json!([0, 2]));
}

#[test]
fn options_reach_the_model_and_strangers_are_refused() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    // As Knossos has it, nobody knows what a read of nil saw.
    let knossos = folder.run("check stale.jsonl --nil-read-is-unknown");
    assert_eq!(knossos.code, Some(0), "{knossos:?}");
    folder.write("cycle.edn", CYCLE);
    let cycle = folder.run("check cycle.edn");
    assert_eq!(cycle.code, Some(1), "{cycle:?}");
    assert!(cycle.out.contains("G2-item"), "{}", cycle.out);
    let weak = folder.run("check cycle.edn --consistency snapshot-isolation");
    assert_eq!(weak.code, Some(0), "{weak:?}");
    for (arguments, expected) in [
        (
            "stale.jsonl --wfr-keys",
            "--wfr-keys means nothing here: register takes --init, --nil-read-is-unknown; leave it out",
        ),
        ("cycle.edn --consistency strict-serialisable", "strict-serialisable"),
        ("stale.jsonl --init {x", "expected JSON, such as 0, null"),
        ("stale.jsonl --model regsiter", "unknown model `regsiter`: expected one of register, "),
        ("stale.jsonl --quiet", "--manifest"),
        ("stale.jsonl --manifest m.json", "cannot be used with"),
    ] {
        let said = folder.run(&format!("check {arguments}"));
        assert_eq!((said.code, said.out.as_str()), (Some(64), ""), "{arguments}: {said:?}");
        assert!(said.err.contains(expected), "{arguments}: {}", said.err);
    }
}

#[test]
fn keys_in_values_are_found_out_and_said() {
    let folder = Folder::new();
    let keyed = STALE
        .replace("\"f\":\"write\",\"value\":1", "\"f\":\"write\",\"value\":[7,1]")
        .replace("\"value\":null", "\"value\":[7,null]");
    folder.write("keyed.jsonl", &keyed);
    let found = folder.run("check keyed.jsonl");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.err.contains("read as with --independent"), "{}", found.err);
    assert!(found.out.contains("key 7"), "{}", found.out);
    let told = folder.run("check keyed.jsonl --independent --model register");
    assert_eq!((told.code, told.err.as_str()), (Some(1), ""), "{told:?}");
}

#[test]
fn lines_are_as_wide_as_the_terminal_and_colours_are_for_people() {
    let folder = Folder::new().with("COLUMNS", "80");
    folder.write("stale.jsonl", STALE);
    let said = folder.run("check stale.jsonl");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'), "{}", said.out);
}

#[test]
fn a_history_that_is_none_is_unknown_with_its_lines() {
    let folder = Folder::new();
    let lines: Vec<&str> = STALE.lines().collect();
    for (name, kept, expected) in [
        ("overlap", [0, 0, 2, 3], "line 2 (index 0): "),
        ("orphan", [0, 1, 1, 3], "line 3 (index 1): "),
    ] {
        let text: Vec<&str> = kept.iter().map(|line| lines[*line]).collect();
        folder.write(name, text.join("\n") + "\n");
        let said = folder.run(&format!("check {name} --model register"));
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(expected), "{name}: {}", said.err);
        assert!(said.out.contains("unknown  linearizability: not checked"), "{}", said.out);
    }
    // Nobody knows when these began.
    folder.write("alone", [lines[1], lines[3], ""].join("\n"));
    let said = folder.run("check alone --model register");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.out.contains("the history has completions alone"), "{}", said.out);
}
