//! Histories of other tools: sessions without time, and indices that are no order.

use super::STALE;
use crate::binary::Folder;

/// Two sessions that read from each other in a circle, each in its own order.
const SESSIONS: &str = "r 1 1\n-----\nw 0 1\n=====\nr 0 1\n-----\nw 1 1\n";

#[test]
fn where_sessions_are_the_only_order_they_count() {
    let folder = Folder::new();
    folder.write("sessions.txt", SESSIONS);
    let plain = folder.run("check sessions.txt --model rw-register");
    assert_eq!((plain.code, plain.err.as_str()), (Some(1), ""), "{plain:?}");
    assert!(plain.out.contains("not strong-session-serializable"), "{}", plain.out);
    for (model, meant) in [
        ("serializable", "serializable as strong-session-serializable"),
        ("snapshot-isolation", "snapshot-isolation as strong-session-snapshot-isolation"),
    ] {
        let said =
            folder.run(&format!("check sessions.txt --model rw-register --consistency {model}"));
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(meant), "{}", said.err);
    }
    let weak = folder.run("check sessions.txt --model rw-register --consistency read-committed");
    assert_eq!((weak.code, weak.err.as_str()), (Some(1), ""), "{weak:?}");
    assert!(weak.out.contains("session-cycle"), "{}", weak.out);
    let strict =
        folder.run("check sessions.txt --model rw-register --consistency strict-serializable");
    assert_eq!(strict.code, Some(64), "{strict:?}");
}

#[test]
fn events_whose_indices_do_not_grow_are_numbered_by_their_lines() {
    let folder = Folder::new();
    folder.write("again.jsonl", STALE.replace("\"index\":2", "\"index\":0"));
    let said = folder.run("check again.jsonl --json");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("event 3 has index 0"), "{}", said.err);
    assert!(said.err.contains("in the order of their lines"), "{}", said.err);
    let whole: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(whole["findings"][1]["anomalies"][0]["ops"], serde_json::json!([0, 2]));
}

#[test]
fn what_is_legal_in_a_foreign_history_is_no_hint() {
    let folder = Folder::new();
    let late = STALE.replace("\"type\":\"ok\",\"process\":0", "\"type\":\"info\",\"process\":0");
    let lines = r#"{"index":9,"time":5000000,"type":"invoke","process":0,"f":"read","value":null}
{"index":10,"time":6000000,"type":"ok","process":0,"f":"write","value":7}
"#;
    folder.write("info.jsonl", late + lines);
    let said = folder.run("check info.jsonl --model register");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(!said.err.contains("retired"), "{}", said.err);
    assert!(said.err.contains("completes with f write what line 5 invoked"), "{}", said.err);
    folder.write("from-one.edn", "{:index 1, :type :invoke, :f :read, :value nil, :process 0}\n{:index 2, :type :ok, :f :write, :value 1, :process 1}\n");
    let said = folder.run("check from-one.edn --model register");
    assert!(!said.err.contains("expected index 0"), "{}", said.err);
}

/// As elle-cli has it: no event says whose it is.
const NOBODYS: &str = "{:index 1, :type :invoke :f :read  :value nil}
{:index 2, :type :invoke :f :write :value 425}
{:index 3, :type :ok     :f :write :value 425}
{:index 4, :type :invoke :f :write :value 430}
{:index 5, :type :ok     :f :write :value 430}
{:index 6, :type :ok     :f :read  :value #{2 10 430}}
";

#[test]
fn where_events_have_no_process_a_completion_goes_to_what_it_can_only_be_of() {
    let folder = Folder::new();
    folder.write("nobody.edn", NOBODYS);
    let said = folder.run("check nobody.edn --model comments");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("against comments"), "{}", said.out);
    assert!(said.err.contains("its events have no process"), "{}", said.err);
    let two = "{:index 0, :type :invoke :f :read :value nil}\n";
    folder.write("two.edn", format!("{two}{NOBODYS}"));
    let said = folder.run("check two.edn --model comments");
    assert_eq!(said.code, Some(2), "{said:?}");
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "event 6: 2 operations `read` are open, and nothing tells which of them the `ok \
                    read` completes; expected `process` in every event";
    assert!(told.contains(expected), "{told}");
    assert!(!told.contains("process 0") && !said.err.contains("process 0"), "{said:?}");
}

/// Two transactions of one process that were under way together and each saw the other's write.
const OVERLAPPING: &str = r#"{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:r :y nil]]}
{:process 0, :type :invoke, :f :txn, :value [[:append :y 1] [:r :x nil]]}
{:process 0, :type :ok, :f :txn, :value [[:append :y 1] [:r :x [1]]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:r :y [1]]]}
"#;

#[test]
fn of_a_process_that_overlaps_itself_results_alone_may_show_what_is_wrong() {
    let folder = Folder::new();
    folder.write("wrong.edn", OVERLAPPING);
    let wrong = folder.run("check wrong.edn --consistency serializable");
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.out.contains("G1c"), "{}", wrong.out);
    assert!(wrong.err.contains("follows from their results alone"), "{}", wrong.err);
    for (name, rest) in [
        ("right.edn", OVERLAPPING.replace("[:r :x [1]]", "[:r :x []]")),
        ("open.edn", format!("{OVERLAPPING}{}", OVERLAPPING.lines().next().expect("a line"))),
    ] {
        folder.write(name, rest);
        let said = folder.run(&format!("check {name} --consistency serializable"));
        assert_eq!(said.code, Some(2), "{name}: {said:?}");
    }
}

#[test]
fn processes_may_have_names() {
    let folder = Folder::new();
    let named = STALE.replace("\"process\":0", "\"process\":\"w0\"");
    let named = named.replace("\"process\":1", "\"process\":\"client-1\"");
    folder.write("named.jsonl", &named);
    let said = folder.run("check named.jsonl --model register");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("told as numbers: 0 = w0, 1 = client-1"), "{}", said.err);
    folder.write("mixed.jsonl", named.replacen("\"w0\"", "0", 1));
    let mixed = folder.run("check mixed.jsonl --model register");
    assert_eq!(mixed.code, Some(64), "{mixed:?}");
    assert!(mixed.err.contains("expected a number, as other processes here have"), "{}", mixed.err);
}
