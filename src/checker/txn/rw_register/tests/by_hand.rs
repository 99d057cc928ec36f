//! The smallest histories of each anomaly, with names as Elle gives them.

use super::*;

fn kinds(text: &str, json: serde_json::Value) -> (&'static str, Vec<String>) {
    let finding = find(&history(text), &options(json));
    let mut kinds: Vec<String> =
        finding.anomalies.iter().map(|anomaly| anomaly.kind.clone()).collect();
    kinds.dedup();
    (finding.verdict.name(), kinds)
}

pub(super) fn check(text: &str, json: serde_json::Value, verdict: &str, expected: &[&str]) {
    let (found, kinds) = kinds(text, json.clone());
    assert_eq!(
        (found, &kinds[..]),
        (verdict, &expected.iter().map(|k| k.to_string()).collect::<Vec<_>>()[..]),
        "{json}: {text}"
    );
}

#[test]
fn reads_that_are_wrong_by_themselves() {
    let json = serde_json::json!({"anomalies": ["internal"]});
    check("0 ok rx1 rx2", json.clone(), "invalid", &["internal"]);
    check("0 ok wx2 rx1", json.clone(), "invalid", &["internal"]);
    check("0 ok ry2 wx2 rx2 wx1 rx1\n1 ok rx1", json, "valid", &[]);
    let json = serde_json::json!({"anomalies": ["G1"]});
    check("0 ok rx1\n0 fail wx1", json.clone(), "invalid", &["G1a"]);
    check("0 ok wx1 wx2\n0 ok rx1", json.clone(), "invalid", &["G1b"]);
    check("0 ok rx1 wx1", json.clone(), "invalid", &["future-read"]);
    check("0 ok rx1 wx2\n0 fail wx1", json, "invalid", &["G1a", "dirty-update"]);
}

#[test]
fn without_any_dependency_nothing_can_be_said() {
    let json = serde_json::json!({"anomalies": ["G0"]});
    check("0 ok wx1 wx2\n0 ok rx1", json.clone(), "unknown", &[]);
    check("0 ok wx1 wy2\n1 ok wx2 wy1", json.clone(), "unknown", &[]);
    check("", json, "unknown", &[]);
}

#[test]
fn a_circle_of_writes_shows_with_the_order_of_each_process() {
    let text = "0 invoke wx1 wy2\n0 ok wx1 wy2\n1 invoke wx2 wy1\n1 ok wx2 wy1\n\
                0 invoke rx_\n0 ok rx2\n1 invoke ry_\n1 ok ry2";
    let json = serde_json::json!({"anomalies": ["G0"], "sequential_keys": true});
    check(text, json, "invalid", &["G0"]);
}

#[test]
fn a_circle_of_reads_is_for_who_asks_about_it() {
    let text = "0 ok wx1 ry1\n1 ok wy1 rx1";
    for json in [
        serde_json::json!({"anomalies": ["G0"]}),
        serde_json::json!({"anomalies": ["G2"]}),
        serde_json::json!({"consistency_models": ["read-uncommitted"]}),
    ] {
        check(text, json, "valid", &[]);
    }
    for json in [
        serde_json::json!({"anomalies": ["G1"]}),
        serde_json::json!({"consistency_models": ["read-committed"]}),
    ] {
        check(text, json, "invalid", &["G1c"]);
    }
}

#[test]
fn the_initial_state_comes_before_every_value() {
    let text = "0 invoke rx_ ry_\n1 invoke wy1 wx2\n1 ok wy1 wx2\n0 ok rx_ ry1";
    let json = serde_json::json!({"consistency_models": ["serializable"]});
    check(text, json, "invalid", &["G-single-item"]);
}

#[test]
fn write_skew_is_found_with_linearizable_keys_and_not_by_read_committed() {
    let text = "0 invoke rx_ ry_\n0 ok rx1 ry1\n1 invoke rx_ wy2\n2 invoke ry_ wx2\n2 ok ry1 wx2\n\
                1 ok rx1 wy2";
    let json = serde_json::json!({"anomalies": ["G2"], "linearizable_keys": true});
    check(text, json, "invalid", &["G2-item"]);
    let json =
        serde_json::json!({"consistency_models": ["read-committed"], "linearizable_keys": true});
    check(text, json, "valid", &[]);
}

