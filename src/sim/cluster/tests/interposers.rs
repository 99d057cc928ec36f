//! Single requests and replies that come late, twice or never.

use super::*;
use crate::cluster::{Concerning, Form, MessageRule, MessageSeen, Protocol, SessionEvent};
use crate::duration::Span;

const LONG: Duration = Duration::from_secs(40);

fn rule(pattern: &str, form: Form) -> MessageRule {
    let pattern = pattern.parse().expect("a pattern");
    MessageRule { pattern, form, nth: 1, times: Some(1), delay: None }
}

fn hit(rule: MessageRule) -> Action {
    interpose(1, client_tap("zookeeper1"), Effect::Message(rule))
}

/// An ensemble with an interposer at one server, a patient session there, and one elsewhere.
async fn tapped() -> (SimCluster, ModelSession, ModelSession) {
    let cluster = up(3, 1).await;
    prepare(&cluster, [client_tap("zookeeper1")]).await;
    let inside = cluster.connect(&"zookeeper1".into(), LONG).await.unwrap();
    let outside = session(&cluster, "zookeeper2").await;
    inside.create("/a", b"0", CreateMode::Persistent).await.unwrap();
    (cluster, inside, outside)
}

/// What was seen; something must be there.
async fn seen(cluster: &SimCluster) -> MessageSeen {
    let observed = tokio::time::timeout(LONG, cluster.observed()).await.expect("something seen");
    assert_eq!(observed.concerning, Concerning::Fault(FaultId(1)));
    assert_eq!(&*observed.node, "zookeeper1");
    let message = observed.message.expect("a message");
    assert_eq!(message.request, observed.what);
    message
}

async fn nothing_seen(cluster: &SimCluster) {
    let second = Duration::from_secs(1);
    let seen = tokio::time::timeout(second, cluster.observed()).await;
    assert!(seen.is_err(), "{seen:?}");
}

async fn value(session: &ModelSession) -> String {
    session.sync("/a").await.unwrap();
    String::from_utf8(session.get("/a").await.unwrap().0).unwrap()
}

