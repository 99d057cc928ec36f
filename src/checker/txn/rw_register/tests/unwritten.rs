//! Reads of what nobody wrote: what may have been there at first, and what cannot.

use super::*;

fn kinds(text: &str, json: serde_json::Value) -> Vec<String> {
    let finding = find(&history(text), &options(json));
    let mut kinds: Vec<String> = finding.anomalies.into_iter().map(|told| told.kind).collect();
    kinds.dedup();
    kinds
}

fn check(text: &str, json: serde_json::Value, expected: &[&str]) {
    assert_eq!(kinds(text, json.clone()), expected, "{text} {json}");
}

const WRITTEN_THEN_READ: &str =
    "0 invoke wx1\n0 ok wx1\n1 invoke rx_\n1 ok rx2\n0 invoke rx_\n0 ok rx1";

#[test]
fn where_it_is_said_what_was_there_at_first_nothing_else_was() {
    for models in [["strict-serializable"], ["serializable"], ["read-committed"]] {
        for init in [serde_json::Value::Null, serde_json::json!(0), serde_json::json!("a")] {
            let json = serde_json::json!({"consistency_models": models, "init": init});
            check(WRITTEN_THEN_READ, json, &["garbage-read"]);
        }
        let json = serde_json::json!({"consistency_models": models, "init": 2});
        assert!(!kinds(WRITTEN_THEN_READ, json).contains(&"garbage-read".to_owned()));
    }
    let first = "0 invoke rx_\n0 ok rx5\n1 invoke wx1\n1 ok wx1";
    check(first, serde_json::json!({"init": 5}), &[]);
    check(first, serde_json::json!({"init": null}), &["garbage-read"]);
    check(&first.replace("rx5", "rx_"), serde_json::json!({"init": null}), &[]);
    check(&first.replace("rx5", "rx_"), serde_json::json!({"init": 0}), &["garbage-read"]);
}

#[test]
fn a_first_value_read_too_late_counts_if_it_is_asked_for_and_is_told_if_not() {
    let asked = |kind: &str| serde_json::json!({"anomalies": [kind]});
    check(WRITTEN_THEN_READ, asked("garbage-read-realtime"), &["garbage-read-realtime"]);
    let own = "0 invoke wx1\n0 ok wx1\n0 invoke rx_\n0 ok rx2";
    check(own, asked("garbage-read-process"), &["garbage-read-process"]);
    check(own, asked("G0"), &[]);
    let trusted = serde_json::json!({
        "consistency_models": ["strict-serializable"], "linearizable_keys": true,
    });
    let finding = find(&history(own), &options(trusted));
    assert_eq!(finding.verdict, Verdict::Valid, "{}", finding.why);
    assert!(finding.why.contains("1 garbage-read-process"), "{}", finding.why);
}

#[test]
fn several_values_that_nobody_wrote_may_come_from_before_an_excerpt() {
    let excerpt = "0 invoke rx_\n0 ok rx5\n1 invoke rx_\n1 ok rx6\n1 invoke wx1\n1 ok wx1\n0 invoke rx_\n0 ok rx1";
    let finding = find(&history(excerpt), &options(serde_json::json!({"linearizable_keys": true})));
    assert_eq!(finding.verdict, Verdict::Valid, "{}", finding.why);
    assert!(finding.why.contains("not asked about: 1 unwritten-read"), "{}", finding.why);
    check(excerpt, serde_json::json!({"anomalies": ["unwritten-read"]}), &["unwritten-read"]);
    check(excerpt, serde_json::json!({"init": 5}), &["garbage-read"]);
}

#[test]
fn a_first_value_may_be_read_beside_a_write_and_before_it() {
    let beside = "1 invoke rx_\n0 invoke wx1\n0 ok wx1\n1 ok rx2\n0 invoke rx_\n0 ok rx1";
    check(beside, serde_json::json!({}), &[]);
    let open = "0 invoke wx1\n1 invoke rx_\n1 ok rx2\n0 info wx1";
    check(open, serde_json::json!({}), &[]);
    let failed = "0 invoke wx1\n0 fail wx1\n1 invoke rx_\n1 ok rx2";
    check(failed, serde_json::json!({}), &[]);
    let replaced = "0 invoke rx_ wx1\n0 ok rx2 wx1\n1 invoke ry_\n1 ok ry2\n1 invoke rx_\n1 ok rx1";
    check(replaced, serde_json::json!({}), &[]);
    let other_key = "0 invoke wx1\n0 ok wx1\n1 invoke ry_\n1 ok ry2\n1 invoke rx_\n1 ok rx1";
    check(other_key, serde_json::json!({}), &[]);
}

#[test]
fn where_a_transaction_may_have_written_anything_it_is_a_doubt() {
    let text = "0 ok wx1\n1 ok rx2\n2 info wx9";
    let mut events = history(text).events().to_vec();
    events[2].value = crate::op::Value::Nil;
    let finding = find(&History::new(events), &options(serde_json::json!({"init": null})));
    assert_eq!(finding.verdict, Verdict::Unknown, "{}", finding.why);
    assert!(finding.why.contains("the transaction at index 2"), "{}", finding.why);
}
