//! What each object allows, said by hand: the other tests ask the models themselves.

use crate::checker::objects::models::*;
use crate::checker::text::history;
use crate::checker::{Budget, ModelKind, ModelOptions, Verdict};

/// Operations one after the other, each `PROCESS F ASKED ANSWERED`.
fn verdict(model: &ModelKind, options: &ModelOptions, steps: &str) -> Verdict {
    let mut lines = String::new();
    for (time, step) in steps.split(';').map(str::trim).enumerate() {
        let [process, f, asked, answered] = step.split(' ').collect::<Vec<_>>()[..] else {
            panic!("`{step}`: expected PROCESS F ASKED ANSWERED");
        };
        lines += &format!("{time}.1 {process} invoke {f} {asked}\n");
        lines += &format!("{time}.2 {process} ok {f} {answered}\n");
    }
    let mut checkers = (model.checkers)(options).expect("they are the model's options");
    checkers[0].finish(&history(&lines), &Budget::UNBOUNDED).verdict
}

/// All steps but the last can be; with the last as it is in each of `good` too, and in each of `bad` not.
fn allows(model: &ModelKind, before: &str, good: &[&str], bad: &[&str]) {
    allows_with(model, &ModelOptions::default(), before, good, bad);
}

fn allows_with(
    model: &ModelKind,
    options: &ModelOptions,
    before: &str,
    good: &[&str],
    bad: &[&str],
) {
    let each = good.iter().map(|last| (last, Verdict::Valid));
    for (last, expected) in each.chain(bad.iter().map(|last| (last, Verdict::Invalid))) {
        let steps =
            if before.is_empty() { (*last).to_owned() } else { format!("{before}; {last}") };
        assert_eq!(verdict(model, options, &steps), expected, "{}: {steps}", model.name);
    }
}

#[test]
fn a_lock_refuses_while_it_is_held_and_only_then() {
    let held = "0 acquire a nil";
    let free = "0 acquire a nil; 0 release a nil";
    let (refused, given) = ("1 acquire b false", "1 acquire b nil");
    let (not_held, released) = ("1 release b false", "1 release b nil");
    for model in [&LOCK, &OWNER_MUTEX, &REENTRANT_MUTEX, &FENCED_LOCK] {
        allows(model, held, &[refused, not_held, "0 release a nil"], &[given, released]);
        allows(model, held, &[], &["0 release a false"]);
        allows(model, free, &[given, not_held], &[refused, released, "0 release a nil"]);
    }
    for model in [&LOCK, &OWNER_MUTEX, &FENCED_LOCK] {
        allows(model, held, &["2 acquire a false"], &["2 acquire a nil"]);
    }
    // Whoever releases it: nobody is told apart.
    allows(&MUTEX, held, &[refused, released], &[given, not_held]);
    allows(&MUTEX, free, &[given, not_held], &[refused, released]);
}

#[test]
fn a_reentrant_lock_is_released_as_often_as_it_was_acquired() {
    let twice = "0 acquire a nil; 0 acquire a nil; 0 release a nil";
    allows(
        &REENTRANT_MUTEX,
        twice,
        &["0 release a nil", "1 acquire b false"],
        &["1 acquire b nil"],
    );
    let thrice = format!("{twice}; 0 release a nil");
    allows(&REENTRANT_MUTEX, &thrice, &["1 acquire b nil"], &["0 release a nil"]);
}

