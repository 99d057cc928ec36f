//! Stale reads that are proven by what is asked, without trust in keys and without trying orders.

use super::*;

fn strict(text: &str) -> Finding {
    find(&history(text), &options(serde_json::json!({})))
}

fn kinds(finding: &Finding) -> Vec<&str> {
    finding.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect()
}

const STALE: &str = "
    0 invoke wx1\n0 ok wx1
    1 invoke wx2\n1 ok wx2
    2 invoke rx_\n2 ok rx1";

#[test]
fn a_stale_read_is_told_by_real_time_and_two_transactions() {
    let finding = strict(STALE);
    assert_eq!(kinds(&finding), ["G-single-item-realtime"], "{finding:#?}");
    let told = finding.anomalies[0].details.join("\n");
    for text in [
        "T1 before T2: T1 completed at 0.003 s, before T2 was invoked at 0.004 s",
        "but T2 before T1: T2 read x = 1, and T1 wrote 2 there, which came later, for process 0 wrote \
         x = 1 and was done at 0.001 s, before process 1 began at 0.002 s to write 2",
    ] {
        assert!(told.contains(text), "{told}");
    }
    let cycle = finding.anomalies[0].cycle.as_deref().expect("it can be drawn");
    assert_eq!((cycle.txns.len(), cycle.left_out), (2, 0));
}

#[test]
fn who_read_a_value_in_time_shows_that_it_was_there() {
    // The write of 1 is not over when that of 2 begins, but somebody has read it by then.
    let finding = strict(
        "0 invoke wx1\n3 invoke rx_\n3 ok rx1\n1 invoke wx2\n1 ok wx2\n0 ok wx1\n2 invoke rx_\n2 ok rx1",
    );
    assert_eq!(kinds(&finding), ["G-single-item-realtime"], "{finding:#?}");
    assert!(finding.anomalies[0].summary.contains("process 3 read x = 1 and was done at 0.002 s"));
}

#[test]
fn in_sessions_a_process_is_enough_and_without_any_order_nothing_is_wrong() {
    let session =
        options(serde_json::json!({"consistency_models": ["strong-session-serializable"]}));
    let text = "0 invoke wx1\n0 ok wx1\n0 invoke wx2\n0 ok wx2\n0 invoke rx_\n0 ok rx1";
    let finding = find(&history(text), &session);
    assert_eq!(kinds(&finding), ["G-single-item-process"], "{finding:#?}");
    assert!(finding.anomalies[0].summary.contains("process 0 had met x = 1 before it wrote 2"));
    assert_eq!(find(&history(STALE), &session).verdict, Verdict::Valid);
    let serial = options(serde_json::json!({"consistency_models": ["serializable"]}));
    assert_eq!(find(&history(text), &serial).verdict, Verdict::Valid);
}

#[test]
fn what_one_read_and_replaced_another_must_not_read_with_later_things() {
    // 1 replaced x = 1 by 2; 2 saw y = 1 of the same transaction, and x = 1 still.
    let text = "0 ok wx1\n1 ok rx1 wx2 wy1\n2 ok ry1 rx1";
    let serial = options(serde_json::json!({"consistency_models": ["serializable"]}));
    let finding = find(&history(text), &serial);
    assert_eq!(kinds(&finding), ["G-single-item"], "{finding:#?}");
    assert!(finding.anomalies[0].summary.contains("process 1 had read x = 1 when it wrote 2"));
}

#[test]
fn a_value_of_unknown_origin_or_of_several_writers_proves_nothing() {
    let serial = options(serde_json::json!({"consistency_models": ["serializable"]}));
    let unknown = find(&history("1 ok rx7 wx2 wy1\n2 ok ry1 rx7"), &serial);
    assert_ne!(unknown.verdict, Verdict::Invalid, "{unknown:#?}");
    let twice = "0 invoke wx1\n0 ok wx1\n1 invoke wx2\n1 ok wx2\n3 invoke wx1\n3 ok wx1\n2 invoke rx_\n2 ok rx1";
    assert_ne!(strict(twice).verdict, Verdict::Invalid);
}

#[test]
fn what_is_told_of_long_keys_and_values_is_short() {
    let (key, value) = ("k".repeat(200_000), "v".repeat(200_000));
    let text = |kind: &str, process: u32, op: &str, value: &str| {
        format!(
            r#"{{"type":"{kind}","process":{process},"f":"txn","value":[["{op}","{key}",{value}]]}}"#
        )
    };
    let (one, two) = (format!(r#""1{value}""#), format!(r#""2{value}""#));
    let steps = [(0, "w", &one), (1, "w", &two), (2, "r", &one)];
    let lines = steps.iter().flat_map(|(process, op, value)| {
        ["invoke", "ok"].map(|kind| text(kind, *process, op, value))
    });
    let events = lines
        .zip(0..)
        .map(|(line, index)| crate::history::parse_line(&line, index).expect("a line"));
    let history = History::new(events.collect());
    for json in [serde_json::json!({}), serde_json::json!({"linearizable_keys": true})] {
        let finding = find(&history, &options(json));
        assert_eq!(finding.verdict, Verdict::Invalid);
        assert!(serde_json::to_string(&finding).expect("JSON").len() < 10_000);
    }
}