#[test]
fn writes_follow_reads_if_that_is_trusted() {
    let text = "0 ok ry1 wx1 wy2\n0 ok rx1 ry1";
    let json = serde_json::json!({"consistency_models": ["serializable"]});
    check(text, json, "valid", &[]);
    let json = serde_json::json!({"consistency_models": ["serializable"], "wfr_keys": true});
    check(text, json, "invalid", &["G-single-item"]);
}

#[test]
fn values_that_go_in_a_circle_are_told_with_their_reasons() {
    let text = "0 invoke wx1\n0 ok wx1\n0 invoke wx2\n0 ok wx2\n0 invoke rx_\n0 ok rx1";
    let finding = find(&history(text), &options(serde_json::json!({"sequential_keys": true})));
    assert_eq!(finding.verdict, Verdict::Invalid);
    let anomaly = &finding.anomalies[0];
    assert_eq!(anomaly.kind, "cyclic-versions");
    assert_eq!(
        anomaly.summary,
        "the values of x would have to follow each other in a circle: 1, 2 and 1 again (sequential-keys)"
    );
    assert!(
        anomaly
            .details
            .iter()
            .any(|line| { line == "x = 1 is before 2: process 0 met x = 1 and later 2" }),
        "{anomaly:#?}"
    );
}

#[test]
fn a_lost_update_is_told_with_its_transactions() {
    let text = "0 invoke rx_ wx1\n0 ok rx0 wx1\n1 invoke rx_ wx2\n1 ok rx0 wx2";
    let finding = find(&history(text), &ModelOptions::default());
    assert_eq!(finding.verdict, Verdict::Invalid);
    let lost = finding.anomalies.iter().find(|anomaly| anomaly.kind == "lost-update");
    let lost = lost.expect("a lost update");
    assert_eq!(lost.ops, [0, 2]);
    let violates = finding.consistency.expect("models").violates;
    assert!(violates.contains(&"cursor-stability".to_owned()));
}

#[test]
fn values_written_twice_leave_the_verdict_open() {
    let text = "0 invoke wx1\n0 ok wx1\n1 invoke wx1\n1 ok wx1\n0 invoke rx_ wy1\n0 ok rx1 wy1\n1 invoke ry_\n1 ok ry1";
    let finding = find(&history(text), &options(serde_json::json!({"linearizable_keys": true})));
    assert_eq!(finding.verdict, Verdict::Unknown);
    assert!(finding.why.contains("x = 1"), "{}", finding.why);
}

#[test]
fn what_is_no_transaction_and_what_is_no_order_is_refused_with_the_reason() {
    let mut bad = history("0 ok wx1").events().to_vec();
    bad[0].value = crate::op::Value::Int(7);
    let finding = find(&History::new(bad), &ModelOptions::default());
    assert_eq!(finding.verdict, Verdict::Unknown);
    let error = RwRegister::new(&options(serde_json::json!({"transaction_order": "0 2, one"})));
    let error = error.expect_err("no order");
    assert!(error.contains("`one`: expected pairs of an event's index"), "{error}");
}

#[test]
fn a_stated_order_of_transactions_gives_the_order_of_their_writes() {
    let text = "0 ok rx_ wy2\n0 ok wx3 wy4";
    let json = serde_json::json!({"consistency_models": ["serializable"], "transaction_order": "0 2, 1 1"});
    check(text, json, "invalid", &["G-single-item"]);
}

#[test]
fn a_fractured_read_is_explained_edge_by_edge() {
    let text = "0 ok wx1 wy1\n1 ok ry1 rx_";
    let finding =
        find(&history(text), &options(serde_json::json!({"consistency_models": ["causal"]})));
    let anomaly = &finding.anomalies[0];
    assert_eq!(anomaly.kind, "non-monotonic-read");
    assert_eq!(
        anomaly.details,
        [
            "T1 = process 0's {w x 1, w y 1}, ok at index 0",
            "T2 = process 1's {r y 1, r x nil}, ok at 0.001 s (index 1)",
            "T1 is before the initial state: T2 had read y = 1 from T1, and T1 wrote x too, yet T2 read x = nil from the initial state",
            "the initial state is before T1: the initial state is before everything: a contradiction",
        ]
    );
}

