//! What a person is told of good, bad and undecided histories.

use expect_test::expect;

use crate::checker::objects::Timed;
use crate::checker::objects::decide::{Decision, Method, by_search};
use crate::checker::objects::models::kv::{Kv, Operation};
use crate::checker::objects::models::{KV, MULTI_REGISTER};
use crate::checker::objects::rope::Piece;
use crate::checker::objects::search::Limits;
use crate::checker::text;
use crate::checker::{Budget, Finding, ModelKind, ModelOptions, Verdict};

pub(super) fn finding(model: &ModelKind, lines: &str, budget: &Budget) -> Finding {
    finding_with(model, &ModelOptions::default(), lines, budget)
}

fn finding_with(
    model: &ModelKind,
    options: &ModelOptions,
    lines: &str,
    budget: &Budget,
) -> Finding {
    let mut checkers = (model.checkers)(options).expect("good options");
    checkers[0].finish(&text::history(lines), budget)
}

/// The verdict, why, and each anomaly with its details.
pub(super) fn told(model: &ModelKind, lines: &str) -> String {
    told_with(model, &ModelOptions::default(), lines)
}

/// The same, under these options.
pub(super) fn told_with(model: &ModelKind, options: &ModelOptions, lines: &str) -> String {
    let finding = finding_with(model, options, lines, &Budget::UNBOUNDED);
    let mut told = format!("{}: {}\n", finding.verdict.name(), finding.why);
    for anomaly in finding.anomalies {
        told += &format!("{}: {}\n", anomaly.kind, anomaly.summary);
        for detail in anomaly.details {
            told += &format!("  {detail}\n");
        }
    }
    told
}

#[test]
fn a_string_that_was_put_together_in_time() {
    expect![[r#"
        valid: as kv, 2 of 2 objects are linearizable
    "#]]
    .assert_eq(&told(
        &KV,
        "0.1 0 invoke append a key=k
         0.2 1 invoke append b key=k
         0.3 1 ok append b key=k
         0.4 0 ok append a key=k
         0.5 2 invoke get nil key=other
         0.6 2 ok get nil key=other
         0.7 3 invoke get nil key=k
         0.8 3 ok get ba key=k",
    ));
}

#[test]
fn a_string_whose_parts_stand_the_wrong_way_round() {
    expect![[r#"
        invalid: as kv, 1 of 1 objects are not linearizable
        nonlinearizable: the get of "ba" by process 2 on n1 at 0.600 s cannot be on key k: after the append of "a" by process 0 on n1, the append of "b" by process 1 on n2, the value is "ab"
          (1) 0.100 s to 0.200 s: process 0 on n1: append of "a": ok
          (2) 0.300 s to 0.400 s: process 1 on n2: append of "b": ok
          (3) 0.500 s to 0.600 s: process 2 on n1: get of "ba": ok
          after (1) (2) the value is "ab", and (3), the get of "ba", cannot follow
    "#]]
    .assert_eq(&told(
        &KV,
        "0.1 0@n1 invoke append a key=k
         0.2 0@n1 ok append a key=k
         0.3 1@n2 invoke append b key=k
         0.4 1@n2 ok append b key=k
         0.5 2@n1 invoke get nil key=k
         0.6 2@n1 ok get ba key=k",
    ));
}

#[test]
fn transactions_that_saw_two_moments() {
    expect![[r#"
        invalid: as multi-register, 1 of 1 objects are not linearizable
        nonlinearizable: the transaction [read x = 1, read y = nil] by process 1 at 0.300 s cannot be: after the transaction [write x = 1, write y = 1] by process 0 (outcome unknown), x = 1, y = 1
          (1) 0.100 s to 0.400 s: process 0: transaction [write x = 1, write y = 1]: ok
          (2) 0.200 s to 0.300 s: process 1: transaction [read x = 1, read y = nil]: ok
          after (1) x = 1, y = 1, and (2), the transaction [read x = 1, read y = nil], cannot follow
    "#]]
    .assert_eq(&told(
        &MULTI_REGISTER,
        r#"0.1 0 invoke txn [["write","x",1],["write","y",1]]
           0.2 1 invoke txn [["read","x",null],["read","y",null]]
           0.3 1 ok txn [["read","x",1],["read","y",null]]
           0.4 0 ok txn [["write","x",1],["write","y",1]]"#,
    ));
}

#[test]
fn a_budget_that_ends_is_no_verdict() {
    let budget = Budget { exhausted: &|| true, ..Budget::UNBOUNDED };
    let lines = "0.1 0 invoke put a key=k
                 0.2 0 ok put a key=k
                 0.3 0 invoke put b key=k
                 0.4 0 info put b key=k";
    let finding = finding(&KV, lines, &budget);
    assert_eq!(finding.verdict, Verdict::Unknown);
    expect!["as kv, no violation was found in 1 objects; 1 undecided, first key k: the time budget ended with 0 of 1 completed operations settled"].assert_eq(&finding.why);
}

#[test]
fn a_search_ends_with_its_steps() {
    let kv = Kv::new(&ModelOptions::default()).expect("no options");
    // Any order of the appends can be, so each completion is a choice.
    let append = |place: u32| Timed {
        operation: Operation::Append(Piece::new(vec![b'a' + place as u8])),
        invoke: 1 + place,
        complete: 11 + place,
        origin: place,
    };
    let appends: Vec<Timed<Operation>> = (0..10).map(append).collect();
    let search = |steps| {
        let limits = Limits { exhausted: &|| false, memory: 1 << 20, steps };
        by_search(&kv, &appends, &limits)
    };
    let (found, taken) = search(u64::MAX);
    assert_eq!((found, taken), (Decision::Linearizable(Method::Search), 10));
    assert_eq!(search(10).0, Decision::Linearizable(Method::Search));
    for steps in 0..10 {
        let why = "the step budget ended";
        let settled = steps as usize;
        assert_eq!(search(steps), (Decision::Undecided { settled, why }, steps + 1));
    }
}

#[test]
fn what_is_no_operation_of_the_model_is_named() {
    let finding = finding(&KV, "0.1 0 invoke enqueue 1", &Budget::UNBOUNDED);
    assert_eq!(finding.verdict, Verdict::Unknown);
    expect!["as kv, no violation was found in 1 objects; 1 undecided, first the object: the operation `enqueue` of index 0 is not one of this model's: expected get, put, append, delete"].assert_eq(&finding.why);
}
