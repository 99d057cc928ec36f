//! The other models of Jepsen's own tests.

use expect_test::{Expect, expect};

use super::super::*;
use crate::checker::jepsen::{
    ADYA_G2, CAUSAL, CAUSAL_REVERSE, DIRTY_READ, MONOTONIC, SESSION, TOTAL_QUEUE, UNIQUE_IDS,
    UNORDERED_QUEUE,
};

fn check(model: &ModelKind, text: &str, expected: Expect) {
    expected.assert_eq(&told(&judge(model, text)));
}

#[test]
fn ids_are_handed_out_once() {
    let once =
        "1 0 invoke generate nil\n2 0 ok generate 7\n3 1 invoke generate nil\n4 1 ok generate a";
    check(&UNIQUE_IDS, once, expect!["valid: attempts 2, acknowledged 2"]);
    check(
        &UNIQUE_IDS,
        &format!("{once}\n5 2 ok generate 7"),
        expect![[r#"
        invalid: 1 duplicated of attempts 2, acknowledged 3
        duplicated [0, 4]: process 2 got id 7 at 5.000 s, which process 0 had got at 2.000 s"#]],
    );
    check(
        &UNIQUE_IDS,
        "1 0 ok generate nil",
        expect!["unknown: event 0: an id was handed out, and it is nil"],
    );
}

#[test]
fn a_dequeue_may_overtake_the_answer_to_its_enqueue_but_not_the_enqueue() {
    let text = "1 0 invoke enqueue 1\n2 1 ok dequeue 1\n3 0 ok enqueue 1\n4 1 ok dequeue nil";
    check(&UNORDERED_QUEUE, text, expect!["valid: enqueues 1, dequeues 1"]);
    check(
        &UNORDERED_QUEUE,
        "1 1 ok dequeue 1\n2 0 invoke enqueue 1",
        expect![[r#"
        invalid: 1 unexpected of dequeues 1, enqueues 1
        unexpected [0]: process 1 dequeued 1 at 1.000 s, which nobody had begun to enqueue"#]],
    );
    check(
        &UNORDERED_QUEUE,
        &format!("{text}\n5 2 ok dequeue 1"),
        expect![[r#"
        invalid: 1 duplicated of enqueues 1, dequeues 2
        duplicated [4]: process 2 dequeued 1 at 5.000 s, which is more often than it can have been enqueued"#]],
    );
}

#[test]
fn what_surely_was_not_enqueued_cannot_come_out() {
    let text = "1 0 invoke enqueue 1\n2 1 ok dequeue 1\n3 0 fail enqueue 1";
    check(
        &UNORDERED_QUEUE,
        text,
        expect![[r#"
        invalid: 1 duplicated of enqueues 1, dequeues 1
        duplicated [0, 1]: process 1 dequeued 1 at 2.000 s, which is more often than it can have been enqueued"#]],
    );
}

/// Jepsen's own examples.
#[test]
fn a_total_queue_tells_lost_unexpected_duplicated_and_recovered() {
    let sane = "
        1 1 invoke enqueue 1
        1 2 invoke enqueue 2
        1 2 ok enqueue 2
        1 3 invoke dequeue nil
        1 3 ok dequeue 1
        1 3 invoke dequeue nil
        1 3 ok dequeue 2";
    check(
        &TOTAL_QUEUE,
        sane,
        expect!["valid: attempts 2, acknowledged 1, dequeues 2, recovered 1"],
    );
    let pathological = "
        1 1 invoke enqueue hung
        1 2 invoke enqueue enqueued
        1 2 ok enqueue enqueued
        1 3 invoke enqueue dup
        1 3 ok enqueue dup
        1 5 invoke dequeue nil
        1 5 ok dequeue wtf
        1 6 invoke dequeue nil
        1 6 ok dequeue dup
        1 7 invoke dequeue nil
        1 7 ok dequeue dup";
    check(
        &TOTAL_QUEUE,
        pathological,
        expect![[r#"
        invalid: 1 lost, 1 unexpected of attempts 3, acknowledged 2, dequeues 3, recovered 0, duplicated 1
        lost [1]: "enqueued" was enqueued 1 times, and dequeued 0; last by process 2 at 1.000 s
        unexpected [5]: "wtf" was dequeued, and nobody had enqueued it; last by process 5 at 1.000 s"#]],
    );
}

#[test]
fn what_a_crashed_dequeue_or_drain_may_have_taken_is_not_lost() {
    let text =
        "1 1 invoke enqueue 1\n2 1 ok enqueue 1\n3 2 invoke dequeue nil\n4 2 info dequeue nil";
    check(
        &TOTAL_QUEUE,
        text,
        expect![
            "unknown: 1 elements never came out; 1 dequeues without known result may have taken them"
        ],
    );
    let drained = "1 1 ok enqueue 1\n1 1 ok enqueue 2\n2 2 info drain nil";
    check(
        &TOTAL_QUEUE,
        drained,
        expect![
            "unknown: 2 elements never came out; the drain of process 2 at 2.000 s may have taken them"
        ],
    );
    let drained = "1 1 ok enqueue 1\n1 1 ok enqueue 2\n2 2 ok drain [1]";
    check(
        &TOTAL_QUEUE,
        drained,
        expect![[r#"
        invalid: 1 lost of attempts 2, acknowledged 2, dequeues 1, recovered 0
        lost [1]: 2 was enqueued 1 times, and dequeued 0; last by process 1 at 1.000 s"#]],
    );
}

#[test]
fn causal_counts_up() {
    let text = "
        1 0 ok read-init 0 key=x
        2 0 ok write 1 key=x
        3 0 ok read 1 key=x
        4 0 ok write 2 key=x
        5 0 ok read nil key=x";
    check(&CAUSAL, text, expect!["valid: steps 5"]);
    check(
        &CAUSAL,
        &format!("{text}\n6 0 ok read 1 key=x"),
        expect![[r#"
        invalid: 1 noncausal of steps 6
        noncausal [3, 5]: key x: process 0 read 1 instead of 2 at 6.000 s; written last by process 0 at 4.000 s"#]],
    );
    let pairs = "1 0 ok read-init [4,0]\n2 0 ok write [4,2]\n3 0 ok read [5,1]";
    check(
        &CAUSAL,
        pairs,
        expect![[r#"
        invalid: 2 noncausal of steps 3
        noncausal [1]: key 4: process 0 wrote 2 where 1 was next at 2.000 s
        noncausal [2]: key 5: process 0 read 1 instead of 0 at 3.000 s"#]],
    );
    check(
        &CAUSAL,
        "1 0 ok read a\n2 0 ok write nil",
        expect![[r#"unknown: event 0: "a", expected a number; event 1: null, expected a number"#]],
    );
}

#[test]
fn causal_reverse_is_found_as_comments_are() {
    let text = "
        1 0 invoke write 1
        2 0 ok write 1
        3 0 invoke write 2
        4 1 ok read [2]";
    check(
        &CAUSAL_REVERSE,
        text,
        expect![[r#"
        invalid: 1 causal-reverse of writes 1, reads 1
        causal-reverse [0, 2, 3]: process 1 read 2 at 4.000 s, whose write was begun by process 0 at 3.000 s, without 1, which had been written before (the first by process 0 at 2.000 s)"#]],
    );
}

#[test]
fn of_two_inserts_that_exclude_each_other_one_succeeds() {
    let text = "
        1 0 invoke insert [3,[null,1]]
        1 1 invoke insert [3,[2,null]]
        2 0 ok insert [3,[null,1]]
        2 1 fail insert [3,[2,null]]";
    check(&ADYA_G2, text, expect!["valid: keys 1, inserts 1"]);
    check(
        &ADYA_G2,
        &text.replace("fail", "ok"),
        expect![[r#"
        invalid: 1 predicate-g2 of keys 1, inserts 2
        predicate-g2 [0, 1]: both inserts of key 3 succeeded, that of process 0 at 2.000 s and that of process 1 at 2.000 s"#]],
    );
    check(&ADYA_G2, "1 0 ok insert 3", expect!["unknown: event 0: 3, expected [key [a b]]"]);
}

#[test]
fn what_was_read_or_written_is_in_every_strong_read() {
    let work = "1 0 ok write 1\n2 0 ok write 2\n3 1 ok read 3\n4 1 ok read 1";
    let reads = "5 0 ok strong-read [1,2,3]\n6 1 ok strong-read [1,2,3]";
    check(
        &DIRTY_READ,
        &format!("{work}\n{reads}"),
        expect!["valid: writes 2, reads 2, strong-reads 2"],
    );
    let reads = "5 0 ok strong-read [1]\n6 1 ok strong-read []";
    check(
        &DIRTY_READ,
        &format!("{work}\n{reads}"),
        expect![[r#"
        invalid: 1 not-on-all, 1 lost, 1 dirty-read of writes 2, reads 2, strong-reads 2
        not-on-all [0]: 1 of 2 strong reads have 1, the others do not
        lost [1]: 2 was written by process 0 at 2.000 s, and no strong read has it
        dirty-read [2]: 3 was read by process 1 at 3.000 s, and no strong read has it"#]],
    );
    check(
        &DIRTY_READ,
        work,
        expect!["unknown: there was no strong read, so nobody knows what is there"],
    );
}

#[test]
fn each_session_guarantee_has_its_name() {
    let read_back = "1 0 ok write 1\n2 0 ok write 2\n3 0 ok read 1";
    check(
        &SESSION,
        read_back,
        expect![[r#"
        invalid: 1 read-your-writes of writes 2, reads 1
        read-your-writes [0, 1, 2]: no order of the values is right for all: process 0 wrote 2 at 2.000 s, then read 1 at 3.000 s; process 0 wrote 1 at 1.000 s, then wrote 2 at 2.000 s"#]],
    );
    let reads = "1 0 ok read 1\n2 0 ok read 2\n3 1 ok read 2\n4 1 ok read 1";
    check(
        &SESSION,
        reads,
        expect![[r#"
        invalid: 1 monotonic-reads of reads 4
        monotonic-reads [0, 1, 2, 3]: no order of the values is right for all: process 1 read 2 at 3.000 s, then read 1 at 4.000 s; process 0 read 1 at 1.000 s, then read 2 at 2.000 s"#]],
    );
    let follows = r#"1 1 ok txn [["r","x",2],["r","x",1]]
        2 0 ok txn [["r","x",1],["w","x",2]]"#;
    check(
        &SESSION,
        follows,
        expect![[r#"
        invalid: 1 writes-follow-reads of reads 3, writes 1
        writes-follow-reads [0, 1]: no order of the values is right for all: process 0 read 1 of "x" at 2.000 s, then wrote 2 of "x" at 2.000 s; process 1 read 2 of "x" at 1.000 s, then read 1 of "x" at 1.000 s"#]],
    );
    let writes = "1 1 ok read 2\n2 1 ok read 1\n3 0 ok write 1\n4 0 ok write 2";
    check(
        &SESSION,
        writes,
        expect![[r#"
        invalid: 1 monotonic-writes of reads 2, writes 2
        monotonic-writes [0, 1, 2, 3]: no order of the values is right for all: process 0 wrote 1 at 3.000 s, then wrote 2 at 4.000 s; process 1 read 2 at 1.000 s, then read 1 at 2.000 s"#]],
    );
    check(
        &SESSION,
        "1 0 ok write 1\n2 0 ok read nil",
        expect![[r#"
        invalid: 1 read-your-writes of writes 1, reads 1
        read-your-writes [0, 1]: process 0 wrote 1 at 1.000 s and read nil at 2.000 s"#]],
    );
}

#[test]
fn a_session_may_be_judged_by_one_guarantee_alone() {
    let anomalies = vec!["read-your-writes".to_owned()];
    let options = ModelOptions { anomalies, ..ModelOptions::default() };
    let reads = "1 0 ok read 1\n2 0 ok read 2\n3 1 ok read 2\n4 1 ok read 1\n5 1 ok read nil";
    assert_eq!(judge_with(&SESSION, &options, reads).verdict, Verdict::Valid);
    assert_eq!(judge(&SESSION, reads).verdict, Verdict::Invalid);
}

#[test]
fn sessions_need_unique_values_and_other_keys_and_processes_are_apart() {
    check(
        &SESSION,
        "1 0 invoke write 1\n2 0 ok write 1\n3 1 invoke write 1",
        expect!["unknown: event 2: 1 is written to one key a second time"],
    );
    check(
        &SESSION,
        "1 0 ok txn 5",
        expect!["unknown: event 0: 5, expected [[r key value] [w key value] ...]"],
    );
    let apart =
        "1 0 ok read 2 key=x\n2 0 ok read 1 key=y\n3 1 ok read 1 key=x\n4 1 ok read 2 key=x";
    check(&SESSION, apart, expect!["valid: reads 4"]);
}

#[test]
fn numbers_only_grow() {
    let text = r#"
        1 0 ok inc {"x":1}
        2 1 ok read {"x":1,"y":0}
        3 2 ok read {"x":0,"y":null}
        4 2 ok inc {}"#;
    check(&MONOTONIC, text, expect!["valid: operations 4"]);
    let crossed = format!("{text}\n5 3 ok read {{\"x\":0,\"y\":1}}");
    check(
        &MONOTONIC,
        &crossed,
        expect![[r#"
        invalid: 1 nonmonotonic of operations 5
        nonmonotonic [1, 4]: a cycle: process 1 at 2.000 s saw "y" at 0, before process 3 at 5.000 s saw "y" at 1; process 3 at 5.000 s saw "x" at 0, before process 1 at 2.000 s saw "x" at 1"#]],
    );
    check(
        &MONOTONIC,
        "1 0 ok read 5\n2 1 ok read 4\n3 0 ok read 4",
        expect![[r#"
        invalid: 1 nonmonotonic of operations 3
        nonmonotonic [0, 2]: a cycle: process 0 at 1.000 s went on to process 0 at 3.000 s; process 0 at 3.000 s saw 4, before process 0 at 1.000 s saw 5"#]],
    );
    check(
        &MONOTONIC,
        "1 0 ok read [5]\n2 1 ok read {\"x\":\"a\"}",
        expect![[
            r#"unknown: event 0: [5], expected {key number ...}; event 1: {"x":"a"}, expected whole numbers"#
        ]],
    );
}
