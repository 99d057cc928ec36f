//! General forms: epochs, staleness, errors.

use expect_test::{Expect, expect};

use super::super::*;
use crate::checker::jepsen::{EPOCHS, ERRORS, PROGRESS, STALENESS};
use crate::op::Process;

fn check(model: &ModelKind, text: &str, expected: Expect) {
    expected.assert_eq(&told(&judge(model, text)));
}

fn consistency(model: &str) -> ModelOptions {
    ModelOptions { consistency_models: vec![model.to_owned()], ..ModelOptions::default() }
}

const CLAIMS: &str = r#"
    1 0 invoke claim nil
    2 0 ok claim [1,"n1"]
    3 1 invoke claim nil
    4 1 ok claim [2,"n2"]"#;

#[test]
fn epochs_grow_and_have_one_leader_each() {
    let late = r#"
        5 2 invoke observe nil
        6 2 ok observe [1,"n1"]"#;
    let text = format!("{CLAIMS}{late}");
    check(&EPOCHS, &text, expect!["valid: claims 2, highest-epoch 2, observations 1"]);
    expect![[r#"
        invalid: 1 epoch-went-back of claims 2, highest-epoch 2, observations 1
        epoch-went-back [2, 4]: process 2 got epoch 1 at 6.000 s, by an operation begun at 5.000 s; process 1 had got epoch 2 at 4.000 s"#]].assert_eq(&told(&judge_with(&EPOCHS, &consistency("linearizable"), &text)));
}

#[test]
fn two_leaders_of_one_epoch_and_an_epoch_that_goes_back_are_told() {
    let two = r#"
        5 2 invoke observe nil
        6 2 ok observe [2,"n3"]"#;
    check(
        &EPOCHS,
        &format!("{CLAIMS}{two}"),
        expect![[r#"
        invalid: 1 two-leaders of claims 2, highest-epoch 2, observations 1
        two-leaders [2, 4]: epoch 2 has two leaders: "n2", as process 1 was answered at 4.000 s, and "n3", as process 2 was at 6.000 s"#]],
    );
    let back = r#"
        5 0 invoke claim nil
        6 0 ok claim [1,"n1"]"#;
    check(
        &EPOCHS,
        &format!("{CLAIMS}{back}"),
        expect![[r#"
        invalid: 1 epoch-went-back of claims 3, highest-epoch 2
        epoch-went-back [2, 4]: process 0 got epoch 1 at 6.000 s, by an operation begun at 5.000 s; process 1 had got epoch 2 at 4.000 s"#]],
    );
    let overlapping = r#"
        1 0 invoke claim nil
        2 1 invoke claim nil
        3 1 ok claim [2,"n2"]
        4 0 ok claim [1,"n1"]"#;
    assert_eq!(judge(&EPOCHS, overlapping).verdict, Verdict::Valid);
    check(
        &EPOCHS,
        "1 0 invoke claim nil\n2 0 ok claim 7",
        expect!["unknown: event 1: 7, expected [epoch leader]"],
    );
}

const REPLACED: &str = "
    1.000 0 invoke write 1
    1.100 0 ok write 1
    1.200 0 invoke write 2
    1.300 0 ok write 2
    1.700 1 invoke read nil
    1.800 1 ok read 1";

#[test]
fn a_read_is_as_stale_as_its_value_was_replaced_before_it_began() {
    check(
        &STALENESS,
        REPLACED,
        expect![
            "valid: writes 2, reads 1, stale-reads 1; process 1 read 1 by a read begun at 1.700 s, at least 400.000 ms after it had been replaced by 2 (known to process 0 at 1.300 s)"
        ],
    );
    let bounded =
        |ms| judge_with(&STALENESS, &consistency(&format!("bounded-staleness:{ms}")), REPLACED);
    assert_eq!(bounded(400).verdict, Verdict::Valid);
    expect![[r#"
        invalid: 1 too-stale of writes 2, reads 1, stale-reads 1; process 1 read 1 by a read begun at 1.700 s, at least 400.000 ms after it had been replaced by 2 (known to process 0 at 1.300 s)
        too-stale [2, 4]: process 1 read 1 by a read begun at 1.700 s, at least 400.000 ms after it had been replaced by 2 (known to process 0 at 1.300 s)"#]].assert_eq(&told(&bounded(399)));
    let refused = (STALENESS.checkers)(&consistency("bounded-staleness:much")).err();
    let expected =
        "consistency: expected bounded-staleness:MILLISECONDS, found `bounded-staleness:much`";
    assert_eq!(refused.as_deref(), Some(expected));
}

#[test]
fn a_write_that_overlaps_another_does_not_surely_replace_it() {
    let text = "
        1.0 0 invoke write 1
        1.1 1 invoke write 2
        1.2 1 ok write 2
        1.3 0 ok write 1
        9.0 2 invoke read nil
        9.1 2 ok read 2
        9.2 2 invoke read nil
        9.3 2 ok read nil";
    check(
        &STALENESS,
        text,
        expect![
            "valid: writes 2, reads 2, stale-reads 1; process 2 read nil by a read begun at 9.200 s, at least 8000.000 ms after it had been replaced by 2 (known to process 1 at 1.200 s)"
        ],
    );
}

#[test]
fn staleness_needs_values_that_are_written_once_and_before_they_are_read() {
    let twice = "1 0 invoke write 1\n2 0 ok write 1\n3 0 invoke write 1";
    check(&STALENESS, twice, expect!["unknown: event 2: a write of 1, which was there before"]);
    check(
        &STALENESS,
        "1 0 invoke read nil\n2 0 ok read 7",
        expect!["unknown: 7 was read at 2.000 s, and nobody had begun to write it"],
    );
}

const HEALED: &str = "
    1.0 0 invoke read nil
    2.0 1 invoke read nil
    2.5 nemesis strike f1 kill kvrocks1
    3.0 nemesis heal f1 kill kvrocks1
    3.5 nemesis phase recover
    4.0 2 invoke read nil
    5.0 0 ok read 1
    5.5 2 fail read nil
    6.0 1 info read nil
    6.5 3 invoke read nil
    6.9 2 invoke read nil
    8.0 0 invoke read nil
    9.0 0 ok read 1";

fn within(milliseconds: u64, text: &str) -> Finding {
    judge_with(&PROGRESS, &consistency(&format!("progress-within:{milliseconds}")), text)
}

#[test]
fn every_process_is_answered_in_time_while_no_fault_is_in_force() {
    check(
        &PROGRESS,
        HEALED,
        expect![
            "valid: answered 1, unanswered 3; counted from the nemesis's last event at 3.000 s"
        ],
    );
    assert_eq!(within(5000, HEALED).verdict, Verdict::Valid);
    expect![[r#"
        invalid: 3 no-progress of answered 1, unanswered 3; counted from the nemesis's last event at 3.000 s
        no-progress [1]: process 1, waiting since 3.000 s, had no answer by 5.400 s: more than 2.400 s
        no-progress [7]: process 2, waiting since 4.000 s, had no answer by 6.400 s: more than 2.400 s
        no-progress [11]: process 3, waiting since 6.500 s, had no answer by 8.900 s: more than 2.400 s"#]].assert_eq(&told(&within(2400, HEALED)));
    let refused = (PROGRESS.checkers)(&consistency("progress-within:soon")).err();
    let expected =
        "consistency: expected progress-within:MILLISECONDS, found `progress-within:soon`";
    assert_eq!(refused.as_deref(), Some(expected));
}

#[test]
fn a_wait_between_two_faults_counts_and_one_under_a_fault_does_not() {
    let text = "
        1.0 nemesis strike f1 kill n1
        1.5 0 invoke read nil
        8.0 nemesis heal f1 kill n1
        10.5 1 invoke read nil
        10.6 1 ok read 1
        11.0 nemesis strike f2 kill n1
        20.0 nemesis heal f2 kill n1
        20.1 0 ok read 1";
    assert_eq!(within(3000, text).verdict, Verdict::Valid);
    expect![[r#"
        invalid: 1 no-progress of answered 1, unanswered 0; counted from the nemesis's last event at 20.000 s
        no-progress [2]: process 0, waiting since 8.000 s, had no answer by 10.000 s: more than 2.000 s"#]].assert_eq(&told(&within(2000, text)));
    let under = text.rsplit_once("20.0").expect("a heal").0;
    expect!["unknown: the history ends with a fault in force"]
        .assert_eq(&told(&within(3000, under)));
}

#[test]
fn of_a_foreign_nemesis_only_what_comes_after_its_last_event_counts() {
    let text = "
        1.0 9 info start-partition nil
        1.5 0 invoke read nil
        5.0 9 info start-partition nil
        8.0 9 info stop-partition nil
        8.5 1 invoke read nil
        8.6 1 ok read 1
        9.5 0 ok read 1
        13.0 1 invoke read nil
        13.1 1 ok read 1";
    let mut events = crate::checker::text::history(text).events().to_vec();
    for event in events.iter_mut().filter(|event| event.process == Process::Client(9)) {
        event.process = Process::Nemesis;
    }
    let within = |milliseconds: u64| {
        let options = consistency(&format!("progress-within:{milliseconds}"));
        judge_events(&PROGRESS, &options, &events)
    };
    assert_eq!(within(2000).verdict, Verdict::Valid);
    expect![[r#"
        invalid: 1 no-progress of answered 2, unanswered 0; counted from the nemesis's last event at 8.000 s
        no-progress [1]: process 0, waiting since 8.000 s, had no answer by 9.000 s: more than 1.000 s"#]].assert_eq(&told(&within(1000)));
}

#[test]
fn processes_that_end_one_after_the_other_leave_their_wait_to_their_node() {
    let text = "
        1 0@n1 invoke read nil
        2 0@n1 ok read 1
        3 0@n1 invoke read nil
        3 1@n2 invoke read nil
        4 0@n1 info read nil
        4 1@n2 ok read nil
        5 2@n1 invoke read nil
        6 2@n1 info read nil
        7 4@n1 invoke read nil
        7 1@n2 invoke read nil
        8 4@n1 info read nil
        9 1@n2 ok read nil";
    assert_eq!(within(6000, text).verdict, Verdict::Valid);
    expect![[r#"
        invalid: 1 no-progress of answered 2, unanswered 2
        no-progress [2]: clients of n1, waiting since 3.000 s, had no answer by 7.000 s: more than 4.000 s
          their processes ended one after the other"#]].assert_eq(&told(&within(4000, text)));
}

#[test]
fn progress_cannot_be_told_without_times() {
    check(
        &PROGRESS,
        "0 0 invoke read nil\n0 0 ok read 1",
        expect!["unknown: the history tells no times"],
    );
}

#[test]
fn errors_are_counted_by_their_text_without_numbers() {
    let text = "
        1 0 invoke read nil
        2 0 info read nil error=timeout-after-1000-ms
        3 1 invoke read nil
        4 1 info read nil error=timeout-after-20-ms
        5 2 invoke read nil
        6 2 fail read nil";
    check(
        &ERRORS,
        text,
        expect![
            "valid: info 2, fail 1, different-errors 2, others 0; 2 times info `timeout-after-#-ms` (first: process 0, 2.000 s); 1 times fail `no reason told` (first: process 2, 6.000 s)"
        ],
    );
    check(
        &ERRORS,
        "1 0 invoke read nil\n2 0 ok read 1",
        expect!["valid: different-errors 0, others 0"],
    );
}

#[test]
fn the_time_to_the_first_ok_is_that_of_those_who_got_one() {
    let finding = judge(&PROGRESS, HEALED);
    let first_ok = |quantile: &str| finding.figures[&format!("first-ok-ms.{quantile}")];
    assert_eq!((first_ok("min"), first_ok("max")), (2_000.0, 2_000.0));
}

#[test]
fn of_very_many_different_errors_the_first_are_told_apart() {
    let mut text = String::new();
    let word = |number: usize| -> String {
        number.to_string().bytes().map(|digit| char::from(digit + b'a' - b'0')).collect()
    };
    for number in 0..1_005 {
        text += &format!("1 {number} fail read nil error={}\n", word(number));
    }
    text += &format!("2 0 fail read nil error={}\n", word(7));
    let finding = judge(&ERRORS, &text);
    assert_eq!((finding.figures["different-errors"], finding.figures["others"]), (1_000.0, 5.0));
    assert!(finding.why.contains("2 times fail `h`"), "{}", finding.why);
}

#[test]
fn what_was_found_before_the_time_ended_holds() {
    let finish = |text: &str| {
        let mut checker = (EPOCHS.checkers)(&ModelOptions::default()).expect("options").remove(0);
        for event in crate::checker::text::history(text).events() {
            checker.observe(event);
        }
        let gone = Budget { exhausted: &|| true, ..Budget::UNBOUNDED };
        checker.finish(&History::default(), &gone)
    };
    let right = finish(CLAIMS);
    assert_eq!(
        (right.verdict, &*right.why),
        (Verdict::Unknown, "out of time: 0 of 1 keys were settled")
    );
    let wrong = finish(&format!("{CLAIMS}\n5 2 invoke observe nil\n6 2 ok observe [2,\"n3\"]"));
    assert_eq!((wrong.verdict, wrong.anomalies.len()), (Verdict::Invalid, 1));
}
