//! Operations of several commands: transactions, and those that look before they write.

use expect_test::expect;

use super::scripted::{self, Nodes, Say, bulk, error, ok, once, value};
use super::{CAS, check};
use crate::client::kvrocks::CasMode;
use crate::client::kvrocks::ClientKind::Follow;
use crate::op::{Call, MicroOp, Outcome};
use crate::resp::Value;

#[test]
fn compare_and_set_under_watch() {
    let watch = |held: &'static str, exec: fn() -> Say| {
        Nodes::with_cas(
            move |_, words| match words {
                ["CLUSTER", "SLOTS"] => scripted::slots(),
                ["GET", _] => bulk(held),
                ["SET", ..] => value(Value::Simple("QUEUED".into())),
                ["EXEC"] => exec(),
                _ => ok(),
            },
            CasMode::Watch,
        )
    };
    let done = || value(Value::Array(vec![Value::ok()]));
    check(
        Follow,
        CAS,
        &watch("12", done),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: WATCH k
        kvrocks1: GET k
        kvrocks1: MULTI
        kvrocks1: SET k 13
        kvrocks1: EXEC
        => Ok(Pair(12, 13))
        kvrocks1 +0ms: ok
    "#]],
    );
    check(
        Follow,
        CAS,
        &watch("11", done),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: WATCH k
        kvrocks1: GET k
        kvrocks1: UNWATCH
        => Fail("expected 12, found another")
        kvrocks1 +0ms: ok
    "#]],
    );
    let raced = || value(Value::Null);
    assert!(matches!(once(Follow, CAS, &watch("12", raced)).outcome, Outcome::Fail(_)));
    let lost = || Say::Last(Vec::new());
    assert!(matches!(once(Follow, CAS, &watch("12", lost)).outcome, Outcome::Info(_)));
    let aborted = || error("EXECABORT Transaction discarded");
    assert!(matches!(once(Follow, CAS, &watch("12", aborted)).outcome, Outcome::Fail(_)));
}

#[test]
fn a_store_takes_no_older_token() {
    let store = Call::Store { key: 7, token: 4, value: 9 };
    let seen = |token: &'static str| {
        Nodes::new(move |_, words| match words {
            ["GET", _] => bulk(token),
            ["SET", ..] => value(Value::Simple("QUEUED".into())),
            ["EXEC"] => value(Value::Array(vec![Value::ok(), Value::ok()])),
            _ => ok(),
        })
    };
    check(
        Follow,
        store.clone(),
        &seen("4"),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: WATCH k:seen
        kvrocks1: GET k:seen
        kvrocks1: MULTI
        kvrocks1: SET k:seen 4
        kvrocks1: SET k 9
        kvrocks1: EXEC
        => Ok(Pair(4, 9))
        kvrocks1 +0ms: ok
    "#]],
    );
    check(
        Follow,
        store,
        &seen("5"),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: WATCH k:seen
        kvrocks1: GET k:seen
        kvrocks1: UNWATCH
        => Fail("token 4 is older than 5")
        kvrocks1 +0ms: ok
    "#]],
    );
}

#[test]
fn a_transaction_that_was_refused_in_the_making_is_followed() {
    let ops = vec![MicroOp::Append { key: 7, value: 1 }, MicroOp::Read { key: 7 }];
    let nodes = Nodes::new(|node, words| match (node, words) {
        (_, ["MULTI"]) => ok(),
        ("kvrocks1", ["EXEC"]) => error("EXECABORT Transaction discarded"),
        ("kvrocks1", _) => error("MOVED 449 10.0.0.3:6666"),
        (_, ["EXEC"]) => {
            value(Value::Array(vec![Value::Int(1), Value::Array(vec![Value::bulk("1")])]))
        }
        _ => value(Value::Simple("QUEUED".into())),
    });
    check(
        Follow,
        Call::Txn { ops: ops.clone() },
        &nodes,
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: MULTI
        kvrocks1: RPUSH k 1
        kvrocks1: LRANGE k 0 -1
        kvrocks1: EXEC
        kvrocks3: MULTI
        kvrocks3: RPUSH k 1
        kvrocks3: LRANGE k 0 -1
        kvrocks3: EXEC
        => Ok(Json(Array [Array [String("append"), Number(7), Number(1)], Array [String("r"), Number(7), Array [Number(1)]]]))
        kvrocks1 +0ms: MOVED 449 kvrocks3
        kvrocks3 +0ms: ok
    "#]],
    );
    // The connection breaks before EXEC is answered, but nothing of it can have been executed.
    let broken = Nodes::new(|_, words| match words {
        ["MULTI"] => ok(),
        _ => Say::Last(b"-TRYAGAIN no\r\n".to_vec()),
    });
    let outcome = once(Follow, Call::Txn { ops: ops.clone() }, &broken).outcome;
    assert_eq!(outcome, Outcome::Fail("TRYAGAIN no".into()));
    let unknown = Nodes::new(|_, words| match words {
        ["MULTI"] => ok(),
        _ => Say::Last(b"+QUEUED\r\n".to_vec()),
    });
    let outcome = once(Follow, Call::Txn { ops }, &unknown).outcome;
    assert!(matches!(outcome, Outcome::Info(_)), "{outcome:?}");
}
