//! Compact histories and what is said of them: good, bad and unknown.

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::history;
use crate::op::Value;

fn check(model: RegisterModel, text: &str, expected: Expect) {
    let finding = finish(&history(text), model);
    let mut told = format!("{}: {}\n", finding.verdict.name(), finding.why);
    for anomaly in &finding.anomalies {
        let key = anomaly.key.as_ref().map_or(String::new(), |key| format!(" of key {key}"));
        told += &format!("{}{key}: {}\n", anomaly.kind, anomaly.summary);
        for line in &anomaly.details {
            told += &format!("  {line}\n");
        }
        let (ops, nodes) = (&anomaly.ops, anomaly.nodes.join(" "));
        told +=
            &format!("  ops {ops:?}, nodes {nodes}, {} ns to {} ns\n", anomaly.from, anomaly.to);
    }
    expected.assert_eq(&told);
}

/// The plain register.
fn check_register(text: &str, expected: Expect) {
    check(RegisterModel::REGISTER, text, expected);
}

#[test]
fn concurrent_operations_may_come_in_any_order() {
    check_register(
        "
        1.0 0@n1 invoke write 1
        1.1 1@n2 invoke read nil
        1.2 1@n2 ok read nil
        1.3 1@n2 invoke read nil
        1.4 1@n2 ok read 1
        1.5 0@n1 ok write 1
        ",
        expect![[r#"
            valid: 1 of 1 keys are linearizable
        "#]],
    );
}

#[test]
fn a_write_of_unknown_outcome_may_show_late_or_never() {
    check_register(
        "
        1.0 0@n1 invoke write 1
        1.1 0@n1 info write 1 error=timeout
        1.2 1@n2 invoke read nil
        1.3 1@n2 ok read nil
        1.4 2@n3 invoke write 2
        1.5 2@n3 ok write 2
        1.6 1@n2 invoke read nil
        1.7 1@n2 ok read 1
        1.8 9@n1 invoke write 3
        ",
        expect![[r#"
            valid: 1 of 1 keys are linearizable
        "#]],
    );
}

#[test]
fn a_stale_read_names_what_replaced_the_value() {
    check_register(
        "
        11.000 1@zookeeper1 invoke write 17
        11.010 1@zookeeper1 ok write 17
        11.500 3@zookeeper3 invoke read nil
        11.502 3@zookeeper3 ok read 17
        12.090 1@zookeeper1 invoke write 18
        12.101 1@zookeeper1 ok write 18
        12.200 3@zookeeper3 invoke read nil
        12.203 3@zookeeper3 ok read 18
        12.412 4@zookeeper2 invoke read nil
        12.415 4@zookeeper2 ok read 17
        13.000 1@zookeeper1 invoke write 19
        13.001 1@zookeeper1 ok write 19
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            stale-read: process 4 on zookeeper2 read 17 at 12.412 s, but the write of 18 by process 1 on zookeeper1 had completed at 12.101 s and nothing wrote 17 again
              11.000 s to 11.010 s: process 1 on zookeeper1: write 17: ok
              12.090 s to 12.101 s: process 1 on zookeeper1: write 18: ok
              12.412 s to 12.415 s: process 4 on zookeeper2: read 17: ok
              stale by at least 311 ms, 1 newer value had been written
              decided by zones; 3 of 6 operations prove it by themselves
              ops [0, 4, 8], nodes zookeeper1 zookeeper2, 11000000000 ns to 12415000000 ns
        "#]],
    );
}

#[test]
fn a_read_can_be_stale_against_another_read() {
    check_register(
        "
        1.0 0@n1 invoke write 1
        1.1 0@n1 ok write 1
        2.0 0@n1 invoke write 2
        2.1 1@n2 invoke read nil
        2.2 1@n2 ok read 2
        2.3 2@n3 invoke read nil
        2.4 2@n3 ok read 1
        2.9 0@n1 ok write 2
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            stale-read: process 2 on n3 read 1 at 2.300 s, but process 1 on n2 had read 2 by 2.200 s and nothing wrote 1 again
              1.000 s to 1.100 s: process 0 on n1: write 1: ok
              2.000 s to 2.900 s: process 0 on n1: write 2: ok
              2.100 s to 2.200 s: process 1 on n2: read 2: ok
              2.300 s to 2.400 s: process 2 on n3: read 1: ok
              stale by at least 100 ms
              decided by zones; 4 of 4 operations prove it by themselves
              ops [0, 2, 3, 5], nodes n1 n2 n3, 1000000000 ns to 2900000000 ns
        "#]],
    );
}

#[test]
fn an_empty_register_seen_after_a_write_is_stale() {
    check_register(
        "
        1.0 0@n1 invoke write 1 key=7
        1.1 0@n1 ok write 1 key=7
        1.2 1@n2 invoke read nil key=7
        1.3 1@n2 ok read nil key=7
        1.4 1@n2 invoke read nil key=7
        1.5 1@n2 ok read 1 key=7
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            stale-read of key 7: process 1 on n2 read nil at 1.200 s, but the write of 1 by process 0 on n1 had completed at 1.100 s and nothing emptied it
              1.000 s to 1.100 s: process 0 on n1: write 1: ok
              1.200 s to 1.300 s: process 1 on n2: read nil: ok
              stale by at least 100 ms, 1 newer value had been written
              decided by zones; 2 of 3 operations prove it by themselves
              ops [0, 2], nodes n1 n2, 1000000000 ns to 1300000000 ns
        "#]],
    );
}

#[test]
fn a_write_that_nobody_ever_saw_is_lost() {
    check_register(
        "
        1.0 0@n1 invoke write 1
        1.1 0@n1 ok write 1
        2.0 0@n1 invoke write 2
        2.1 0@n1 ok write 2
        3.0 1@n2 invoke read nil
        3.1 1@n2 ok read 1
        3.2 0@n1 invoke read nil
        3.3 0@n1 ok read 1
        4.0 0@n1 invoke write 3
        4.1 0@n1 ok write 3
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            lost-write: the write of 2 by process 0 on n1 was acknowledged at 2.100 s, but process 0 on n1 read 1 at 3.200 s and nobody ever saw 2
              1.000 s to 1.100 s: process 0 on n1: write 1: ok
              2.000 s to 2.100 s: process 0 on n1: write 2: ok
              3.200 s to 3.300 s: process 0 on n1: read 1: ok
              stale by at least 1100 ms, 1 newer value had been written
              decided by zones; 3 of 5 operations prove it by themselves
              ops [0, 2, 6], nodes n1, 1000000000 ns to 3300000000 ns
        "#]],
    );
}

#[test]
fn a_value_nobody_wrote_is_told_with_its_failed_or_later_write() {
    let read_5 = "
        1.0 1@n2 invoke read nil
        1.1 1@n2 ok read 5";
    check_register(
        read_5,
        expect![[r#"
        invalid: 1 of 1 keys are not linearizable
        nonlinearizable: process 1 on n2 read 5 at 1.000 s, but nothing had written 5 by then
          1.000 s to 1.100 s: process 1 on n2: read 5: ok
          decided by zones; 1 of 1 operations prove it by themselves
          ops [0], nodes n2, 1000000000 ns to 1100000000 ns
    "#]],
    );
    check_register(
        &format!("0.1 0@n1 invoke write 5\n0.2 0@n1 fail write 5 error=refused\n{read_5}"),
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            nonlinearizable: process 1 on n2 read 5 at 1.000 s, but nothing had written 5 by then: the write of it by process 0 had failed, at 0.200 s
              1.000 s to 1.100 s: process 1 on n2: read 5: ok
              decided by zones; 1 of 1 operations prove it by themselves
              ops [2], nodes n2, 1000000000 ns to 1100000000 ns
        "#]],
    );
    check_register(
        &format!("{read_5}\n1.2 0@n1 invoke write 5\n1.3 0@n1 ok write 5"),
        expect![[r#"
        invalid: 1 of 1 keys are not linearizable
        nonlinearizable: process 1 on n2 read 5 at 1.000 s, but nothing had written 5 by then: process 0 on n1 was the first to try, at 1.200 s
          1.000 s to 1.100 s: process 1 on n2: read 5: ok
          decided by zones; 1 of 2 operations prove it by themselves
          ops [0], nodes n2, 1000000000 ns to 1100000000 ns
    "#]],
    );
}

#[test]
fn a_value_can_be_replaced_by_one_compare_and_set_only() {
    check(
        cas_register(),
        "
        1.0 0@n1 invoke write 1
        1.1 0@n1 ok write 1
        2.0 0@n1 invoke cas 1>2
        2.1 1@n2 invoke cas 1>3
        2.2 0@n1 ok cas 1>2
        2.3 1@n2 ok cas 1>3
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            nonlinearizable: process 0 on n1 set 1 to 2 successfully at 2.000 s and process 1 on n2 set 1 to 3 successfully at 2.100 s, but 1 was there only once
              1.000 s to 1.100 s: process 0 on n1: write 1: ok
              2.000 s to 2.200 s: process 0 on n1: cas [1 2]: ok
              2.100 s to 2.300 s: process 1 on n2: cas [1 3]: ok
              decided by zones; 3 of 3 operations prove it by themselves
              ops [0, 2, 3], nodes n1 n2, 1000000000 ns to 2300000000 ns
        "#]],
    );
}

#[test]
fn a_value_that_was_there_twice_is_not_said_to_have_been_there_once() {
    let text = "
        1.0 0@n1 invoke write 1
        1.1 4@n1 invoke write 1
        2.0 1@n1 invoke cas 1>2
        2.1 2@n2 invoke cas 1>3
        2.2 3@n3 invoke cas 1>4
        3.0 1@n1 ok cas 1>2
        3.1 2@n2 ok cas 1>3
        3.2 3@n3 ok cas 1>4
        3.3 0@n1 ok write 1
        3.4 4@n1 ok write 1";
    let finding = finish(&history(text), cas_register());
    let summary = &finding.anomalies[0].summary;
    assert!(summary.starts_with("no order of these 5 operations explains"), "{summary}");
}

#[test]
fn a_stale_compare_and_set_is_told_as_one() {
    check(
        cas_register(),
        "
        1.0 0@n1 invoke write 1
        1.1 0@n1 ok write 1
        2.0 0@n1 invoke cas 1>2
        2.2 0@n1 ok cas 1>2
        2.5 1@n2 invoke cas 1>3
        2.6 1@n2 ok cas 1>3
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            stale-read: process 1 on n2 set 1 to 3 successfully at 2.500 s, but process 0 on n1 had set 1 to 2 by 2.200 s and nothing wrote 1 again
              1.000 s to 1.100 s: process 0 on n1: write 1: ok
              2.000 s to 2.200 s: process 0 on n1: cas [1 2]: ok
              2.500 s to 2.600 s: process 1 on n2: cas [1 3]: ok
              stale by at least 300 ms, 1 newer value had been written
              decided by zones; 3 of 3 operations prove it by themselves
              ops [0, 2, 4], nodes n1 n2, 1000000000 ns to 2600000000 ns
        "#]],
    );
}

#[test]
fn what_has_no_plain_shape_is_listed() {
    // Two writes of each value, in any order, do not make 1, 2, 1, 2, 1.
    check_register(
        "
        1.0 0@n1 invoke write 1
        1.1 1@n2 invoke write 1
        1.2 2@n3 invoke write 2
        1.3 3@n1 invoke write 2
        2.0 4@n2 invoke read nil
        2.1 4@n2 ok read 1
        2.2 4@n2 invoke read nil
        2.3 4@n2 ok read 2
        2.4 4@n2 invoke read nil
        2.5 4@n2 ok read 1
        2.6 4@n2 invoke read nil
        2.7 4@n2 ok read 2
        2.8 4@n2 invoke read nil
        2.9 4@n2 ok read 1
        3.0 0@n1 ok write 1
        3.1 1@n2 ok write 1
        3.2 2@n3 info write 2 error=timeout
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            nonlinearizable: no order of these 9 operations explains process 4 on n2 reading 1 at 2.900 s
              1.000 s to 3.000 s: process 0 on n1: write 1: ok
              1.100 s to 3.100 s: process 1 on n2: write 1: ok
              1.200 s to 3.200 s: process 2 on n3: write 2: info (timeout)
              1.300 s to the end: process 3 on n1: write 2: info
              2.000 s to 2.100 s: process 4 on n2: read 1: ok
              2.200 s to 2.300 s: process 4 on n2: read 2: ok
              2.400 s to 2.500 s: process 4 on n2: read 1: ok
              2.600 s to 2.700 s: process 4 on n2: read 2: ok
              2.800 s to 2.900 s: process 4 on n2: read 1: ok
              tried: write of 1 by process 0, read of 1 by process 4, write of 2 by process 2, read of 2 by process 4, write of 1 by process 1, read of 1 by process 4, write of 2 by process 3, read of 2 by process 4; then the register holds 2, which leaves no read of 1 by process 4 until 2.900 s
              tried: write of 1 by process 0, read of 1 by process 4, write of 2 by process 2, read of 2 by process 4, write of 1 by process 1, read of 1 by process 4; then the register holds 1, which leaves no read of 2 by process 4 until 2.700 s
              tried: write of 1 by process 0, read of 1 by process 4, write of 2 by process 3, read of 2 by process 4, write of 1 by process 1, read of 1 by process 4; then the register holds 1, which leaves no read of 2 by process 4 until 2.700 s
              tried: write of 2 by process 2, write of 1 by process 0, read of 1 by process 4, write of 2 by process 3, read of 2 by process 4, write of 1 by process 1, read of 1 by process 4; then the register holds 1, which leaves no read of 2 by process 4 until 2.700 s
              tried: write of 1 by process 0, write of 1 by process 1, read of 1 by process 4, write of 2 by process 2, read of 2 by process 4; then the register holds 2, which leaves no read of 1 by process 4 until 2.500 s
              tried: write of 1 by process 0, write of 1 by process 1, read of 1 by process 4, write of 2 by process 3, read of 2 by process 4; then the register holds 2, which leaves no read of 1 by process 4 until 2.500 s
              and 8 more orders that fail as well
              decided by search; 9 of 9 operations prove it by themselves
              ops [0, 1, 2, 3, 4, 6, 8, 10, 12], nodes n1 n2 n3, 1000000000 ns to 3100000000 ns
        "#]],
    );
}

#[test]
fn a_failed_compare_and_set_is_evidence_only_where_the_model_says_so() {
    let text = "
        1.0 0@n1 invoke write 1
        1.1 0@n1 ok write 1
        1.2 0@n1 invoke cas 1>2
        1.3 0@n1 fail cas 1>2 error=precondition-failed
        1.4 0@n1 invoke cas 1>2
        1.5 0@n1 fail cas 1>2 error=connection-refused";
    check(
        cas_register(),
        text,
        expect![[r#"
        valid: 1 of 1 keys are linearizable
    "#]],
    );
    check(
        with_evidence(),
        text,
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            nonlinearizable: no order of these 2 operations explains process 0 on n1 failing to set 1 to 2 at 1.300 s
              1.000 s to 1.100 s: process 0 on n1: write 1: ok
              1.200 s to 1.300 s: process 0 on n1: cas [1 2]: fail (precondition-failed)
              tried: write of 1 by process 0; then the register holds 1, which leaves no cas failing on 1 by process 0 until 1.300 s
              decided by search; 2 of 2 operations prove it by themselves
              ops [0, 2], nodes n1, 1000000000 ns to 1300000000 ns
        "#]],
    );
}

#[test]
fn nil_is_an_observation_unless_the_model_says_wildcard() {
    let text = "
        0 0 invoke write 1
        0 0 ok write 1
        0 1 invoke read nil
        0 1 ok read nil";
    check_register(
        text,
        expect![[r#"
        invalid: 1 of 1 keys are not linearizable
        stale-read: process 1 read nil at event 2, but the write of 1 by process 0 had completed at event 1 and nothing emptied it
          event 0 to event 1: process 0: write 1: ok
          event 2 to event 3: process 1: read nil: ok
          stale, 1 newer value had been written
          decided by zones; 2 of 2 operations prove it by themselves
          ops [0, 2], nodes , 0 ns to 0 ns
    "#]],
    );
    let wildcard = RegisterModel { nil_is_wildcard: true, ..RegisterModel::REGISTER };
    check(
        wildcard,
        text,
        expect![[r#"
        valid: 1 of 1 keys are linearizable
    "#]],
    );
}

#[test]
fn the_initial_value_is_the_models() {
    let text = "
        1.0 0@n1 invoke read nil
        1.1 0@n1 ok read 0";
    let zero = RegisterModel { initial: Value::Int(0), ..RegisterModel::REGISTER };
    check(
        zero,
        text,
        expect![[r#"
        valid: 1 of 1 keys are linearizable
    "#]],
    );
    check_register(
        text,
        expect![[r#"
        invalid: 1 of 1 keys are not linearizable
        nonlinearizable: process 0 on n1 read 0 at 1.000 s, but nothing had written 0 by then
          1.000 s to 1.100 s: process 0 on n1: read 0: ok
          decided by zones; 1 of 1 operations prove it by themselves
          ops [0], nodes n1, 1000000000 ns to 1100000000 ns
    "#]],
    );
}

#[test]
fn values_that_are_no_numbers_are_compared_as_text() {
    check_register(
        "
        1.0 0@n1 invoke write a key=x
        1.1 0@n1 ok write a key=x
        1.2 0@n1 invoke write b key=x
        1.3 0@n1 ok write b key=x
        1.4 1@n2 invoke read nil key=x
        1.5 1@n2 ok read a key=x
        ",
        expect![[r#"
            invalid: 1 of 1 keys are not linearizable
            stale-read of key x: process 1 on n2 read "a" at 1.400 s, but the write of "b" by process 0 on n1 had completed at 1.300 s and nothing wrote "a" again
              1.000 s to 1.100 s: process 0 on n1: write "a": ok
              1.200 s to 1.300 s: process 0 on n1: write "b": ok
              1.400 s to 1.500 s: process 1 on n2: read "a": ok
              stale by at least 100 ms, 1 newer value had been written
              decided by zones; 3 of 3 operations prove it by themselves
              ops [0, 2, 4], nodes n1 n2, 1000000000 ns to 1500000000 ns
        "#]],
    );
}

#[test]
fn an_operation_that_the_model_lacks_makes_its_key_unknown() {
    check_register(
        "
        1.0 0@n1 invoke cas 1>2 key=1
        1.1 0@n1 ok cas 1>2 key=1
        1.2 0@n1 invoke read nil key=2
        1.3 0@n1 ok read nil key=2
        ",
        expect![[r#"
            unknown: 1 of 2 keys are linearizable; 1 undecided, first key 1: the operation `cas` of index 0 is not one of this model's (read, write)
        "#]],
    );
    check(
        cas_register(),
        "
        1.0 0@n1 invoke cas 5
        1.1 0@n1 ok cas 5
        ",
        expect![[r#"
            unknown: 0 of 1 keys are linearizable; 1 undecided, first the register: the cas of index 0 has the value 5, expected [from, to]
        "#]],
    );
}

#[test]
fn many_violations_are_explained_up_to_a_bound_and_counted() {
    let mut text = String::new();
    for key in 0..25 {
        for line in ["0 invoke write 1", "0 ok write 1", "1 invoke read nil", "1 ok read nil"] {
            text += &format!("1 {line} key={key}\n");
        }
    }
    let finding = finish(&history(&text), RegisterModel::REGISTER);
    assert_eq!(finding.why, "25 of 25 keys are not linearizable (20 are explained)");
    assert_eq!(finding.figures["violated-keys"], 25.0);
    let keys: Vec<String> = finding.anomalies.into_iter().filter_map(|a| a.key).collect();
    assert_eq!(keys, (0..20).map(|key| key.to_string()).collect::<Vec<_>>());
}