#[test]
fn a_budget_that_ends_leaves_the_verdict_open() {
    let lines: Vec<String> = (1..200).map(|value| format!("0 ok wx{value}")).collect();
    let history = history(&lines.join("\n"));
    for json in [
        serde_json::json!({"consistency_models": ["serializable"], "init": 0}),
        serde_json::json!({"consistency_models": ["causal"]}),
    ] {
        let mut checker = RwRegister::new(&options(json.clone())).expect("options");
        history.events().iter().for_each(|event| drop(checker.observe(event)));
        let spent = Budget { exhausted: &|| true, ..Budget::UNBOUNDED };
        assert_eq!(checker.judge(&spent).verdict, Verdict::Unknown, "{json}");
        let small = Budget { memory: 1 << 10, ..Budget::UNBOUNDED };
        let finding = checker.judge(&small);
        assert_eq!(finding.verdict, Verdict::Unknown, "{json}");
        assert!(finding.why.contains("memory"), "{}", finding.why);
    }
}

#[test]
fn what_an_indeterminate_transaction_read_is_not_known() {
    // It took effect, for its write was seen; that it read nothing is only what it was asked with.
    let text = "0 invoke rx_ wy1\n0 info rx_ wy1\n1 ok wx1 ry_\n2 ok ry1";
    check(text, serde_json::json!({"consistency_models": ["serializable"]}), "valid", &[]);
    let known = text.replace("0 info", "0 ok");
    let json = serde_json::json!({"consistency_models": ["serializable"]});
    check(&known, json, "invalid", &["G2-item"]);
}

#[test]
fn zero_is_what_a_key_held_at_first_only_if_nobody_wrote_it_or_read_nil() {
    let skew = "0 ok rx0 wy1\n1 ok ry0 wx1";
    let json = serde_json::json!({"consistency_models": ["serializable"]});
    check(skew, json.clone(), "invalid", &["G2-item"]);
    // Where nil was read, a 0 comes from elsewhere.
    check(&format!("{skew}\n2 ok rx_ ry_"), json, "valid", &[]);
    // A 0 that somebody wrote may come after something else.
    let late = "0 invoke wx1\n0 ok wx1\n1 invoke wx0\n1 ok wx0\n2 invoke rx_\n2 ok rx0";
    check(late, serde_json::json!({}), "valid", &[]);
    let nil = "0 invoke wx1\n0 ok wx1\n1 invoke wx_\n1 ok wx_\n2 invoke rx_\n2 ok rx_";
    check(nil, serde_json::json!({}), "valid", &[]);
}

#[test]
fn what_a_key_is_said_to_hold_at_first_comes_before_all_that_was_written() {
    let skew = "0 ok rx5 wy1\n1 ok ry5 wx1";
    let json = serde_json::json!({"consistency_models": ["serializable"], "init": 5});
    check(skew, json, "invalid", &["G2-item"]);
}

#[test]
fn who_read_what_it_replaced_depends_on_it_by_that() {
    let text = "0 ok wx1 ry1 wy2\n1 ok wy1 rx1 wx2";
    let json = serde_json::json!({"consistency_models": ["serializable"], "wfr_keys": true});
    check(text, json, "invalid", &["G1c"]);
}

#[test]
fn a_dirty_update_writes_the_key_that_it_read() {
    let json = serde_json::json!({"anomalies": ["G1"]});
    check("0 ok rx1 wx2\n0 fail wx1", json.clone(), "invalid", &["G1a", "dirty-update"]);
    check("0 ok rx1 wy2\n0 fail wx1", json, "invalid", &["G1a"]);
}

#[test]
fn versions_in_a_circle_leave_the_orders_of_other_keys() {
    let circle = "0 ok rx1 wx2\n1 ok rx2 wx1";
    let skew = "2 ok ry_ wz1\n3 ok rz_ wy1";
    let json = serde_json::json!({"consistency_models": ["serializable"], "wfr_keys": true});
    let (_, kinds) = kinds(&format!("{circle}\n{skew}"), json);
    for kind in ["cyclic-versions", "G2-item"] {
        assert!(kinds.iter().any(|found| found == kind), "{kind} is not among {kinds:?}");
    }
}
