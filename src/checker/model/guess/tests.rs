//! Small histories and the models that they can be of.

use super::rules::candidates;
use super::*;
use crate::history::{Datum, parse_line};

fn shape(ops: &[(&str, &str, &str)]) -> Shape {
    let mut shape = Shape::default();
    for (position, (kind, f, value)) in ops.iter().enumerate() {
        let line = format!(r#"{{"type":"{kind}","process":0,"f":"{f}","value":{value}}}"#);
        let event = parse_line(&line, position as u64).expect(&line);
        shape.observe(&event, Datum::Value(&event.value));
    }
    shape
}

fn check(ops: &[(&str, &str, &str)], expected: &[&str]) {
    assert_eq!(candidates(&shape(ops)), expected, "{ops:?}");
}

#[test]
fn names_and_shapes_tell_the_model() {
    check(&[("ok", "read", "1"), ("ok", "write", "1")], &["register"]);
    check(&[("ok", "read", "null"), ("fail", "cas", "[1,2]")], &["cas-register"]);
    let several = ["sequential", "dirty-read", "comments"];
    check(&[("ok", "read", "[1,2]"), ("ok", "write", "1")], &several);
    check(&[("ok", "read", "[1,2]"), ("ok", "write", "[1,2]")], &[]);
    check(&[("ok", "txn", r#"[["append",1,2],["r",1,[2]]]"#)], &["list-append"]);
    check(&[("ok", "txn", r#"[["r",1,[2]]]"#)], &["list-append"]);
    check(&[("ok", "txn", r#"[["w",1,2],["r",1,null]]"#)], &["rw-register"]);
    check(&[("ok", "txn", r#"[["write","x",2],["read","y",1]]"#)], &["multi-register"]);
    check(&[("ok", "get", r#""a""#), ("ok", "append", r#""b""#)], &["kv"]);
    check(&[("ok", "incr", "1"), ("ok", "read", "3")], &["linearizable-counter"]);
    check(&[("ok", "append", "1"), ("ok", "read", "[1]")], &["list"]);
    check(&[("ok", "acquire", "7"), ("ok", "release", "7")], &["fenced-lock"]);
    check(&[("ok", "read-init", "0"), ("ok", "write", "1")], &["causal"]);
    check(&[("ok", "read", r#"{"0":10}"#), ("ok", "transfer", r#"{"from":0}"#)], &["bank"]);
    check(&[("ok", "generate", "7")], &["unique-ids"]);
    check(&[("ok", "enqueue", "7"), ("ok", "drain", "[7]")], &["total-queue"]);
    check(&[("ok", "txn", r#"[["send",0,[1,2]],["poll",{"0":[[1,2]]}]]"#)], &["kafka"]);
}

#[test]
fn what_fits_several_models_or_none_is_said() {
    check(&[("ok", "add", "1"), ("ok", "read", "[1]")], &["set", "set-full", "linearizable-set"]);
    check(
        &[("ok", "add", r#"[0,"0_0"]"#), ("ok", "read", r#"[0,["0_0"]]"#)],
        &["set", "set-full", "linearizable-set", "sequential"],
    );
    check(&[("ok", "add", "1"), ("ok", "read", "3")], &["counter", "linearizable-counter"]);
    check(
        &[("ok", "enqueue", "7"), ("ok", "dequeue", "7")],
        &["fifo-queue", "unordered-queue", "queue", "total-queue"],
    );
    check(&[("ok", "read", "1"), ("ok", "frobnicate", "1")], &[]);
    check(&[("info", "frobnicate", "1")], &[]);
    check(&[], &[]);
    let odd = shape(&[("ok", "read", "1"), ("ok", "frobnicate", "1")]);
    let guess = guess(&odd);
    assert!(guess.candidates.is_empty());
    assert_eq!(guess.why, "its operations are frobnicate, read");
}

#[test]
fn keys_in_values_are_seen_by_a_read_that_asks_for_one() {
    let keyed = [("invoke", "read", "[1,null]"), ("ok", "read", "[1,5]"), ("ok", "write", "[1,2]")];
    assert!(shape(&keyed).has_keys_in_values());
    let flat = [keyed[0], ("invoke", "cas", "[1,2,3]")];
    assert!(shape(&flat).has_keys_in_values());
    // The pair of a compare-and-set is none.
    assert!(!shape(&[("invoke", "cas", "[1,2]")]).has_keys_in_values());
    assert!(!shape(&[("invoke", "read", "[1,null]"), ("ok", "read", "5")]).has_keys_in_values());
    assert!(!shape(&[("invoke", "read", "null")]).has_keys_in_values());
}

#[test]
fn a_history_of_some_operations_may_be_of_models_with_more() {
    let wider = |ops: &[(&str, &str, &str)]| {
        let guess = guess(&shape(ops));
        assert!(guess.candidates.is_empty(), "{ops:?}");
        guess.wider.iter().map(|model| model.name).collect::<Vec<_>>()
    };
    let numbers = wider(&[("ok", "read", "1")]);
    assert!(numbers.contains(&"register") && numbers.contains(&"counter"), "{numbers:?}");
    assert!(!numbers.contains(&"set"), "{numbers:?}");
    assert_eq!(wider(&[("ok", "read", r#"[["r",0,1],["r",1,null]]"#)]), ["long-fork"]);
    let open = wider(&[("invoke", "txn", r#"[["w",0,1]]"#)]);
    assert!(open.contains(&"rw-register") && open.contains(&"list-append"), "{open:?}");
    assert_eq!(wider(&[("ok", "frobnicate", "1")]), [] as [&str; 0]);
}
