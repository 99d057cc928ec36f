//! The data client against nodes that answer by a script.

mod scripted;
mod transactions;

use expect_test::{Expect, expect};

use super::ClientKind::{Follow, Pinned, Replica, Stale};
use super::{CasMode, ClientKind};
use crate::cluster::Client;
use crate::op::{Call, MicroOp, Outcome};
use crate::resp::Value;
use scripted::{Nodes, SLOT, Say, bulk, error, ok, once, play, told, value};

const READ: Call = Call::Read { key: 7 };
const WRITE: Call = Call::Write { key: 7, value: 12 };
const CAS: Call = Call::Cas { key: 7, from: 12, to: 13 };

fn check(kind: ClientKind, call: Call, nodes: &Nodes, expected: Expect) {
    let completion = once(kind, call, nodes);
    let asked = nodes.take_asked();
    expected.assert_eq(&format!("{asked}\n=> {}\n", told(&completion)));
    assert_eq!(completion.route.and_then(|route| route.slot), Some(SLOT));
}

#[test]
fn an_operation_goes_where_the_map_says() {
    let nodes = Nodes::new(|_, _| ok());
    check(
        Follow,
        WRITE,
        &nodes,
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        => Ok(Int(12))
        kvrocks1 +0ms: ok
    "#]],
    );
    let nodes = Nodes::new(|_, _| bulk("5"));
    check(
        Replica,
        Call::Stale(Box::new(READ)),
        &nodes,
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks2: READONLY
        kvrocks2: GET k
        => Ok(Int(5))
        kvrocks2 +0ms: ok
    "#]],
    );
}