#[test]
fn fences_only_grow_and_minus_one_is_none() {
    let fenced = |fence: i64| format!(r#"0 acquire a {{"fence":{fence}}}; 0 release a nil"#);
    let next = |fence: i64| format!(r#"1 acquire b {{"fence":{fence}}}"#);
    let (five, six, seven, none) = (next(5), next(6), next(7), next(-1));
    let newer = [seven.as_str(), &none, "1 acquire b nil"];
    allows(&FENCED_LOCK, &fenced(6), &newer, &[&five, &six]);
    let (zero, one) = (next(0), next(1));
    allows(&FENCED_LOCK, &fenced(0), &[&one, &none], &[&zero]);
    // What had no token forgets none.
    let between = format!("{}; 1 acquire b nil; 1 release b nil", fenced(6));
    allows(&FENCED_LOCK, &between, &[&seven], &[&five, &six]);
    // Tokens mean nothing to the other locks.
    allows(&OWNER_MUTEX, &fenced(6), &[&five], &[]);
}

#[test]
fn a_set_says_whether_an_element_was_there() {
    let added = "0 add 1 true";
    allows(
        &LINEARIZABLE_SET,
        added,
        &[
            "0 add 1 false",
            "0 add 2 true",
            "0 remove 1 true",
            "0 contains 1 true",
            "0 read nil [1]",
        ],
        &["0 add 1 true", "0 remove 1 false", "0 contains 1 false", "0 read nil []"],
    );
    allows(
        &LINEARIZABLE_SET,
        "0 add 1 1; 0 remove 1 1",
        &["0 add 1 true", "0 remove 1 false", "0 contains 1 false", "0 read nil []"],
        &["0 add 1 false", "0 remove 1 true", "0 contains 1 true", "0 read nil [1]"],
    );
    let init = ModelOptions { init: Some(serde_json::json!([7])), ..ModelOptions::default() };
    let good = ["0 read nil [7]", "0 contains 7 true", "0 add 7 false", "0 remove 7 true"];
    allows_with(&LINEARIZABLE_SET, &init, "", &good, &["0 read nil []", "0 add 7 true"]);
}

#[test]
fn queues_and_stacks_give_what_is_next() {
    let queued = "0 enqueue 1 1; 0 enqueue 2 2";
    allows(&FIFO_QUEUE, queued, &["1 dequeue nil 1"], &["1 dequeue nil 2", "1 dequeue nil nil"]);
    let (one, two) = ("1 dequeue nil 1", "1 dequeue nil 2");
    allows(&UNORDERED_QUEUE, queued, &[one, two], &["1 dequeue nil nil", "1 dequeue nil 3"]);
    let pushed = "0 push 1 1; 0 push 2 2";
    allows(&STACK, pushed, &["1 pop nil 2"], &["1 pop nil 1", "1 pop nil nil"]);
    allows(&STACK, "0 push 1 1; 0 pop nil 1", &["1 pop nil nil"], &["1 pop nil 1"]);
}

#[test]
fn a_counter_counts_from_what_it_was_at_first() {
    let init = ModelOptions { init: Some(10.into()), ..ModelOptions::default() };
    allows_with(&LINEARIZABLE_COUNTER, &init, "", &["0 read nil 10"], &["0 read nil 0"]);
    let good = ["0 read nil 12", "0 incr nil 13", "0 decr nil 11"];
    let bad = ["0 read nil 11", "0 incr nil 12", "0 decr nil 12"];
    allows_with(&LINEARIZABLE_COUNTER, &init, "0 add 5 5; 0 sub 3 3", &good, &bad);
}

#[test]
fn a_list_is_read_as_it_was_appended() {
    let appended = "0 append 1 1; 0 append 2 2";
    let bad = ["0 read nil [2,1]", "0 read nil [1]", "0 read nil []", "0 read nil [1,2,2]"];
    allows(&LIST, appended, &["0 read nil [1,2]"], &bad);
}

#[test]
fn a_nil_that_was_got_is_nothing_unless_it_stands_for_unknown() {
    let unknown = ModelOptions { nil_read_is_unknown: true, ..ModelOptions::default() };
    let put = "0 put 1 1";
    allows(&KV, put, &["0 get nil 1"], &["0 get nil nil", "0 get nil 2"]);
    allows_with(&KV, &unknown, put, &["0 get nil 1", "0 get nil nil"], &["0 get nil 2"]);
    let deleted = "0 put 1 1; 0 delete nil nil";
    allows(&KV, deleted, &["0 get nil nil"], &["0 get nil 1"]);
    let written = r#"0 txn [["w","x",1]] [["w","x",1]]"#;
    let read = |value: &str| format!(r#"0 txn [["r","x",null]] [["r","x",{value}]]"#);
    let (nil, one, two) = (read("null"), read("1"), read("2"));
    allows(&MULTI_REGISTER, written, &[&one], &[&nil, &two]);
    allows_with(&MULTI_REGISTER, &unknown, written, &[&one, &nil], &[&two]);
}

#[test]
fn operations_may_have_names_of_their_own() {
    let ops = |names: &[&str]| ModelOptions {
        ops: names.iter().map(|name| (*name).to_owned()).collect(),
        ..ModelOptions::default()
    };
    let named = ops(&["fetch", "store", "extend", "drop"]);
    let before = "0 store ab ab; 0 extend c c";
    allows_with(&KV, &named, before, &["0 fetch nil abc"], &["0 fetch nil ab", "0 fetch nil c"]);
    allows_with(&KV, &named, "0 store 1 1; 0 drop nil nil", &["0 get nil nil"], &["0 get nil 1"]);
    let refused = (KV.checkers)(&ops(&["a", "b", "c", "d", "e"])).err();
    assert!(refused.is_some_and(|why| why.contains("`ops` names 5 operations")));
}

/// Written by process 0 in one transaction and then read by process 1 in others, two registers each.
fn of_pairs(transactions: &[&str]) -> String {
    let write = r#"0 txn [["w","x",1],["w","y",1]] [["w","x",1],["w","y",1]]"#;
    let read = |steps: &&str| format!("1 txn {steps} {steps}");
    let reads: Vec<String> = transactions.iter().map(read).collect();
    format!("{write}; {}", reads.join("; "))
}

#[test]
fn registers_that_a_transaction_joins_are_one_object() {
    let none = ModelOptions::default();
    let joined = |reads: &[&str]| verdict(&MULTI_REGISTER, &none, &of_pairs(reads));
    let (x1, y1) = (r#"[["r","x",1]]"#, r#"[["r","y",1]]"#);
    let (x, y) = (r#"[["r","x",null]]"#, r#"[["r","y",null]]"#);
    assert_eq!(joined(&[x1, y1]), Verdict::Valid);
    for reads in [[x, y1], [x1, y], [y, x1], [y1, x]] {
        assert_eq!(joined(&reads), Verdict::Invalid, "{reads:?}");
    }
    // Through one in the middle, too: z goes with x by way of y.
    let onward = r#"[["w","y",2],["w","z",2]]"#;
    let (z2, z) = (r#"[["r","z",2]]"#, r#"[["r","z",null]]"#);
    assert_eq!(joined(&[onward, z2, x1]), Verdict::Valid);
    assert_eq!(joined(&[onward, x1, z]), Verdict::Invalid);
}

#[test]
fn what_nobody_was_answered_says_nothing() {
    for (model, asked) in [
        (&LINEARIZABLE_SET, "add 1; contains 1; read nil"),
        (&LINEARIZABLE_COUNTER, "add 1; read nil"),
        (&LIST, "append 1; read nil"),
        (&KV, "put 1; get nil"),
        (&FIFO_QUEUE, "enqueue 1; dequeue nil"),
        (&STACK, "push 1; pop nil"),
        (&LOCK, "acquire 1; release 1"),
    ] {
        let mut lines = String::new();
        for (process, step) in asked.split("; ").enumerate() {
            lines += &format!("{process}.1 {process} invoke {step}\n");
            lines += &format!("{process}.2 {process} info {step}\n");
        }
        let mut checkers = (model.checkers)(&ModelOptions::default()).expect("no options");
        let finding = checkers[0].finish(&history(&lines), &Budget::UNBOUNDED);
        assert_eq!(finding.verdict, Verdict::Valid, "{}: {}", model.name, finding.why);
    }
}
