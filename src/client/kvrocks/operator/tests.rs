//! An operator against controllers whose bytes are scripted.

use std::cell::RefCell;

use futures::io::{AsyncReadExt, AsyncWriteExt};
use tokio::io::DuplexStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use super::*;
use crate::client::kvrocks::{Addresses, CasMode};
use crate::key_space::KeySpace;

type Pipe = Compat<DuplexStream>;

/// What a controller does once it has been asked.
#[derive(Clone, Copy)]
enum Does {
    Says(&'static str),
    Nothing,
    Refuses,
}

fn common() -> Rc<Common> {
    Rc::new(Common {
        keys: KeySpace::spread(1),
        addresses: Addresses::default(),
        seeds: Vec::new(),
        cas: CasMode::Command,
        request_timeout: Duration::from_secs(1),
        budget: Duration::from_secs(4),
        kept: RefCell::default(),
    })
}

fn dial(does: Does) -> io::Result<Pipe> {
    if matches!(does, Does::Refuses) {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let (here, there) = tokio::io::duplex(1 << 16);
    tokio::task::spawn_local(async move {
        let (mut stream, mut piece) = (there.compat(), [0; 4096]);
        let read = stream.read(&mut piece).await.expect("a request");
        assert_ne!(read, 0, "a request is not empty");
        match does {
            Does::Says(bytes) => stream.write_all(bytes.as_bytes()).await.expect("a reader"),
            _ => std::future::pending().await,
        }
    });
    Ok(here.compat())
}

/// The outcome of one request, and what the route says of it.
fn asked(does: Does, manage: Manage) -> (Outcome, String) {
    let completion = crate::sim::run(async {
        let dial = move |_: NodeName| std::future::ready(dial(does));
        let mut operator = Operator::new(dial, common(), "controller1".into());
        operator.invoke(&Call::Manage(manage)).await
    });
    let completion = completion.expect("a runtime");
    let route = completion.route.expect("a route");
    let hop = route.last().expect("a hop");
    assert_eq!(hop.node, "controller1".into());
    (completion.outcome, hop.said.clone())
}

const FAILOVER: Manage = Manage::Failover { shard: 0 };

#[test]
fn an_answer_decides() {
    let done = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{\"data\":{\"new_master_id\":\"ab\"}}";
    let (outcome, said) = asked(Does::Says(done), FAILOVER);
    assert!(matches!(outcome, Outcome::Ok(_)), "{outcome:?}");
    assert_eq!(said, "ok");
    let redirect = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://10.0.0.9:9379/x\r\nContent-Length: 0\r\n\r\n";
    let (outcome, said) = asked(Does::Says(redirect), Manage::Topology);
    assert_eq!(outcome, Outcome::Fail("307, 10.0.0.9:9379 leads".into()));
    assert_eq!(said, "307, 10.0.0.9:9379 leads");
}

#[test]
fn what_no_answer_came_to_may_have_been_done_if_it_changes_anything() {
    for does in [
        Does::Nothing,
        Does::Says(""),
        Does::Says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\""),
        Does::Says("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        Does::Says("+PONG\r\n"),
        Does::Says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
    ] {
        let shown = match does {
            Does::Says(text) => text,
            _ => "nothing",
        };
        let (outcome, _) = asked(does, FAILOVER);
        assert!(matches!(outcome, Outcome::Info(_)), "{shown}: {outcome:?}");
        let (outcome, _) = asked(does, Manage::Topology);
        assert!(matches!(outcome, Outcome::Fail(_)), "{shown}: {outcome:?}");
    }
}

#[test]
fn a_controller_that_fails_or_sends_to_itself_ends_the_operation() {
    let broken = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 49\r\n\r\n{\"error\":{\"message\":\"zk: no server\"},\"data\":null}";
    let itself = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://10.0.0.21:9379/x\r\nContent-Length: 0\r\n\r\n";
    let told = |manage: &Manage| {
        [broken, itself].map(|answer| {
            let (outcome, said) = asked(Does::Says(answer), manage.clone());
            format!("{outcome:?}, {said}")
        })
    };
    expect_test::expect![[r#"
        [
            [
                "Info(\"500: zk: no server\"), 500: zk: no server",
                "Info(\"307, 10.0.0.21:9379 leads\"), 307, 10.0.0.21:9379 leads",
            ],
            [
                "Fail(\"500: zk: no server\"), 500: zk: no server",
                "Fail(\"307, 10.0.0.21:9379 leads\"), 307, 10.0.0.21:9379 leads",
            ],
        ]
    "#]]
    .assert_debug_eq(&[told(&FAILOVER), told(&Manage::Topology)]);
}

#[test]
fn without_a_connection_nothing_was_done() {
    for manage in [FAILOVER, Manage::Topology] {
        let (outcome, said) = asked(Does::Refuses, manage);
        let why = "no connection: connection refused";
        assert_eq!(outcome, Outcome::Fail(format!("controller1: {why}")));
        assert_eq!(said, why);
    }
}

#[test]
fn data_is_nothing_that_a_controller_has() {
    let completion = crate::sim::run(async {
        let dial = |_: NodeName| std::future::ready(dial(Does::Nothing));
        let mut operator = Operator::new(dial, common(), "controller1".into());
        operator.invoke(&Call::Read { key: 1 }).await
    });
    let outcome = completion.expect("a runtime").outcome;
    assert_eq!(outcome, Outcome::Fail("a controller has no `read`".into()));
}
