//! Events in, transactions out.

use super::*;
use crate::history::{Datum, parse_line};
use crate::op::{Event, Value};

fn table(shape: Shape, lines: &[&str]) -> Table {
    let mut table = Table::new(shape);
    for (position, line) in lines.iter().enumerate() {
        let event = parse_line(line, position as u64).expect(line);
        let head = Event { value: Value::Nil, ..event.clone() };
        table.take(&head, Datum::Value(&event.value));
    }
    table
}

#[test]
fn an_invocation_and_its_completion_are_one_transaction() {
    let table = table(
        Shape::Lists,
        &[
            r#"{"type":"invoke","process":0,"f":"txn","value":[["append","x",1],["r","x",null]]}"#,
            r#"{"type":"invoke","process":1,"f":"txn","value":[["append","x",2]]}"#,
            r#"{"type":"info","process":"nemesis","f":"cut","value":3}"#,
            r#"{"type":"ok","process":0,"f":"txn","value":[["append","x",1],["r","x",[1]]]}"#,
            r#"{"type":"info","process":1,"f":"txn","value":null}"#,
        ],
    );
    assert_eq!((table.len(), table.refused()), (2, None));
    assert!(table.txn(0).is_ok() && table.txn(1).outcome == Outcome::Info);
    assert_eq!(table.txn(0).completed.map(|moment| moment.index), Some(3));
    let read = ListRead { branch: 0, length: 1 };
    assert_eq!(
        table.micro_ops(0),
        [MicroOp::Write { key: 0, value: 1 }, MicroOp::ReadList { key: 0, read }]
    );
    assert_eq!(table.micro_ops(1), [MicroOp::Write { key: 0, value: 2 }]);
    assert_eq!(table.key_text(0), "x");
    let steps = [Step::Invoke(0), Step::Invoke(1), Step::Complete(0), Step::Complete(1)];
    assert_eq!(table.steps().collect::<Vec<_>>(), steps);
}

#[test]
fn completions_alone_are_transactions_without_beginning() {
    let table = table(
        Shape::Registers,
        &[
            r#"{"type":"ok","process":0,"f":"txn","value":[["w",1,-5],["r","1",null],["r",1,true]]}"#,
            r#"{"type":"fail","process":0,"f":"txn","value":[["w",1,5]]}"#,
        ],
    );
    assert_eq!(table.txn(0).invoked, None);
    assert_eq!(table.txn(1).outcome, Outcome::Fail);
    let [MicroOp::Write { value, .. }, MicroOp::Read { key, value: NONE }, MicroOp::Read { .. }] =
        table.micro_ops(0)
    else {
        panic!("{:?}", table.micro_ops(0));
    };
    assert_eq!((table.value_text(*value), table.key_text(*key)), ("-5".into(), "1".into()));
    assert_ne!(*key, 0, "text and number differ");
}

#[test]
fn lists_that_disagree_lie_on_branches_and_the_longest_counts() {
    let mut lists = Lists::default();
    let short = lists.take(0, &[1, 3]);
    let long = lists.take(0, &[1, 2, 3]);
    let one = lists.take(0, &[1]);
    assert_eq!(lists.seen(short), [1, 3]);
    assert_eq!(lists.longest_of(0), [1, 2, 3]);
    assert!(lists.agrees(0, long) && lists.agrees(0, one) && !lists.agrees(0, short));
    assert_eq!(lists.take(0, &[]), ListRead::EMPTY);
    assert!(lists.agrees(0, ListRead::EMPTY) && lists.agrees(7, ListRead::EMPTY));
    assert_eq!((lists.disputed(), lists.longest_of(7)), (vec![0], &[][..]));
}

#[test]
fn what_is_no_transaction_is_refused_with_its_index() {
    for (line, expected) in [
        (
            r#"{"type":"ok","process":0,"f":"read","value":3}"#,
            "expected a list of micro-operations",
        ),
        (r#"{"type":"ok","process":0,"f":"txn","value":[["w",1,2]]}"#, "expected [\"append\" key"),
        (r#"{"type":"ok","process":0,"f":"txn","value":[["r",1,2]]}"#, "found [\"r\",1,2]"),
        (r#"{"type":"ok","process":0,"f":"txn","value":[["r"]]}"#, "found [\"r\"]"),
    ] {
        let table = table(Shape::Lists, &[line]);
        let refused = table.refused().expect(line);
        assert!(
            refused.starts_with("the event at index 0") && refused.contains(expected),
            "{refused}"
        );
    }
}

#[test]
fn of_a_long_text_the_beginning_and_the_end_are_told() {
    let long = format!("begin{}\u{e9}nd", "x".repeat(1_000_000));
    let table = table(
        Shape::Lists,
        &[&format!(
            r#"{{"type":"ok","process":0,"f":"txn","value":[["append","{long}",{:?}]]}}"#,
            "y".repeat(48)
        )],
    );
    let (key, end) = (table.key_text(0).into_owned(), "x".repeat(29) + "\u{e9}nd");
    assert_eq!(key, format!("beginxxxxxxxxxxx...{end}"));
    let MicroOp::Write { value, .. } = table.micro_ops(0)[0] else { panic!("an append") };
    assert_eq!(table.value_text(value), "y".repeat(48));
}