#[test]
fn a_held_write_is_applied_and_its_reply_comes_never() {
    crate::sim::run(async {
        let (cluster, inside, outside) = tapped().await;
        let action = hit(rule("zookeeper set /a*", Form::Hold));
        let proof = installed(&cluster, &action).await;
        let armed = "f1 at clients→zookeeper1:2181: hold `zookeeper set /a*`";
        assert_eq!(told(&proof), [format!("{armed} / hold `zookeeper set /a*`")]);
        assert_eq!(inside.get("/a").await.unwrap().0, b"0", "reads pass");
        let held = tokio::task::spawn_local(inside.set("/a", b"17", None));
        let behind = inside.get("/a");
        let message = seen(&cluster).await;
        assert_eq!(message.request, r#"set /a = "17""#);
        assert_eq!(message.subject.as_deref(), Some("/a"));
        let zxid = outside.exists("/a").await.unwrap().unwrap().mzxid;
        let reply = format!("ok zxid=0x{zxid:x} version=1");
        assert_eq!((message.reply, message.applied), (Some(reply), true));
        assert!(message.connection.starts_with("10.0.0.254:"), "{}", message.connection);
        assert!(message.connection.ends_with("→10.0.0.1:2181"), "{}", message.connection);
        assert_eq!((message.form, message.nth), (Form::Hold, 1));
        assert_eq!(value(&outside).await, "17");
        seconds(8).await;
        assert!(!held.is_finished());
        assert_eq!(inside.state(), SessionEvent::Connected, "the connection stays");
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert_eq!(proof.packets, Some(1));
        let (lost, took_ms) = timed(held).await;
        assert_eq!(lost.unwrap(), Err(CoordinationError::ConnectionLoss));
        assert!(took_ms < 10, "{took_ms} ms: the connection is closed at once");
        assert_eq!(behind.await, Err(CoordinationError::ConnectionLoss));
        inside.set("/a", b"18", None).await.unwrap();
        assert_eq!(value(&outside).await, "18");
        nothing_seen(&cluster).await;
    })
    .unwrap();
}

#[test]
fn a_client_whose_reply_is_held_runs_into_its_own_timeout() {
    crate::sim::run(async {
        let (cluster, _inside, outside) = tapped().await;
        let inside = session(&cluster, "zookeeper1").await;
        installed(&cluster, &hit(rule("zookeeper set", Form::Hold))).await;
        let (lost, took_ms) = timed(inside.set("/a", b"1", None)).await;
        assert_eq!(lost, Err(CoordinationError::ConnectionLoss));
        assert!(took_ms > 1_000, "{took_ms} ms: nobody told it");
        assert_eq!(value(&outside).await, "1");
        assert_eq!(inside.changed(SessionEvent::Disconnected).await, SessionEvent::Connected);
        inside.set("/a", b"2", None).await.unwrap();
    })
    .unwrap();
}

#[test]
fn a_reply_can_be_lost_with_its_connection() {
    crate::sim::run(async {
        let (cluster, inside, outside) = tapped().await;
        let action = hit(rule("zookeeper set /a", Form::Close));
        installed(&cluster, &action).await;
        let (lost, took_ms) = timed(inside.set("/a", b"1", None)).await;
        assert_eq!(lost, Err(CoordinationError::ConnectionLoss));
        assert!(took_ms < 10, "{took_ms} ms");
        assert_eq!(value(&outside).await, "1");
        assert!(seen(&cluster).await.applied);
        inside.set("/a", b"2", None).await.unwrap();
        nothing_seen(&cluster).await;
    })
    .unwrap();
}

#[test]
fn a_reply_can_be_late_until_the_rule_is_withdrawn() {
    crate::sim::run(async {
        let (cluster, inside, _outside) = tapped().await;
        let late = MessageRule {
            times: None,
            delay: Some(Span(Duration::from_millis(500))),
            ..rule("zookeeper get", Form::Delay)
        };
        let action = hit(late);
        installed(&cluster, &action).await;
        for _ in 0..2 {
            let (got, took_ms) = timed(inside.get("/a")).await;
            got.unwrap();
            assert!((500..520).contains(&took_ms), "{took_ms} ms");
        }
        assert!(timed(inside.exists("/a")).await.1 < 20);
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert_eq!(proof.packets, Some(2));
        assert!(timed(inside.get("/a")).await.1 < 20);
    })
    .unwrap();
}

#[test]
fn a_request_can_be_done_twice() {
    crate::sim::run(async {
        let (cluster, inside, outside) = tapped().await;
        let action = hit(rule("zookeeper create /a/*", Form::Duplicate));
        installed(&cluster, &action).await;
        let made = inside.create("/a/n", b"", CreateMode::PersistentSequential).await;
        assert_eq!(made.as_deref(), Ok("/a/n0000000000"));
        inside.get("/a").await.unwrap();
        outside.sync("/a").await.unwrap();
        assert_eq!(outside.children("/a").await.unwrap().len(), 2);
        let message = seen(&cluster).await;
        assert_eq!(message.request, r#"create /a/n = """#);
        installed(&cluster, &action.undo().unwrap()).await;
        inside.create("/a/n", b"", CreateMode::PersistentSequential).await.unwrap();
        outside.sync("/a").await.unwrap();
        assert_eq!(outside.children("/a").await.unwrap().len(), 3);
        nothing_seen(&cluster).await;
    })
    .unwrap();
}

#[test]
fn a_request_can_vanish_and_its_client_finds_out() {
    crate::sim::run(async {
        let (cluster, inside, outside) = tapped().await;
        let action = hit(rule("zookeeper set /a", Form::DropRequest));
        installed(&cluster, &action).await;
        let lost = inside.set("/a", b"1", None);
        seconds(1).await;
        let message = seen(&cluster).await;
        assert_eq!((message.reply, message.applied), (None, false));
        // The next answer is not the one that is due.
        drop(inside.exists("/a"));
        assert_eq!(lost.await, Err(CoordinationError::ConnectionLoss));
        assert_eq!(value(&outside).await, "0");
        inside.set("/a", b"2", None).await.unwrap();
        assert_eq!(value(&outside).await, "2");
    })
    .unwrap();
}

#[test]
fn only_the_wanted_matches_are_hit_and_a_watch_changes_nothing() {
    crate::sim::run(async {
        let (cluster, inside, outside) = tapped().await;
        let watch = MessageRule {
            nth: 2,
            times: Some(2),
            ..rule("zookeeper {SET,delete} /a", Form::Watch)
        };
        let action = hit(watch);
        installed(&cluster, &action).await;
        for value in ["1", "2", "3", "4"] {
            inside.set("/a", value.as_bytes(), None).await.unwrap();
            outside.set("/a", b"elsewhere", None).await.unwrap();
        }
        let requests = [seen(&cluster).await, seen(&cluster).await];
        let requests = requests.map(|message| (message.request, message.nth));
        let expected = [(r#"set /a = "2""#.to_owned(), 2), (r#"set /a = "3""#.to_owned(), 3)];
        assert_eq!(requests, expected);
        nothing_seen(&cluster).await;
        assert_eq!(installed(&cluster, &action.undo().unwrap()).await.packets, Some(2));
    })
    .unwrap();
}

#[test]
fn refusals_and_multis_are_told_in_the_words_of_the_server() {
    use crate::cluster::MultiOp;
    crate::sim::run(async {
        let (cluster, inside, _outside) = tapped().await;
        let late = MessageRule {
            delay: Some(Span(Duration::from_millis(1))),
            times: None,
            ..rule("zookeeper", Form::Delay)
        };
        installed(&cluster, &hit(late)).await;
        inside.set("/a", b"1", Some(7)).await.unwrap_err();
        let set = |version| MultiOp::Set { path: "/a".into(), data: b"x".to_vec(), version };
        let check = MultiOp::Check { path: "/a".into(), version: 0 };
        inside.multi(vec![check, set(Some(0))]).await.unwrap();
        inside.multi(vec![set(Some(7))]).await.unwrap_err();
        inside.get("/none").await.unwrap_err();
        let mut told = Vec::new();
        for _ in 0..4 {
            let MessageSeen { request, reply, applied, .. } = seen(&cluster).await;
            let reply = reply.unwrap().split(" zxid").next().unwrap().to_owned();
            told.push(format!("{request}: {reply}, {applied}"));
        }
        let expected = [
            r#"set /a = "1": error BadVersion, false"#,
            r#"multi check /a, set /a = "x": ok, true"#,
            r#"multi set /a = "x": error BadVersion, false"#,
            "get /none: error NoNode, false",
        ];
        assert_eq!(told, expected);
    })
    .unwrap();
}

#[test]
fn what_cannot_be_interposed_is_an_error() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let action = hit(rule("zookeeper set", Form::Hold));
        let why = "no interposer stands at clients→zookeeper1:2181";
        assert_eq!(refused(&cluster, &action).await, why);
        let quorum = tap("zookeeper1", Side::Outbound, 2888, &[]);
        prepare(&cluster, [client_tap("zookeeper1"), quorum.clone()]).await;
        assert_eq!(
            skipped(&cluster, &action.undo().unwrap()).await,
            "f1 is not armed at these taps"
        );
        let mistaken = rule("zookeeper set", Form::Hold);
        let wrong = interpose(1, quorum, Effect::Message(mistaken));
        assert!(refused(&cluster, &wrong).await.contains("does not speak zookeeper"));
        let mut foreign = rule("zookeeper set", Form::Hold);
        foreign.pattern.protocol = Protocol::Resp;
        assert!(refused(&cluster, &hit(foreign)).await.contains("does not speak resp"));
        installed(&cluster, &action).await;
        assert_eq!(skipped(&cluster, &action).await, "f1 is armed at these taps already");
    })
    .unwrap();
}
