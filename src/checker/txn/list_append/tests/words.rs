//! What a person is told.

use expect_test::{Expect, expect};

use super::{asking, judge, spelled};
use crate::checker::txn::list_append::ListAppend;
use crate::checker::{Budget, Checker, ModelOptions, Verdict};
use crate::history::History;

fn check(history: &str, expected: Expect) {
    let finding = judge(&spelled::history(history), &asking(&[], &[]));
    let mut text = format!("{}: {}\n", finding.verdict.name(), finding.why);
    for anomaly in &finding.anomalies {
        text += &format!("{} {:?}: {}\n", anomaly.kind, anomaly.ops, anomaly.summary);
        anomaly.details.iter().for_each(|line| text += &format!("  {line}\n"));
    }
    expected.assert_eq(&text);
}

#[test]
fn a_good_history() {
    check(
        "0 pair ax1 ry\n 1 pair rx1 ay2\n 0 pair ry2",
        expect![[r#"
        valid: 3 transactions, 3 of them ok, on 2 keys: strict-serializable
    "#]],
    );
}

#[test]
fn a_stale_read() {
    check(
        "0 pair ax1\n 1 pair ax2\n 2 pair rx1\n 3 pair rx12",
        expect![[r#"
        invalid: 4 transactions, 4 of them ok, on 1 key: not strict-serializable: 1 G-single-item-realtime
        G-single-item-realtime [2, 4]: process 1 (0.002 s) completed at 0.003 s, before process 2 (0.004 s) was invoked at 0.004 s, but process 2 (0.004 s) read [1] of key x, which lacks 2 that process 1 (0.002 s) had appended and completed 1 ms earlier
          T1 = process 1's {append x 2}, invoked at 0.002 s (index 2), ok at 0.003 s (index 3)
          T2 = process 2's {r x [1]}, invoked at 0.004 s (index 4), ok at 0.005 s (index 5)
          T1 before T2: T1 completed at 0.003 s, before T2 was invoked at 0.004 s
          but T2 before T1: T2 read [1] of key x, which lacks 2 that T1 had appended and completed 1 ms earlier: a contradiction
    "#]],
    );
}

#[test]
fn a_write_skew_by_way_of_a_third() {
    check(
        "0 invoke ax1 ry\n 1 invoke ay1 rz\n 2 invoke az1 rx\n 0 ok ax1 ry\n 1 ok ay1 rz\n 2 ok az1 rx",
        expect![[r#"
        invalid: 3 transactions, 3 of them ok, on 3 keys: not strict-serializable: 1 G2-item
        G2-item [0, 1, 2]: process 2 (0.002 s) read [] of key x, which lacks 1 that process 0 (0.000 s) appended; but process 0 (0.000 s) comes before process 2 (0.002 s) by way of one more transaction
          T1 = process 0's {append x 1, r y []}, invoked at 0.000 s (index 0), ok at 0.003 s (index 3)
          T2 = process 1's {append y 1, r z []}, invoked at 0.001 s (index 1), ok at 0.004 s (index 4)
          T3 = process 2's {append z 1, r x []}, invoked at 0.002 s (index 2), ok at 0.005 s (index 5)
          T1 before T2: T1 read [] of key y, which lacks 1 that T2 appended
          T2 before T3: T2 read [] of key z, which lacks 1 that T3 appended
          but T3 before T1: T3 read [] of key x, which lacks 1 that T1 appended: a contradiction
    "#]],
    );
}

#[test]
fn anomalies_of_single_reads() {
    check(
        "0 fail ax1\n 1 pair ax2 ax3\n 2 pair rx12\n 3 pair rx3\n 4 pair rx122\n 5 pair rx1239",
        expect![[r#"
        invalid: 6 transactions, 5 of them ok, on 1 key: not strict-serializable: 3 G1a, 2 G1b, 1 duplicate-elements, 1 garbage-read, 2 incompatible-order, 1 dirty-update, 2 G-single-item
        G1a [0, 3]: a transaction read 1 of key x, whose transaction had failed: process 0's {append x 1}, failed at index 0; the reader: process 2's {r x [1 2]}, invoked at 0.003 s (index 3), ok at 0.004 s (index 4)
        G1b [1, 3]: a transaction read 2 of key x as the last element, though the transaction that appended it appended more: process 1's {append x 2, append x 3}, invoked at 0.001 s (index 1), ok at 0.002 s (index 2); the reader: process 2's {r x [1 2]}, invoked at 0.003 s (index 3), ok at 0.004 s (index 4)
        G1a [0, 7]: a transaction read 1 of key x, whose transaction had failed: process 0's {append x 1}, failed at index 0; the reader: process 4's {r x [1 2 2]}, invoked at 0.007 s (index 7), ok at 0.008 s (index 8)
        duplicate-elements [1, 7]: a transaction read 2 of key x twice; the reader: process 4's {r x [1 2 2]}, invoked at 0.007 s (index 7), ok at 0.008 s (index 8)
        G1b [1, 7]: a transaction read 2 of key x as the last element, though the transaction that appended it appended more: process 1's {append x 2, append x 3}, invoked at 0.001 s (index 1), ok at 0.002 s (index 2); the reader: process 4's {r x [1 2 2]}, invoked at 0.007 s (index 7), ok at 0.008 s (index 8)
        G1a [0, 9]: a transaction read 1 of key x, whose transaction had failed: process 0's {append x 1}, failed at index 0; the reader: process 5's {r x [1 2 3 9]}, invoked at 0.009 s (index 9), ok at 0.010 s (index 10)
        garbage-read [9]: a transaction read 9 of key x, which nobody appended; the reader: process 5's {r x [1 2 3 9]}, invoked at 0.009 s (index 9), ok at 0.010 s (index 10)
        incompatible-order [5]: reads of key x disagree at position 0: one begins [3], the longest begins [1 2]; the reader: process 3's {r x [3]}, invoked at 0.005 s (index 5), ok at 0.006 s (index 6)
        incompatible-order [7]: reads of key x disagree at position 2: one begins [1 2 2], the longest begins [1 2 3 9]; the reader: process 4's {r x [1 2 2]}, invoked at 0.007 s (index 7), ok at 0.008 s (index 8)
        dirty-update [0, 1]: a committed transaction appended to key x after one that had failed: process 1's {append x 2, append x 3}, invoked at 0.001 s (index 1), ok at 0.002 s (index 2); the one that failed: process 0's {append x 1}, failed at index 0
        G-single-item [1, 3]: process 2 (0.003 s) read [1 2] of key x, which ends with 2 that process 1 (0.001 s) had appended, but process 2 (0.003 s) read [1 2] of key x, which lacks 3 that process 1 (0.001 s) had appended and completed 1 ms earlier
          T1 = process 1's {append x 2, append x 3}, invoked at 0.001 s (index 1), ok at 0.002 s (index 2)
          T2 = process 2's {r x [1 2]}, invoked at 0.003 s (index 3), ok at 0.004 s (index 4)
          T1 before T2: T2 read [1 2] of key x, which ends with 2 that T1 had appended
          but T2 before T1: T2 read [1 2] of key x, which lacks 3 that T1 had appended and completed 1 ms earlier: a contradiction
        G-single-item [1, 7]: process 4 (0.007 s) read [1 2 2] of key x, which ends with 2 that process 1 (0.001 s) had appended, but process 4 (0.007 s) read [1 2 2] of key x, which lacks 3 that process 1 (0.001 s) had appended and completed 5 ms earlier
          T1 = process 1's {append x 2, append x 3}, invoked at 0.001 s (index 1), ok at 0.002 s (index 2)
          T2 = process 4's {r x [1 2 2]}, invoked at 0.007 s (index 7), ok at 0.008 s (index 8)
          T1 before T2: T2 read [1 2 2] of key x, which ends with 2 that T1 had appended
          but T2 before T1: T2 read [1 2 2] of key x, which lacks 3 that T1 had appended and completed 5 ms earlier: a contradiction
    "#]],
    );
}

#[test]
fn transactions_that_contradict_themselves() {
    check(
        "0 pair ax1 rx\n 1 pair ry1 ay1\n 2 pair rz az1\n 3 pair rz az2",
        expect![[r#"
        invalid: 4 transactions, 4 of them ok, on 3 keys: not strict-serializable: 1 internal, 1 future-read, 1 lost-update, 1 G2-item, 1 G-single-item-realtime
        internal [0]: a transaction read [] of key x, which is not what it had read and appended before: process 0's {append x 1, r x []}, invoked at 0.000 s (index 0), ok at 0.001 s (index 1)
        future-read [2]: a transaction read 1 of key y before it appended it: process 1's {r y [1], append y 1}, invoked at 0.002 s (index 2), ok at 0.003 s (index 3)
        lost-update [4, 6]: 2 committed transactions read [] of key z and then appended to it
          process 2's {r z [], append z 1}, invoked at 0.004 s (index 4), ok at 0.005 s (index 5)
          process 3's {r z [], append z 2}, invoked at 0.006 s (index 6), ok at 0.007 s (index 7)
        G2-item [4, 6]: process 2 (0.004 s) read [] of key z, which lacks 2 that process 3 (0.006 s) appended, but process 3 (0.006 s) read [] of key z, which lacks 1 that process 2 (0.004 s) had appended and completed 1 ms earlier
          T1 = process 2's {r z [], append z 1}, invoked at 0.004 s (index 4), ok at 0.005 s (index 5)
          T2 = process 3's {r z [], append z 2}, invoked at 0.006 s (index 6), ok at 0.007 s (index 7)
          T1 before T2: T1 read [] of key z, which lacks 2 that T2 appended
          but T2 before T1: T2 read [] of key z, which lacks 1 that T1 had appended and completed 1 ms earlier: a contradiction
        G-single-item-realtime [4, 6]: process 2 (0.004 s) completed at 0.005 s, before process 3 (0.006 s) was invoked at 0.006 s, but process 3 (0.006 s) read [] of key z, which lacks 1 that process 2 (0.004 s) had appended and completed 1 ms earlier
          T1 = process 2's {r z [], append z 1}, invoked at 0.004 s (index 4), ok at 0.005 s (index 5)
          T2 = process 3's {r z [], append z 2}, invoked at 0.006 s (index 6), ok at 0.007 s (index 7)
          T1 before T2: T1 completed at 0.005 s, before T2 was invoked at 0.006 s
          but T2 before T1: T2 read [] of key z, which lacks 1 that T1 had appended and completed 1 ms earlier: a contradiction
    "#]],
    );
}

#[test]
fn nothing_to_judge() {
    check(
        "0 invoke ax1",
        expect![[r#"
            unknown: 1 transaction, 0 of them ok, on 1 key: no transaction was ok, so that nothing can be said
        "#]],
    );
    check(
        "0 pair rx",
        expect![[r#"
            unknown: 1 transaction, 1 of them ok, on 1 key: empty-transaction-graph: no transaction depends on another, so that nothing can be said
        "#]],
    );
    check(
        "0 info\n 1 ok rx1 ay1\n 2 ok ry1",
        expect![[r#"
        unknown: 3 transactions, 2 of them ok, on 2 keys: elements were read that nobody appended, unless the indeterminate transaction at index 0 did, of which is not told what it was to do
    "#]],
    );
    check(
        "0 pair ax1\n 1 pair ax1",
        expect![[r#"
        unknown: 1 was appended to key x more than once, so that reads do not tell whose it is; appended values must differ
    "#]],
    );
}

#[test]
fn a_budget_that_has_ended_is_said() {
    let mut checker = ListAppend::new(&ModelOptions::default()).expect("options");
    for event in spelled::history("0 pair ax1 ry\n 1 pair ay1 rx") {
        checker.observe(&event);
    }
    let out_of_time = Budget { exhausted: &|| true, ..Budget::UNBOUNDED };
    let finding = checker.finish(&History::default(), &out_of_time);
    assert_eq!(finding.verdict, Verdict::Unknown);
    assert!(finding.why.contains("the time ended before"), "{}", finding.why);
    let out_of_memory = Budget { memory: 10, ..Budget::UNBOUNDED };
    let finding = checker.finish(&History::default(), &out_of_memory);
    assert_eq!(finding.verdict, Verdict::Unknown);
    assert!(finding.why.contains("do not fit"), "{}", finding.why);
}

#[test]
fn a_bad_history_of_any_size_is_told_in_bounds() {
    let mut text = String::new();
    for key in ["x", "y", "z"] {
        for _ in 0..200 {
            text += &format!("0 pair r{key}12\n 1 pair r{key}21\n");
        }
        text += &format!("0 pair a{key}1 a{key}2\n");
    }
    let finding = judge(&spelled::history(&text), &asking(&[], &[]));
    let size = |anomaly: &crate::checker::Anomaly| {
        anomaly.summary.len() + anomaly.details.iter().map(String::len).sum::<usize>()
    };
    assert!(finding.anomalies.len() < 100, "{}", finding.anomalies.len());
    assert!(finding.anomalies.iter().all(|anomaly| size(anomaly) < 10_000));
}