#[test]
fn a_redirection_is_followed_and_told() {
    let moved = || {
        Nodes::new(|node, _| match node {
            "kvrocks1" => error("MOVED 449 10.0.0.3:6666"),
            _ => ok(),
        })
    };
    check(
        Follow,
        WRITE,
        &moved(),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        kvrocks3: SET k 12
        => Ok(Int(12))
        kvrocks1 +0ms: MOVED 449 kvrocks3
        kvrocks3 +0ms: ok
    "#]],
    );
    check(
        Stale,
        WRITE,
        &moved(),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        kvrocks3: SET k 12
        => Ok(Int(12))
        kvrocks1 +0ms: MOVED 449 kvrocks3
        kvrocks3 +0ms: ok
    "#]],
    );
    check(
        Pinned,
        WRITE,
        &moved(),
        expect![[r#"
        kvrocks1: SET k 12
        => Fail("MOVED 449 kvrocks3")
        kvrocks1 +0ms: MOVED 449 kvrocks3
    "#]],
    );
}

#[test]
fn who_learns_goes_there_at_once_and_who_does_not_learn_never_does() {
    let nodes = Nodes::new(|node, _| match node {
        "kvrocks1" => error("MOVED 449 10.0.0.3:6666"),
        _ => ok(),
    });
    let twice = |kind| {
        play(async {
            let mut client = nodes.client(kind, "kvrocks1");
            client.invoke(&WRITE).await;
            nodes.take_asked();
            client.invoke(&WRITE).await;
        });
        nodes.take_asked()
    };
    assert_eq!(twice(Follow), "kvrocks3: SET k 12");
    assert_eq!(twice(Stale), "kvrocks1: SET k 12\nkvrocks3: SET k 12");
}

#[test]
fn a_stale_map_outlives_the_process() {
    let mut version = 0;
    let nodes = Nodes::bare(move |node, words| match (node, words) {
        (_, ["CLUSTER", "SLOTS"]) if version == 0 => {
            version = 1;
            scripted::slots()
        }
        (_, ["CLUSTER", "SLOTS"]) => value(Value::Array(Vec::new())),
        _ => ok(),
    });
    once(Stale, WRITE, &nodes);
    nodes.take_asked();
    once(Stale, WRITE, &nodes);
    assert_eq!(nodes.take_asked(), "kvrocks1: SET k 12", "the next process of the thread");
}

#[test]
fn a_circle_of_redirections_ends() {
    let nodes = Nodes::new(|node, _| match node {
        "kvrocks1" => error("MOVED 449 10.0.0.3:6666"),
        _ => error("MOVED 449 10.0.0.1:6666"),
    });
    let completion = once(Follow, WRITE, &nodes);
    expect![[r#"
        Fail("redirected 6 times, last: MOVED 449 kvrocks1")
        kvrocks1 +0ms: MOVED 449 kvrocks3
        kvrocks3 +0ms: MOVED 449 kvrocks1
        kvrocks1 +0ms: MOVED 449 kvrocks3
        kvrocks3 +0ms: MOVED 449 kvrocks1
        kvrocks1 +0ms: MOVED 449 kvrocks3
        kvrocks3 +0ms: MOVED 449 kvrocks1"#]]
    .assert_eq(&told(&completion));
    let to_itself = Nodes::new(|_, _| error("MOVED 449 10.0.0.1:6666"));
    assert!(matches!(once(Follow, WRITE, &to_itself).outcome, Outcome::Fail(_)));
    let nowhere = Nodes::new(|_, _| error("MOVED 449 10.9.9.9:6666"));
    check(
        Follow,
        WRITE,
        &nowhere,
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        => Fail("MOVED 449 10.9.9.9:6666, which is nobody's address")
        kvrocks1 +0ms: MOVED 449 10.9.9.9:6666
    "#]],
    );
}

#[test]
fn an_ask_is_followed_by_asking() {
    let nodes = Nodes::new(|node, words| match (node, words) {
        ("kvrocks1", _) => error("ASK 449 10.0.0.3:6666"),
        _ => ok(),
    });
    check(
        Follow,
        WRITE,
        &nodes,
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        kvrocks3: ASKING
        kvrocks3: SET k 12
        => Ok(Int(12))
        kvrocks1 +0ms: ASK 449 kvrocks3
        kvrocks3 +0ms: ok
    "#]],
    );
}

#[test]
fn an_unanswered_write_is_unknown_and_an_unanswered_read_failed() {
    let silent = || Nodes::new(|_, _| Say::Silence);
    check(
        Follow,
        WRITE,
        &silent(),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        => Info("kvrocks1: no answer in 1s")
        kvrocks1 +1000ms: no answer in 1s
    "#]],
    );
    check(
        Follow,
        READ,
        &silent(),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: GET k
        => Fail("kvrocks1: no answer in 1s")
        kvrocks1 +1000ms: no answer in 1s
    "#]],
    );
    let closing = || Nodes::new(|_, _| Say::Last(Vec::new()));
    check(
        Follow,
        WRITE,
        &closing(),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: SET k 12
        => Info("kvrocks1: connection closed by the server")
        kvrocks1 +0ms: connection closed by the server
    "#]],
    );
    check(
        Follow,
        READ,
        &closing(),
        expect![[r#"
        kvrocks1: CLUSTER SLOTS
        kvrocks1: GET k
        => Fail("kvrocks1: connection closed by the server")
        kvrocks1 +0ms: connection closed by the server
    "#]],
    );
}

#[test]
fn half_replies_garbage_and_absurd_lengths_end_the_operation() {
    for bytes in [
        &b"+O"[..],
        b"$1000000\r\nabc",
        b"$99999999999999999999\r\n",
        b"$536870913\r\n",
        b"$-5\r\n",
        b"*1048577\r\n",
        b"*1000000\r\n",
        b"*2147483647\r\n",
        b"HTTP/1.1 400 Bad Request\r\n",
        b"\x00\x01\x02\xff",
        b"\r\n",
        b":9x\r\n",
    ] {
        for last in [false, true] {
            let say = move || match last {
                true => Say::Last(bytes.to_vec()),
                false => Say::Bytes(bytes.to_vec()),
            };
            let nodes = Nodes::new(move |_, _| say());
            let shown = bytes.escape_ascii();
            let write = once(Follow, WRITE, &nodes).outcome;
            assert!(matches!(write, Outcome::Info(_)), "{shown}: {write:?}");
            let read = once(Follow, READ, &nodes).outcome;
            assert!(matches!(read, Outcome::Fail(_)), "{shown}: {read:?}");
            // The same in place of the slot map: nothing was asked yet.
            let nodes = Nodes::bare(move |_, _| say());
            let write = once(Follow, WRITE, &nodes).outcome;
            assert!(matches!(write, Outcome::Fail(_)), "{shown}: {write:?}");
        }
    }
}

#[test]
fn an_endless_reply_is_cut_off() {
    let many = b"+".iter().chain([b'a'; 70_000].iter()).copied().collect::<Vec<_>>();
    let nodes = Nodes::new(move |_, _| Say::Bytes(many.clone()));
    assert!(matches!(once(Follow, WRITE, &nodes).outcome, Outcome::Info(_)));
}

#[test]
fn where_no_connection_opens_nothing_was_done() {
    let nodes = Nodes::new(|_, _| ok());
    play(async {
        let mut client = nodes.client(Follow, "kvrocks2");
        assert!(matches!(client.invoke(&WRITE).await.outcome, Outcome::Ok(_)));
        nodes.refusing.borrow_mut().push("kvrocks1");
        // The open connection serves on; a fresh client finds none.
        assert!(matches!(client.invoke(&WRITE).await.outcome, Outcome::Ok(_)));
        let mut client = nodes.client(Follow, "kvrocks2");
        let completion = client.invoke(&WRITE).await;
        expect![[r#"
            Fail("kvrocks1: no connection: connection refused")
            kvrocks1 +0ms: no connection: connection refused"#]]
        .assert_eq(&told(&completion));
        // Then it asks for another map.
        nodes.take_asked();
        client.invoke(&WRITE).await;
        assert_eq!(nodes.take_asked(), "kvrocks2: CLUSTER SLOTS");
    });
}

#[test]
fn a_map_is_asked_of_another_node_where_the_first_has_none() {
    let nodes = Nodes::new(|_, _| ok());
    nodes.refusing.borrow_mut().push("kvrocks4");
    play(async {
        let mut client = nodes.client(Follow, "kvrocks4");
        assert!(matches!(client.invoke(&WRITE).await.outcome, Outcome::Fail(_)));
        assert!(matches!(client.invoke(&WRITE).await.outcome, Outcome::Ok(_)));
    });
    assert_eq!(nodes.take_asked(), "kvrocks1: CLUSTER SLOTS\nkvrocks1: SET k 12");
}

#[test]
fn a_connection_that_the_server_closed_between_operations_is_not_used() {
    let nodes = Nodes::new(|_, words| match words {
        ["SET", ..] => Say::Last(b"+OK\r\n".to_vec()),
        _ => ok(),
    });
    play(async {
        let mut client = nodes.client(Follow, "kvrocks1");
        for _ in 0..3 {
            assert!(matches!(client.invoke(&WRITE).await.outcome, Outcome::Ok(_)));
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_late_reply_never_answers_the_next_request() {
    let mut count = 0;
    let nodes = Nodes::new(move |_, words| match words {
        ["GET", ..] => {
            count += 1;
            if count == 1 { Say::Silence } else { bulk("2") }
        }
        _ => ok(),
    });
    play(async {
        let mut client = nodes.client(Follow, "kvrocks1");
        assert!(matches!(client.invoke(&READ).await.outcome, Outcome::Fail(_)));
        let second = client.invoke(&READ).await;
        assert_eq!(second.outcome, Outcome::Ok(crate::op::Value::Int(2)));
    });
}

#[test]
fn a_dump_asks_its_own_node_only() {
    let nodes = Nodes::new(|_, words| match words {
        ["GET", name] if name.ends_with('7') => bulk("1"),
        _ => error("MOVED 449 10.0.0.3:6666"),
    });
    let reads = [6, 7].map(|key| Call::Read { key }).into();
    let completion =
        play(async { nodes.client(Pinned, "kvrocks2").invoke(&Call::Dump { reads }).await });
    expect![[r#"
        Ok(Json(Object {"7": Number(1)}))
        kvrocks2 +0ms: ok"#]]
    .assert_eq(&told(&completion));
}
