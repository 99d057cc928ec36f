//! Rows in order, how operations ended, and what counts only for those who ask for it.

use expect_test::{Expect, expect};

use super::super::*;
use crate::checker::MODELS;
use crate::checker::jepsen::{KAFKA, MONOTONIC_INSERTS, STATS, TOTAL_QUEUE};

fn check(model: &ModelKind, options: &ModelOptions, text: &str, expected: Expect) {
    expected.assert_eq(&told(&judge_with(model, options, text)));
}

fn by_name(anomaly: &str) -> ModelOptions {
    ModelOptions { anomalies: vec![anomaly.to_owned()], ..ModelOptions::default() }
}

fn rows(read: &str) -> String {
    format!(
        r#"
        1 0 invoke add nil
        2 0 ok add {{"val":1,"sts":10}}
        3 1 invoke add nil
        4 1 ok add {{"val":2,"sts":"79228162514264337593543950335"}}
        5 2 invoke add {{"val":3}}
        6 2 fail add {{"val":3}}
        7 0 invoke add {{"val":4}}
        8 0 info add {{"val":4}}
        9 1 invoke read nil
        10 1 ok read {read}"#
    )
}

#[test]
fn rows_are_there_once_and_grow_by_both_numbers() {
    let none = ModelOptions::default();
    let big = r#"{"val":2,"sts":"79228162514264337593543950335"}"#;
    let good = rows(&format!(r#"[{{"val":-1,"sts":0}},{{"val":1,"sts":10}},{big}]"#));
    check(
        &MONOTONIC_INSERTS,
        &none,
        &good,
        expect!["valid: reads 1, acknowledged 2, rows 3, recovered 0, value-reorders 0"],
    );
    let recovered = rows(&format!(
        r#"[{{"val":1,"sts":10}},{big},{{"val":4,"sts":"79228162514264337593543950336"}}]"#
    ));
    check(
        &MONOTONIC_INSERTS,
        &none,
        &recovered,
        expect!["valid: reads 1, acknowledged 2, rows 3, recovered 1, value-reorders 0"],
    );
    let bad = rows(r#"[{"val":3,"sts":12},{"val":1,"sts":10},{"val":1,"sts":11}]"#);
    check(
        &MONOTONIC_INSERTS,
        &none,
        &bad,
        expect![[r#"
            invalid: 1 duplicated, 1 lost, 1 revived, 1 off-order-sts, 2 off-order-val of reads 1, acknowledged 2, rows 3
            duplicated [8]: the last read (process 1 at 10.000 s) has 2 rows of val 1
            lost [2, 8]: the last read (process 1 at 10.000 s) lacks val 2, whose add by process 1 was acknowledged at 4.000 s
            revived [4, 8]: the last read (process 1 at 10.000 s) has val 3, whose add failed at 6.000 s
            off-order-sts [8]: the last read (process 1 at 10.000 s) has val 3 (sts 12) before val 1 (sts 10)
            off-order-val [8]: the last read (process 1 at 10.000 s) has val 3 (sts 12) before val 1 (sts 10)
            off-order-val [8]: the last read (process 1 at 10.000 s) has val 1 (sts 10) before val 1 (sts 11)"#]],
    );
    let unread = "1 0 invoke add nil\n2 0 ok add {\"val\":1}";
    check(
        &MONOTONIC_INSERTS,
        &none,
        unread,
        expect!["unknown: the rows were never read, so nobody knows what is there"],
    );
    check(
        &MONOTONIC_INSERTS,
        &none,
        &rows("[[1,10]]"),
        expect!["unknown: event 9: [[1,10]], expected [{val sts ...} ...]"],
    );
    let late = "1 1 invoke read nil\n2 0 invoke add nil\n3 0 ok add {\"val\":1}\n4 1 ok read []";
    check(
        &MONOTONIC_INSERTS,
        &none,
        late,
        expect!["unknown: val 1 was added at 3.000 s, after the last read began"],
    );
}

#[test]
fn rows_of_several_tables_grow_for_each_process_and_overall_if_that_is_asked_for() {
    let read = r#"1 0 invoke read nil
        2 0 ok read [{"val":2,"sts":1,"proc":0,"node":1,"tb":0},{"val":1,"sts":2,"proc":1,"node":1,"tb":1},{"val":3,"sts":3,"proc":0,"node":2,"tb":0}]"#;
    check(
        &MONOTONIC_INSERTS,
        &ModelOptions::default(),
        read,
        expect![
            "valid: reads 1, acknowledged 0, rows 3, recovered 0, value-reorders 1, value-reorders-pernode 1, value-reorders-pertable 0"
        ],
    );
    let consistency_models = vec!["linearizable".to_owned()];
    let strict = ModelOptions { consistency_models, ..ModelOptions::default() };
    check(
        &MONOTONIC_INSERTS,
        &strict,
        read,
        expect![[r#"
            invalid: 1 off-order-val of reads 1, acknowledged 0, rows 3, recovered 0, value-reorders-pernode 1, value-reorders 0, value-reorders-pertable 0
            off-order-val [0]: the last read (process 0 at 2.000 s) has val 2 (sts 1) before val 1 (sts 2)"#]],
    );
    let own = read.replace(r#""val":3"#, r#""val":0"#);
    check(
        &MONOTONIC_INSERTS,
        &ModelOptions::default(),
        &own,
        expect![[r#"
            invalid: 1 off-order-val of reads 1, acknowledged 0, rows 3, recovered 0, value-reorders 2, value-reorders-pernode 1, value-reorders-pertable 1
            off-order-val [0]: the last read (process 0 at 2.000 s) has val 2 (sts 1) before val 0 (sts 3), both of proc 0"#]],
    );
}

#[test]
fn of_each_name_one_operation_is_ok() {
    let none = ModelOptions::default();
    let text = "
        1 0 invoke read nil key=1
        2 0 ok read 1 key=1
        3 0 invoke cas 1>2 key=1
        4 0 fail cas 1>2 key=1
        5 1 invoke cas 1>2 key=2
        6 1 info cas 1>2 key=2
        7 2 invoke write 1 key=2";
    check(
        &STATS,
        &none,
        text,
        expect![[r#"
        invalid: 1 no-ok of ok 1, fail 1, info 1
        no-ok [4]: no cas was ok: 1 failed, of 1 nobody knows; the last, of process 1, ended at 6.000 s"#]],
    );
    check(&STATS, &none, &text.replace("fail", "ok"), expect!["valid: ok 2, fail 0, info 1"]);
    check(&STATS, &none, "", expect!["valid: nothing to judge"]);
}

#[test]
fn availability_of_any_history_is_told_as_a_model() {
    let model = MODELS.iter().find(|model| model.name == "availability").expect("a model");
    let mut checker = (model.checkers)(&ModelOptions::default()).expect("options").remove(0);
    let text =
        "1 0@n1 invoke read nil\n2 0@n1 ok read 1\n5 0@n1 invoke read nil\n6 0@n1 fail read 1";
    let history = crate::checker::text::history(text);
    expect!["valid: longest time without an ok in main: 4.000 s (from 2.000 s) overall, 4.000 s (from 2.000 s) on n1; 1 of 2 operations were answered"].assert_eq(&told(&checker.finish(&history, &Budget::UNBOUNDED)));
}

#[test]
fn what_is_only_counted_is_a_violation_for_who_asks_for_it_by_its_name() {
    let twice = "1 0 invoke enqueue 1\n2 0 ok enqueue 1\n3 0 ok dequeue 1\n4 0 ok dequeue 1";
    check(
        &TOTAL_QUEUE,
        &ModelOptions::default(),
        twice,
        expect!["valid: attempts 1, acknowledged 1, dequeues 2, recovered 0, duplicated 1"],
    );
    check(
        &TOTAL_QUEUE,
        &by_name("duplicated"),
        twice,
        expect![[r#"
            invalid: 1 duplicated of attempts 1, acknowledged 1, dequeues 2, recovered 0
            duplicated [3]: 1 was dequeued 2 times, and enqueued 1 at most; last by process 0 at 4.000 s"#]],
    );
    let back = r#"
        1 0 invoke subscribe ["x"]
        1 0 ok subscribe ["x"]
        1.1 1 invoke send [["send","x","a"],["send","x","b"]]
        1.2 1 ok send [["send","x",[0,"a"]],["send","x",[1,"b"]]]
        2 0 invoke poll [["poll"]]
        3 0 ok poll [["poll",{"x":[[0,"a"],[1,"b"]]}]]
        4 0 invoke poll [["poll"]]
        5 0 ok poll [["poll",{"x":[[0,"a"]]}]]
        6 0 invoke send [["send","x","c"],["send","x","d"]]
        7 0 ok send [["send","x",[2,"c"]],["send","x",[4,"d"]]]
        8 1 invoke send [["send","x","e"]]
        9 1 ok send [["send","x",[3,"e"]]]
        10 1 invoke poll [["poll"]]
        11 1 ok poll [["poll",{"x":[[2,"c"],[3,"e"],[4,"d"]]}]]"#;
    check(
        &KAFKA,
        &ModelOptions::default(),
        back,
        expect!["valid: sent 5, polled 6, nonmonotonic-poll 1, int-send-skip 1"],
    );
    check(
        &KAFKA,
        &by_name("nonmonotonic-poll"),
        back,
        expect![[r#"
            invalid: 1 nonmonotonic-poll of sent 5, polled 6, int-send-skip 1
            nonmonotonic-poll [4, 6]: process 0 at 5.000 s polled "a" of key "x" right after "b" (process 0 at 3.000 s), 1 places back in the log"#]],
    );
    check(
        &KAFKA,
        &by_name("int-send-skip"),
        back,
        expect![[r#"
        invalid: 1 int-send-skip of sent 5, polled 6, nonmonotonic-poll 1
        int-send-skip [8]: process 0 at 7.000 s sent "d" of key "x" right after "c", skipping "e""#]],
    );
}
