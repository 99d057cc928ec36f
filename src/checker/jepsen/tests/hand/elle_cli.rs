//! The models that elle-cli knows besides those of Elle and Knossos.

use expect_test::{Expect, expect};

use super::super::*;
use crate::checker::jepsen::{BANK, COMMENTS, COUNTER, LONG_FORK, SEQUENTIAL, SET, SET_FULL};

fn check(model: &ModelKind, text: &str, expected: Expect) {
    expected.assert_eq(&told(&judge(model, text)));
}

fn linearizable() -> ModelOptions {
    ModelOptions { consistency_models: vec!["linearizable".to_owned()], ..ModelOptions::default() }
}

const ADDED: &str = "
    1.0 0 invoke add 1
    1.1 0 ok add 1
    1.2 1 invoke add 2
    1.3 1 info add 2
    1.4 0 invoke add 3
    1.5 0 fail add 3";

#[test]
fn a_set_whose_last_read_has_all_is_valid() {
    let text = format!("{ADDED}\n2.0 0 invoke read nil\n2.1 0 ok read [1,2]");
    check(&SET, &text, expect!["valid: attempts 3, acknowledged 1, reads 1, recovered 1"]);
}

#[test]
fn a_set_that_lost_one_element_and_gained_another_is_invalid() {
    let text = format!("{ADDED}\n2.0 0 invoke read nil\n2.1 0 ok read [2,9]");
    check(
        &SET,
        &text,
        expect![[r#"
        invalid: 1 lost, 1 unexpected of attempts 3, acknowledged 1, reads 1, recovered 1
        lost [0, 6]: the last read (process 0, begun at 2.000 s) lacks 1, whose add by process 0 was acknowledged at 1.100 s
        unexpected [6]: the last read (process 0, begun at 2.000 s) has 9, which nobody added"#]],
    );
}

#[test]
fn only_the_last_read_of_a_set_counts() {
    let reads =
        "2.0 0 invoke read nil\n2.1 0 ok read [9]\n2.2 0 invoke read nil\n2.3 0 ok read [1]";
    let finding = judge(&SET, &format!("{ADDED}\n{reads}"));
    assert_eq!(finding.verdict, Verdict::Valid, "{}", finding.why);
}

#[test]
fn a_set_that_was_never_read_is_unknown() {
    check(&SET, ADDED, expect!["unknown: the set was never read, so nobody knows what it held"]);
}

#[test]
fn an_add_that_overlaps_the_last_read_proves_nothing() {
    let text = "1 0 invoke read nil\n2 1 invoke add 5\n3 1 ok add 5\n4 0 ok read []";
    check(
        &SET,
        text,
        expect!["unknown: 5 was added at 3.000 s, after the last read began, and is not in it"],
    );
}

#[test]
fn an_operation_that_the_model_does_not_know_makes_it_unknown() {
    let text = format!("{ADDED}\n1.8 4 invoke remove 1\n1.9 4 ok remove 1\n2 0 ok read [2]");
    check(&SET, &text, expect!["unknown: event 7: process 4 did `remove`; set knows add, read"]);
}

#[test]
fn other_names_for_the_operations_may_be_given() {
    let ops = vec!["insert".to_owned(), "scan".to_owned()];
    let options = ModelOptions { ops, ..ModelOptions::default() };
    let text = "1 0 invoke insert 1\n2 0 ok insert 1\n3 0 invoke scan nil\n4 0 ok scan []";
    assert_eq!(judge_with(&SET, &options, text).verdict, Verdict::Invalid);
    let ops = vec!["insert".to_owned()];
    let refused = (SET.checkers)(&ModelOptions { ops, ..options }).err();
    let expected = "ops: expected 2 names, for add,read of set in this order, found 1";
    assert_eq!(refused.as_deref(), Some(expected));
}

#[test]
fn each_key_has_a_set_of_its_own() {
    let text = "
        1 0 invoke add 1 key=a
        2 0 ok add 1 key=a
        3 0 invoke add 1 key=b
        4 0 ok add 1 key=b
        5 0 invoke read nil key=a
        6 0 ok read [1] key=a
        7 0 invoke read nil key=b
        8 0 ok read [] key=b";
    check(
        &SET,
        text,
        expect![[r#"
        invalid: 1 lost of attempts 2, acknowledged 2, reads 2
        lost [2, 6]: key b: the last read (process 0, begun at 7.000 s) lacks 1, whose add by process 0 was acknowledged at 4.000 s"#]],
    );
}

#[test]
fn an_element_that_comes_late_is_stale_and_one_that_goes_is_lost() {
    let text = "
        1.000 0 invoke add 1
        1.100 0 ok add 1
        1.200 1 invoke read nil
        1.300 1 ok read []
        1.400 1 invoke read nil
        1.500 1 ok read [1]";
    check(
        &SET_FULL,
        text,
        expect![
            "valid: reads 2, attempts 1, worst-stale-ms 100, stale 1, stable 1; element 1 was missed for 100.000 ms: process 0 knew of it at 1.100 s; the read begun by process 1 at 1.200 s lacks it"
        ],
    );
    expect![[r#"
        invalid: 1 stale of reads 2, attempts 1, worst-stale-ms 100, stable 1; element 1 was missed for 100.000 ms: process 0 knew of it at 1.100 s; the read begun by process 1 at 1.200 s lacks it
        stale [0, 2, 4]: element 1 was missed for 100.000 ms: process 0 knew of it at 1.100 s; the read begun by process 1 at 1.200 s lacks it"#]].assert_eq(&told(&judge_with(&SET_FULL, &linearizable(), text)));
    let gone = format!("{text}\n2.0 2 invoke read nil\n2.1 2 ok read []");
    check(
        &SET_FULL,
        &gone,
        expect![[r#"
        invalid: 1 lost of reads 3, attempts 1, stable 0
        lost [0, 4, 6]: element 1 is lost: process 0 knew of it at 1.100 s; the last read that has it was begun by process 1 at 1.400 s; the read begun by process 2 at 2.000 s lacks it"#]],
    );
}

#[test]
fn a_read_that_began_before_the_element_was_known_may_lack_it() {
    let text = "
        1.0 1 invoke read nil
        1.1 0 invoke add 1
        1.2 0 ok add 1
        1.3 1 ok read []";
    check(&SET_FULL, text, expect!["unknown: no element was in a read that began after its add"]);
}

#[test]
fn an_element_twice_in_one_read_is_a_duplicate() {
    let text = "1 0 invoke add 1\n2 0 ok add 1\n3 0 invoke read nil\n4 0 ok read [1,1]";
    check(
        &SET_FULL,
        text,
        expect![[r#"
        invalid: 1 duplicated of reads 1, attempts 1, stable 1
        duplicated [2]: process 0 read 1 twice in one read at 4.000 s"#]],
    );
}

#[test]
fn set_full_needs_to_know_which_read_began_when() {
    let text = "1 0 invoke add 1\n2 0 ok add 1\n4 1 ok read [1]";
    check(&SET_FULL, text, expect!["unknown: event 2: process 1 completes what it never began"]);
    let text = "1 0 invoke add 1\n2 0 invoke read nil\n3 0 ok read []\n4 0 ok add 1";
    check(
        &SET_FULL,
        text,
        expect![
            "unknown: event 1: process 0 begins while its operation of event 0 is open; event 3: process 0 completes what it never began"
        ],
    );
}

const COUNTED: &str = "
    1.0 0 invoke add 5
    1.1 0 ok add 5
    1.2 1 invoke add 3
    1.3 2 invoke read nil";

#[test]
fn a_counter_may_or_may_not_show_an_add_under_way() {
    for value in [5, 8] {
        let finding = judge(&COUNTER, &format!("{COUNTED}\n1.4 2 ok read {value}"));
        assert_eq!(finding.verdict, Verdict::Valid, "{value}: {}", finding.why);
    }
    check(
        &COUNTER,
        &format!("{COUNTED}\n1.4 2 ok read 4"),
        expect![[r#"
        invalid: 1 counter-out-of-bounds of adds 2, reads 1
        counter-out-of-bounds [3]: process 2 read 4 at 1.400 s, but the adds acknowledged before it began sum to 5; expected 5 to 8"#]],
    );
    check(
        &COUNTER,
        &format!("{COUNTED}\n1.4 2 ok read 9"),
        expect![[r#"
        invalid: 1 counter-out-of-bounds of adds 2, reads 1
        counter-out-of-bounds [3]: process 2 read 9 at 1.400 s, but the adds that can have been sum to 8; expected 5 to 8"#]],
    );
}

#[test]
fn a_read_that_shows_an_add_that_fails_later_is_out_of_bounds_then() {
    let seen = format!("{COUNTED}\n1.4 2 ok read 8");
    check(
        &COUNTER,
        &format!("{seen}\n1.5 1 fail add 3"),
        expect![[r#"
        invalid: 1 counter-out-of-bounds of adds 2, reads 1
        counter-out-of-bounds [3]: process 2 read 8 at 1.400 s, but the adds that can have been sum to 5; expected 5 to 5"#]],
    );
    assert_eq!(judge(&COUNTER, &format!("{seen}\n1.5 1 info add 3")).verdict, Verdict::Valid);
}

#[test]
fn an_add_that_is_answered_by_another_makes_a_counter_unknown() {
    check(
        &COUNTER,
        "1 0 invoke add 1\n2 0 ok add 2",
        expect!["unknown: event 1: process 0 asked to add 1, and was told that 2 was added"],
    );
    check(
        &COUNTER,
        "1 0 invoke add much\n2 0 ok add much",
        expect![[r#"unknown: event 0: an add of "much"; expected a number, and none below 0"#]],
    );
    check(
        &COUNTER,
        "1 0 invoke add nil\n2 0 ok add 1",
        expect!["unknown: event 0: an add of null; expected a number, and none below 0"],
    );
}

#[test]
fn a_counter_that_goes_down_is_none_of_this_model() {
    check(
        &COUNTER,
        "1 0 invoke add -2\n2 0 ok add -2",
        expect!["unknown: event 0: an add of -2; expected a number, and none below 0"],
    );
    check(
        &COUNTER,
        "1 0 invoke read nil\n2 0 ok read nil",
        expect!["unknown: event 1: a read of null, expected a number"],
    );
}

const FIRST: &str = r#"1 0 ok read {"0":10,"1":0}"#;

#[test]
fn a_bank_whose_reads_sum_to_the_first_is_valid() {
    let text = format!(
        r#"{FIRST}
        2 1 invoke transfer {{"from":0,"to":1,"amount":4}}
        3 1 ok transfer {{"from":0,"to":1,"amount":4}}
        4 0 ok read {{"0":6,"1":4}}"#
    );
    check(&BANK, &text, expect!["valid: reads 2, transfers 1"]);
    check(&BANK, "1 0 ok read [10,0]\n2 0 ok read [3,7]", expect!["valid: reads 2"]);
}

#[test]
fn each_way_in_which_a_bank_is_wrong_has_its_name() {
    let text = format!(
        r#"{FIRST}
        2 0 ok read {{"0":6,"1":5}}
        3 0 ok read {{"0":10}}
        4 0 ok read {{"0":6,"1":null}}
        5 0 ok read {{"0":6,"1":4,"7":0}}
        6 0 ok read {{"0":11,"1":-1}}
        7 0 ok read {{"0":4}}"#
    );
    check(
        &BANK,
        &text,
        expect![[r#"
        invalid: 2 wrong-total, 1 nil-balance, 1 unexpected-key, 1 negative-value of reads 7
        wrong-total [1]: process 0 read at 2.000 s a total of 11 (+1) instead of 10
          all that it read: 0=6 1=5
        wrong-total [6]: process 0 read at 7.000 s a total of 4 (-6) instead of 10, without account 1
          all that it read: 0=4
        nil-balance [3]: process 0 read at 4.000 s no balance of account 1
          all that it read: 0=6 1=nil
        unexpected-key [4]: process 0 read at 5.000 s accounts that there are not: 7
          all that it read: 0=6 1=4 7=0
        negative-value [5]: process 0 read at 6.000 s a balance below 0: -1 on account 1
          all that it read: 0=11 1=-1"#]],
    );
}

#[test]
fn the_accounts_of_a_bank_may_be_given_and_debts_allowed() {
    let init = serde_json::json!({"0": 10, "1": 1});
    let options = ModelOptions { init: Some(init), ..ModelOptions::default() };
    let finding = judge_with(&BANK, &options, FIRST);
    assert_eq!(finding.verdict, Verdict::Invalid, "{}", finding.why);
    let debt = format!("{FIRST}\n2 0 ok read {{\"0\":11,\"1\":-1}}");
    assert_eq!(judge_with(&BANK, &ModelOptions::default(), &debt).verdict, Verdict::Invalid);
    let options = ModelOptions { negative_balances: true, ..ModelOptions::default() };
    assert_eq!(judge_with(&BANK, &options, &debt).verdict, Verdict::Valid);
    let wrong = format!("{debt}\n3 0 ok read {{\"0\":11,\"1\":-2}}");
    assert_eq!(judge_with(&BANK, &options, &wrong).verdict, Verdict::Invalid);
    let init = serde_json::json!("much");
    let refused =
        (BANK.checkers)(&ModelOptions { init: Some(init), ..ModelOptions::default() }).err();
    assert_eq!(refused.as_deref(), Some("init: expected {account: balance, ...}"));
}

#[test]
fn a_bank_read_as_something_else_is_unknown() {
    check(
        &BANK,
        "1 0 ok read 5\n2 0 ok read {\"0\":1.5}",
        expect![[
            r#"unknown: event 0: a read of 5, expected {account balance ...}; event 1: a read of {"0":1.5}, expected {account balance ...}"#
        ]],
    );
}

const TWO_WRITES: &str = "
    1.0 0 invoke write 1
    1.1 0 ok write 1
    1.2 1 invoke write 2
    1.3 2 invoke read nil";

#[test]
fn who_sees_the_second_comment_sees_the_first() {
    for seen in ["[]", "[1]", "[1,2]", "[1,2,2]", "[7,1]"] {
        let finding = judge(&COMMENTS, &format!("{TWO_WRITES}\n1.4 2 ok read {seen}"));
        assert_eq!(finding.verdict, Verdict::Valid, "{seen}: {}", finding.why);
    }
    check(
        &COMMENTS,
        &format!("{TWO_WRITES}\n1.4 2 ok read [2]"),
        expect![[r#"
        invalid: 1 causal-reverse of writes 1, reads 1
        causal-reverse [0, 2, 3]: process 2 read 2 at 1.400 s, whose write was begun by process 1 at 1.200 s, without 1, which had been written before (the first by process 0 at 1.100 s)"#]],
    );
}

#[test]
fn a_comment_seen_twice_stands_for_no_other() {
    let text = "
        1 0 invoke write 1
        2 0 ok write 1
        3 1 invoke write 2
        4 1 ok write 2
        5 2 invoke write 3
        6 3 ok read [1,1,3]";
    check(
        &COMMENTS,
        text,
        expect![[r#"
        invalid: 1 causal-reverse of writes 2, reads 1
        causal-reverse [2, 4, 5]: process 3 read 3 at 6.000 s, whose write was begun by process 2 at 5.000 s, without 2, which had been written before (the first by process 1 at 4.000 s)"#]],
    );
}

#[test]
fn a_value_written_twice_or_read_too_early_makes_it_unknown() {
    check(
        &COMMENTS,
        &format!("{TWO_WRITES}\n1.4 3 invoke write 1"),
        expect!["unknown: event 4: value 1 is written twice; expected each once"],
    );
    check(
        &COMMENTS,
        &format!("{TWO_WRITES}\n1.4 2 ok read [1,3]\n1.5 3 invoke write 3"),
        expect!["unknown: event 5: value 3 is read before; expected each once"],
    );
}

#[test]
fn two_reads_that_saw_two_writes_in_opposite_orders_are_a_long_fork() {
    let fork = r#"
        1 0 ok txn [["r",0,1],["r",1,null]]
        2 1 ok txn [["r",1,1],["r",0,null]]
        3 1 ok txn [["r",1,1],["r",0,1]]"#;
    check(
        &LONG_FORK,
        fork,
        expect![[r#"
        invalid: 1 long-fork of reads 3, late-reads 1
        long-fork [0, 1]: process 0 read at 1.000 s that key 0 was written and 1 not yet; process 1 read at 2.000 s that 1 was written and 0 not yet"#]],
    );
    let order = r#"
        1 0 ok read [["r",0,null],["r",1,null]]
        2 0 ok read [["r",0,1],["r",1,null]]
        3 1 ok read [["r",1,null],["r",0,1]]
        4 1 ok read [["r",1,1],["r",0,1]]"#;
    check(&LONG_FORK, order, expect!["valid: reads 4, early-reads 1, late-reads 1"]);
}

#[test]
fn a_key_that_is_read_twice_counts_once() {
    let text = r#"
        1 0 ok read [["r",0,1],["r",1,null],["r",0,1]]
        2 1 ok read [["r",0,1],["r",1,1]]
        3 1 ok read [["r",0,null],["r",1,null]]"#;
    check(&LONG_FORK, text, expect!["valid: reads 3, late-reads 1, early-reads 1"]);
    let fork = format!("{text}\n4 2 ok read [[\"r\",1,1],[\"r\",0,null]]");
    assert_eq!(judge(&LONG_FORK, &fork).verdict, Verdict::Invalid);
}

#[test]
fn long_fork_refuses_what_it_cannot_compare() {
    let twice = r#"1 0 invoke write [["w",0,1]]
        2 1 invoke write [["w",0,2]]"#;
    check(&LONG_FORK, twice, expect!["unknown: event 1: key 0 is written a second time"]);
    let sizes = r#"1 0 ok read [["r",0,1],["r",1,1]]
        2 1 ok read [["r",0,1]]
        3 1 ok read [["r",0,2],["r",1,1]]"#;
    check(&LONG_FORK, "1 0 ok read 7", expect!["unknown: event 0: 7, expected [[r k v] ...]"]);
    check(
        &LONG_FORK,
        r#"1 0 invoke txn [["w",0,1],["r",1,null]]"#,
        expect!["unknown: event 0: expected one write, or reads alone"],
    );
    check(
        &LONG_FORK,
        r#"1 0 invoke txn [["w",0,1],["w",1,1]]"#,
        expect!["unknown: event 0: expected one write, or reads alone"],
    );
    check(
        &LONG_FORK,
        sizes,
        expect![
            "unknown: event 1: a read of 1 keys, where the first had 2; event 2: key 0 was read as 1 and as 2"
        ],
    );
}

#[test]
fn who_sees_a_later_subkey_sees_the_earlier_ones() {
    let reads = |seen: &str| format!("1 1 invoke read [0,null]\n2 1 ok read [0,{seen}]");
    for seen in [r#"["0_1","0_0"]"#, r#"[null,"0_0"]"#, "[null,null]", "[]"] {
        let finding = judge(&SEQUENTIAL, &reads(seen));
        assert_eq!(finding.verdict, Verdict::Valid, "{seen}: {}", finding.why);
    }
    check(
        &SEQUENTIAL,
        &reads(r#"[null,"0_2","0_1",null]"#),
        expect![[r#"
        invalid: 1 nonsequential of some-reads 1
        nonsequential [0]: process 1 read at 2.000 s that "0_2" of key 0 was there, and then that the subkey 2 before it was not, though it was inserted earlier"#]],
    );
    check(
        &SEQUENTIAL,
        "1 1 ok read 7",
        expect!["unknown: event 0: a read of 7, expected [key [last ... first]]"],
    );
}

#[test]
fn subkeys_are_those_of_the_key_that_a_history_names() {
    let reads = |seen: &str| format!("1 1 ok read {seen} key=7");
    check(&SEQUENTIAL, &reads("[2,1]"), expect!["valid: all-reads 1"]);
    check(&SEQUENTIAL, &reads("[null,null]"), expect!["valid: none-reads 1"]);
    check(&SEQUENTIAL, &reads("[null,1]"), expect!["valid: some-reads 1"]);
    check(
        &SEQUENTIAL,
        &reads("[2,null]"),
        expect![[r#"
            invalid: 1 nonsequential of some-reads 1
            nonsequential [0]: key 7: process 1 read at 1.000 s that 2 of key 7 was there, and then that the subkey 1 before it was not, though it was inserted earlier"#]],
    );
}

#[test]
fn an_empty_history_is_valid_where_jepsen_says_so() {
    for model in [BANK, COMMENTS, COUNTER, LONG_FORK, SEQUENTIAL] {
        let finding = judge(&model, "");
        let told = (finding.verdict, finding.why.as_str());
        assert_eq!(told, (Verdict::Valid, "nothing to judge"), "{}", model.name);
    }
    for model in [SET, SET_FULL] {
        let finding = judge(&model, "1 0 invoke read nil");
        assert_eq!(finding.verdict, Verdict::Unknown, "{}", model.name);
    }
}
