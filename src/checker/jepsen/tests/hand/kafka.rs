//! Kafka's logs: the examples of Jepsen's own tests, and each anomaly by its name.

use expect_test::{Expect, expect};

use super::super::*;
use crate::checker::jepsen::KAFKA;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&told(&judge(&KAFKA, text)));
}

/// The kinds that were found, in the order of their names.
fn kinds(text: &str) -> Vec<String> {
    let mut kinds: Vec<String> =
        judge(&KAFKA, text).anomalies.into_iter().map(|anomaly| anomaly.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

const SENT: &str = r#"
    1 0 invoke send [["send","x","a"],["send","x","b"],["send","x","c"]]
    2 0 ok send [["send","x",[0,"a"]],["send","x",[1,"b"]],["send","x",[3,"c"]]]"#;

#[test]
fn what_was_sent_and_polled_in_order_is_valid() {
    let polls = r#"
        3 1 invoke poll [["poll"]]
        4 1 ok poll [["poll",{"x":[[0,"a"],[1,"b"]]}]]
        5 1 ok poll [["poll",{"x":[[3,"c"]]}],["poll",{}]]"#;
    check(
        &format!("{SENT}{polls}"),
        expect![[
            r#"valid: sent 3, polled 3, worst-realtime-lag-ms 1000; the poll that process 1 began at 3.000 s was 1000.000 ms behind in key "x""#
        ]],
    );
}

#[test]
fn a_log_told_in_two_ways_is_inconsistent_if_both_surely_took_effect() {
    let sends = r#"
        1 0 invoke send [["send","x",1],["send","y",1]]
        2 0 info send [["send","x",[0,1]],["send","y",1]]
        3 1 invoke send [["send","x",2]]
        4 1 ok send [["send","x",[0,2]]]"#;
    assert_eq!(kinds(sends), ["unseen"]);
    let polled = format!("{sends}\n5 2 ok poll [[\"poll\",{{\"y\":[[5,1]]}}]]");
    check(
        &polled,
        expect![[r#"
        invalid: 1 inconsistent-offsets, 1 unseen of sent 1, polled 1
        inconsistent-offsets []: offset 0 of key "x" has several messages: 1 2
        unseen [2]: message 2 of key "x", sent by process 1 at 4.000 s, was never polled"#]],
    );
}

#[test]
fn a_message_whose_send_failed_is_not_polled() {
    let text = r#"
        1 0 invoke send [["send","x",2],["send","y",3]]
        2 0 fail send [["send","x",2],["send","y",3]]
        3 1 ok poll [["poll",{"x":[[0,2]]}]]"#;
    check(
        text,
        expect![[r#"
        invalid: 1 G1a of sent 0, polled 1
        G1a [0, 2]: message 2 of key "x" was polled by process 1 at 3.000 s, and its send failed (process 0 at 2.000 s)"#]],
    );
}

#[test]
fn a_transaction_does_not_poll_what_it_sends() {
    let text = r#"1 0 ok txn [["send","x",[0,1]],["poll",{"x":[[0,1]]}]]"#;
    check(
        text,
        expect![[r#"
        invalid: 1 precommitted-read of sent 1, polled 1
        precommitted-read [0]: process 0 at 1.000 s polled message 1 of key "x" in the transaction that sent it"#]],
    );
}

#[test]
fn what_lies_before_something_polled_is_polled_too() {
    let text = r#"
        1 0 ok send [["send","x",[0,"a"]]]
        2 0 ok send [["send","x",[1,"b"]],["send","x",[3,"d"]]]
        3 1 info send [["send","x","c"]]
        4 0 ok poll [["poll",{"x":[[2,"c"]]}]]"#;
    check(
        text,
        expect![[r#"
            invalid: 2 lost-write, 3 unseen of sent 3, polled 1, worst-realtime-lag-ms 2000, int-send-skip 1; the poll that process 0 began at 4.000 s was 2000.000 ms behind in key "x"
            lost-write [0]: message "a" of key "x", sent by process 0 at 1.000 s, is at offset 0 and was never polled, though "c" of key "x" behind it was
            lost-write [1]: message "b" of key "x", sent by process 0 at 2.000 s, is at offset 1 and was never polled, though "c" of key "x" behind it was
            unseen [0]: message "a" of key "x", sent by process 0 at 1.000 s, was never polled
            unseen [1]: message "b" of key "x", sent by process 0 at 2.000 s, was never polled
            unseen [1]: message "d" of key "x", sent by process 0 at 2.000 s, was never polled"#]],
    );
    let overwritten = r#"
        1 0 ok send [["send","x",[0,"a"]]]
        2 0 ok send [["send","x",[0,"b"]],["send","x",[2,"c"]]]
        3 0 ok poll [["poll",{"x":[[0,"b"],[2,"c"]]}]]"#;
    assert_eq!(kinds(overwritten), ["inconsistent-offsets", "lost-write", "unseen"]);
}

#[test]
fn a_crashed_send_of_which_a_part_was_polled_took_effect_as_a_whole() {
    let sends = r#"
        1 0 info send [["send","x","a"],["send","y",[0,"b"]]]
        2 1 info send [["send","y","c"]]
        3 3 ok poll [["poll",{"y":[[1,"c"]]}]]"#;
    assert_eq!(judge(&KAFKA, sends).verdict, Verdict::Valid);
    let seen = format!("{sends}\n4 2 ok poll [[\"poll\",{{\"x\":[[0,\"a\"]]}}]]");
    assert_eq!(kinds(&seen), ["lost-write"]);
}

const SKIPPED: &str = r#"
    1 3 info send [["send","x","a"],["send","x","b"],["send","x","c"],["send","x","d"]]
    2 0 ok poll [["poll",{"x":[[1,"a"],[2,"b"]]}]]
    3 1 ok poll [["poll",{"x":[[3,"c"]]}]]"#;

#[test]
fn a_process_polls_on_where_it_left_off() {
    let next = r#"5 0 ok poll [["poll",{"x":[[4,"d"]]}]]"#;
    check(
        &format!("{SKIPPED}\n{next}"),
        expect![[r#"
        invalid: 1 poll-skip of sent 0, polled 4
        poll-skip [1, 3]: process 0 at 5.000 s polled "d" of key "x" right after "b" (process 0 at 2.000 s), skipping "c""#]],
    );
    let back = r#"5 0 fail poll [["poll",{"x":[[1,"a"]]}]]"#;
    check(
        &format!("{SKIPPED}\n{back}"),
        expect![[r#"
        invalid: 1 nonmonotonic-poll of sent 0, polled 3
        nonmonotonic-poll [1, 3]: process 0 at 5.000 s polled "a" of key "x" right after "b" (process 0 at 2.000 s), 1 places back in the log"#]],
    );
    for elsewhere in [r#"4 0 ok assign ["y"]"#, r#"4 0 info assign ["y"]"#] {
        let text = format!("{SKIPPED}\n{elsewhere}\n{next}");
        assert_eq!(judge(&KAFKA, &text).verdict, Verdict::Valid, "{elsewhere}");
    }
    let again = r#"4 0 ok assign ["x","y"]"#;
    assert_eq!(kinds(&format!("{SKIPPED}\n{again}\n{next}")), ["poll-skip"]);
    let subscribed = r#"4 0 ok subscribe ["x","y"]"#;
    let finding = judge(&KAFKA, &format!("{SKIPPED}\n{subscribed}\n{next}"));
    assert_eq!((finding.verdict, finding.figures["poll-skip"]), (Verdict::Valid, 1.0));
}

#[test]
fn only_an_acknowledged_poll_moves_on() {
    let text = r#"
        1 0 ok send [["send","x",[0,0]],["send","x",[1,1]],["send","x",[2,2]]]
        2 1 ok txn [["poll",{"x":[[0,0]]}]]
        3 1 fail txn [["poll",{"x":[[1,1],[2,2]]}]]
        4 1 info txn [["poll",{"x":[[1,1],[2,2]]}]]
        5 1 ok txn [["poll",{"x":[[1,1],[2,2]]}]]"#;
    assert_eq!(judge(&KAFKA, text).verdict, Verdict::Valid);
}

#[test]
fn one_poll_has_all_of_its_stretch_of_the_log_in_order() {
    let text = r#"
        1 1 info send [["send","x","a"],["send","x","b"],["send","x","d"]]
        2 0 ok poll [["poll",{"x":[[1,"a"],[4,"d"]]}]]
        3 2 ok poll [["poll",{"x":[[2,"b"]]}]]
        4 3 ok poll [["poll",{"x":[[4,"d"],[1,"a"]]}]]"#;
    check(
        text,
        expect![[r#"
            invalid: 1 int-poll-skip, 1 int-nonmonotonic-poll of sent 0, polled 5, worst-realtime-lag-ms 1000; the poll that process 2 began at 3.000 s was 1000.000 ms behind in key "x"
            int-poll-skip [1]: process 0 at 2.000 s polled "d" of key "x" right after "a", skipping "b"
            int-nonmonotonic-poll [3]: process 3 at 4.000 s polled "a" of key "x" right after "d", 2 places back in the log"#]],
    );
    let subscribed = format!("1 0 ok subscribe [\"x\"]{text}");
    check(
        &subscribed,
        expect![[
            r#"unknown: process 0 at 2.000 s polled "d" of key "x" right after "a", skipping "b", which a change of its assignment may explain; process 3 at 4.000 s polled "a" of key "x" right after "d", 2 places back in the log, which a change of its assignment may explain"#
        ]],
    );
}

#[test]
fn sends_of_one_process_are_in_the_log_in_its_order() {
    let text = r#"
        1 0 ok send [["send","x",[3,"c"]],["send","x",[4,"d"]]]
        2 0 ok send [["send","x",[1,"a"]],["send","x",[2,"b"]]]
        3 1 ok poll [["poll",{"x":[[1,"a"],[2,"b"],[3,"c"],[4,"d"]]}]]"#;
    check(
        text,
        expect![[r#"
        invalid: 1 nonmonotonic-send of sent 4, polled 4
        nonmonotonic-send [0, 1]: process 0 at 2.000 s sent "a" of key "x" right after "d" (process 0 at 1.000 s), 3 places back in the log"#]],
    );
    let within = r#"
        1 0 ok send [["send","x",[3,"c"]],["send","x",[1,"a"]]]
        2 1 ok poll [["poll",{"x":[[1,"a"],[3,"c"]]}]]"#;
    check(
        within,
        expect![[r#"
        invalid: 1 int-nonmonotonic-send of sent 2, polled 2
        int-nonmonotonic-send [0]: process 0 at 1.000 s sent "a" of key "x" right after "c", 1 places back in the log"#]],
    );
}

#[test]
fn sends_of_a_transaction_may_be_interleaved_with_others() {
    let text = r#"
        1 0 ok send [["send","x",[1,"a"]],["send","x","c"]]
        2 1 info send [["send","x","b"]]
        3 2 ok poll [["poll",{"x":[[1,"a"],[2,"b"],[3,"c"]]}]]"#;
    let finding = judge(&KAFKA, text);
    assert_eq!((finding.verdict, finding.figures["int-send-skip"]), (Verdict::Valid, 1.0));
}

#[test]
fn a_message_at_two_offsets_is_a_duplicate() {
    let text = r#"
        1 0 ok send [["send","x",[1,"a"]]]
        2 1 info send [["send","x","b"]]
        3 2 ok poll [["poll",{"x":[[2,"b"],[3,"a"]]}]]"#;
    check(
        text,
        expect![[r#"
        invalid: 1 duplicate of sent 1, polled 2
        duplicate [0]: message "a" of key "x" is at offsets 1 3"#]],
    );
}

/// By Jepsen's own example.
#[test]
fn the_lag_of_a_poll_is_how_long_what_it_did_not_get_to_had_been_there() {
    let text = r#"
        1 0 invoke assign ["x"]
        2 0 ok assign ["x"]
        3 1 invoke send [["send","x","a"]]
        5 1 ok send [["send","x",[0,"a"]]]
        6 0 invoke poll [["poll"]]
        7 0 ok poll [["poll",{"x":[]}]]
        8 0 invoke poll [["poll"]]
        9 0 ok poll [["poll",{"x":[[0,"a"]]}]]"#;
    check(
        text,
        expect![[
            r#"valid: sent 1, polled 1, worst-realtime-lag-ms 1000; the poll that process 0 began at 6.000 s was 1000.000 ms behind in key "x""#
        ]],
    );
    let subscribed = text.replace("assign", "subscribe");
    assert!(!judge(&KAFKA, &subscribed).figures.contains_key("worst-realtime-lag-ms"));
}

#[test]
fn what_was_never_polled_is_unseen_and_what_nobody_sent_leaves_it_open() {
    check(
        SENT,
        expect![[r#"
        invalid: 3 unseen of sent 3, polled 0
        unseen [0]: message "a" of key "x", sent by process 0 at 2.000 s, was never polled
        unseen [0]: message "b" of key "x", sent by process 0 at 2.000 s, was never polled
        unseen [0]: message "c" of key "x", sent by process 0 at 2.000 s, was never polled"#]],
    );
    check(
        r#"1 0 ok poll [["poll",{"x":[[0,7]]}]]"#,
        expect![[
            r#"unknown: message 7 of key "x", polled by process 0 at 1.000 s, was sent by nobody"#
        ]],
    );
    check(
        "1 0 ok poll 7\n2 0 ok send [5]\n3 0 ok crash nil",
        expect![
            "unknown: event 0: 7, expected [[send key message] ... [poll] ...]; event 1: [5], expected [send key message], [send key [offset message]] or [poll {...}]"
        ],
    );
}

#[test]
fn transactions_that_poll_what_each_other_sent_are_a_circle() {
    let text = r#"
        1 0 invoke txn [["send","x","a"],["poll"]]
        2 1 invoke txn [["send","y","b"],["poll"]]
        3 0 ok txn [["send","x",[0,"a"]],["poll",{"y":[[0,"b"]]}]]
        4 1 ok txn [["send","y",[0,"b"]],["poll",{"x":[[0,"a"]]}]]"#;
    let finding = judge(&KAFKA, text);
    assert_eq!(finding.verdict, Verdict::Invalid);
    assert_eq!(kinds(text), ["G1c"]);
    assert_eq!(
        finding.anomalies[0].details,
        [
            "process 1 at 4.000 s polled message \"a\" of key \"x\", which process 0 at 3.000 s sent",
            "process 0 at 3.000 s polled message \"b\" of key \"y\", which process 1 at 4.000 s sent",
        ]
    );
}

#[test]
fn what_is_polled_before_it_is_sent_is_a_circle_in_real_time() {
    let text = r#"
        1 0 invoke poll [["poll"]]
        2 0 ok poll [["poll",{"x":[[0,"a"]]}]]
        3 1 invoke send [["send","x","a"]]
        4 1 ok send [["send","x",[0,"a"]]]"#;
    assert_eq!(kinds(text), ["G1c-realtime"]);
}

#[test]
fn writes_in_a_circle_count_only_if_they_are_asked_for() {
    let text = r#"
        1 0 invoke send [["send","x","a"],["send","y","a"]]
        2 1 invoke send [["send","x","b"],["send","y","b"]]
        3 0 ok send [["send","x",[0,"a"]],["send","y",[1,"a"]]]
        4 1 ok send [["send","x",[1,"b"]],["send","y",[0,"b"]]]
        5 2 invoke poll [["poll"]]
        6 2 ok poll [["poll",{"x":[[0,"a"],[1,"b"]],"y":[[0,"b"],[1,"a"]]}]]"#;
    assert!(kinds(text).is_empty(), "{:?}", kinds(text));
    let anomalies = vec!["G0".to_owned()];
    let options = ModelOptions { anomalies, ..ModelOptions::default() };
    let finding = judge_with(&KAFKA, &options, text);
    assert_eq!(finding.verdict, Verdict::Invalid);
    assert_eq!(finding.anomalies[0].kind, "G0");
}

#[test]
fn where_no_message_was_moved_nothing_is_known() {
    let text = r#"
        1 0 invoke assign ["x"]
        2 0 ok assign ["x"]"#;
    assert_eq!(judge(&KAFKA, text).verdict, Verdict::Unknown);
    let failed =
        format!("{text}\n3 0 invoke send [[\"send\",\"x\",1]]\n4 0 fail send [[\"send\",\"x\",1]]");
    assert_eq!(judge(&KAFKA, &failed).verdict, Verdict::Unknown);
}

#[test]
fn an_assignment_that_failed_changes_nothing() {
    let next = r#"5 0 ok poll [["poll",{"x":[[4,"d"]]}]]"#;
    let failed = "3 0 invoke assign [\"y\"]\n4 0 fail assign [\"y\"]";
    assert_eq!(kinds(&format!("{SKIPPED}\n{failed}\n{next}")), ["poll-skip"]);
    // Nor does one that has only been asked for.
    let asked = r#"4 0 invoke assign ["y"]"#;
    assert_eq!(kinds(&format!("{SKIPPED}\n{asked}\n{next}")), ["poll-skip"]);
}

/// Two sends of process 0 the wrong way round, and something between them.
fn sent_around(between: &str) -> Vec<String> {
    kinds(&format!(
        r#"
        1 0 ok send [["send","x",[2,"b"]]]
        {between}
        4 0 ok send [["send","x",[1,"a"]]]
        5 1 ok poll [["poll",{{"x":[[1,"a"],[2,"b"]]}}]]"#
    ))
}

#[test]
fn sends_are_in_order_as_long_as_their_key_is_assigned() {
    assert_eq!(sent_around(""), ["nonmonotonic-send"]);
    assert_eq!(sent_around(r#"2 0 ok assign ["x","y"]"#), ["nonmonotonic-send"]);
    assert!(sent_around(r#"2 0 ok assign ["y"]"#).is_empty());
    // What was not sent is in no order with what was.
    let failed = r#"
        0.1 2 ok send [["send","x",[0,"z"]]]
        0.2 3 ok poll [["poll",{"x":[[0,"z"]]}]]
        1 0 ok send [["send","x",[2,"b"]]]
        2 0 fail send [["send","x",[1,"a"]]]
        3 0 ok send [["send","x",[3,"c"]]]
        4 1 ok poll [["poll",{"x":[[0,"z"],[1,"a"],[2,"b"],[3,"c"]]}]]"#;
    assert_eq!(kinds(failed), ["G1a"]);
}

#[test]
fn a_send_that_never_ended_may_have_been_one() {
    let text = r#"
        1 0 invoke send [["send","x","a"]]
        2 1 ok poll [["poll",{"x":[[0,"a"]]}]]"#;
    assert_eq!(judge(&KAFKA, text).verdict, Verdict::Valid);
}

#[test]
fn who_sent_a_message_is_known_if_one_operation_alone_may_have_sent_it() {
    let circle = r#"
        1 0 invoke txn [["send","x","a"],["poll"]]
        2 1 invoke txn [["send","y","b"],["poll"]]
        3 0 ok txn [["send","x",[0,"a"]],["poll",{"y":[[0,"b"]]}]]
        4 1 ok txn [["send","y",[0,"b"]],["poll",{"x":[[0,"a"]]}]]"#;
    assert_eq!(kinds(circle), ["G1c"]);
    let another = "0.5 2 invoke send [[\"send\",\"x\",\"a\"]]";
    let earlier = format!("{another}\n0.6 2 info send [[\"send\",\"x\",\"a\"]]\n{circle}");
    assert!(kinds(&earlier).is_empty(), "{:?}", kinds(&earlier));
    let late = format!("{circle}\n{another}");
    assert!(kinds(&late).is_empty(), "{:?}", kinds(&late));
    // One that surely did not send it leaves the circle.
    let failed = format!("{another}\n0.6 2 fail send [[\"send\",\"x\",\"a\"]]\n{circle}");
    assert_eq!(kinds(&failed), ["G1c"]);
    // And what a transaction of unknown outcome polled says nothing.
    let unknown = circle.replace("4 1 ok", "4 1 info");
    assert_eq!(kinds(&unknown), ["unseen"]);
}

#[test]
fn a_message_at_two_offsets_is_lost_only_if_both_were_passed() {
    let text = |last: i64| {
        format!(
            r#"
        1 0 ok send [["send","x",[0,"a"]]]
        2 1 ok send [["send","x",[{last},"a"]]]
        3 2 ok send [["send","x",[3,"b"]]]
        4 3 ok poll [["poll",{{"x":[[3,"b"]]}}]]"#
        )
    };
    assert_eq!(kinds(&text(5)), ["duplicate", "unseen"]);
    assert_eq!(kinds(&text(2)), ["duplicate", "lost-write", "unseen"]);
}

#[test]
fn the_worst_lag_is_that_of_the_key_that_is_furthest_behind() {
    let text = r#"
        1 0 ok assign ["x","y"]
        2 1 ok send [["send","x",[0,"a"]]]
        4 1 ok send [["send","y",[0,"b"]]]
        5 0 invoke poll [["poll"]]
        6 0 ok poll [["poll",{}]]
        6.1 0 invoke poll [["poll"]]
        6.2 0 ok poll [["poll",{"x":[[0,"a"]]}]]
        7 0 ok poll [["poll",{"y":[[0,"b"]]}]]"#;
    let finding = judge(&KAFKA, text);
    assert_eq!(finding.figures["worst-realtime-lag-ms"], 3000.0);
    let words = "the poll that process 0 began at 5.000 s was 3000.000 ms behind in key \"x\"";
    assert!(finding.why.ends_with(words), "{}", finding.why);
    // Sending is not polling, however far behind it is.
    let sent = r#"
        1 0 ok assign ["x"]
        2 1 ok send [["send","x",[0,"a"]]]
        5 0 invoke send [["send","y","b"]]
        6 0 ok send [["send","y",[0,"b"]]]"#;
    assert!(!judge(&KAFKA, sent).figures.contains_key("worst-realtime-lag-ms"));
}

#[test]
fn a_poll_may_find_nothing_in_several_spellings() {
    for nothing in [r#"[["poll"]]"#, r#"[["poll",null]]"#, r#"[["poll",{}]]"#, r#"[["poll",[]]]"#] {
        let text = format!("{SENT}\n3 1 ok poll {nothing}\n{POLLED}");
        let finding = judge(&KAFKA, &text);
        assert_eq!(finding.verdict, Verdict::Valid, "{nothing}: {}", finding.why);
    }
}

const POLLED: &str = r#"4 1 ok poll [["poll",{"x":[[0,"a"],[1,"b"],[3,"c"]]}]]"#;
