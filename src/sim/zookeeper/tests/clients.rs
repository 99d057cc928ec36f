//! What a client of a healthy ensemble sees: order, watches, sessions, errors.

use std::time::Duration;

use super::lab::{Lab, TIMEOUT, create, milliseconds, sleep, text, with_ensemble};
use crate::cluster::{
    Cluster, Coordination, CoordinationError, CreateMode, MultiOp, MultiResult, SessionEvent,
    Watch, WatchEvent, WatchKind, Watched,
};
use crate::sim::ModelSession;

async fn sessions(lab: &Lab) -> Vec<ModelSession> {
    let mut sessions = Vec::new();
    for name in lab.names() {
        sessions.push(lab.session(&name).await);
    }
    sessions
}

fn event(kind: WatchKind, path: &str) -> WatchEvent {
    WatchEvent { kind, path: path.into() }
}

#[test]
fn requests_of_one_session_are_performed_in_the_order_of_the_calls() {
    with_ensemble(3, async |lab| {
        for session in sessions(&lab).await {
            let path = format!("/{}", session.id());
            let made = session.create(&path, b"0", CreateMode::Persistent);
            let first = session.set(&path, b"1", Some(0));
            let seen = session.get(&path);
            let second = session.set(&path, b"2", Some(1));
            let stale = session.set(&path, b"3", Some(1));
            let synced = session.sync("/");
            let last = session.get(&path);
            // Awaited backwards: the order of the calls counts, not that of the awaits.
            assert_eq!(last.await.unwrap().0, b"2");
            synced.await.unwrap();
            assert_eq!(stale.await, Err(CoordinationError::BadVersion));
            assert_eq!(second.await.unwrap().version, 2);
            assert_eq!(seen.await.unwrap().0, b"1");
            assert_eq!(first.await.unwrap().version, 1);
            assert_eq!(made.await, Ok(path));
        }
    });
}

#[test]
fn a_write_at_one_server_is_read_at_another_after_a_sync_or_a_barrier() {
    with_ensemble(5, async |lab| {
        let sessions = sessions(&lab).await;
        create(&sessions[0], "/a").await.unwrap();
        for round in 0..200 {
            let value = round.to_string();
            let writer = &sessions[round % 5];
            let reader = &sessions[(round * 3 + 1) % 5];
            writer.set("/a", value.as_bytes(), None).await.unwrap();
            if round % 2 == 0 {
                reader.sync("/a").await.unwrap();
            } else {
                let scratch = reader.create("/s", b"", CreateMode::EphemeralSequential).await;
                scratch.unwrap();
            }
            assert_eq!(text(reader, "/a").await.unwrap(), value);
        }
    });
}

#[test]
fn a_multi_is_all_or_nothing_and_names_the_part_that_failed() {
    with_ensemble(3, async |lab| {
        let session = &sessions(&lab).await[1];
        create(session, "/a").await.unwrap();
        let set = |version| MultiOp::Set { path: "/a".into(), data: b"1".into(), version };
        let check = |version| MultiOp::Check { path: "/a".into(), version };
        let failed = session.multi(vec![set(Some(0)), check(0), set(None)]).await;
        assert_eq!(failed, Err((Some(1), CoordinationError::BadVersion)));
        assert_eq!(text(session, "/a").await.unwrap(), "0");
        let made = MultiOp::Create {
            path: "/b".into(),
            data: Vec::new(),
            mode: CreateMode::PersistentSequential,
        };
        let gone = MultiOp::Delete { path: "/b0000000001".into(), version: Some(0) };
        let results = session.multi(vec![check(0), set(Some(0)), made, gone]).await.unwrap();
        let MultiResult::Set { stat } = results[1] else { panic!("{results:?}") };
        assert_eq!(stat.version, 1);
        let made = MultiResult::Create { path: "/b0000000001".into() };
        assert_eq!(results[0], MultiResult::Check);
        assert_eq!(results[2..], [made, MultiResult::Delete]);
        assert_eq!(session.multi(vec![]).await, Ok(vec![]));
        let wrong = MultiOp::Check { path: "b".into(), version: 0 };
        let refused = session.multi(vec![set(None), wrong]).await;
        assert!(
            matches!(refused, Err((Some(1), CoordinationError::BadArguments(_)))),
            "{refused:?}"
        );
    });
}

#[test]
fn a_watch_fires_once_with_the_change_it_waited_for() {
    with_ensemble(3, async |lab| {
        let sessions = sessions(&lab).await;
        let (writer, reader) = (&sessions[0], &sessions[2]);
        let awaited = reader.watch("/a", Watch::Data).await.unwrap();
        create(writer, "/a").await.unwrap();
        assert_eq!(awaited.fired().await, event(WatchKind::Created, "/a"));

        let data = reader.watch("/a", Watch::Data).await.unwrap();
        let again = reader.watch("/a", Watch::Data).await.unwrap();
        let children = reader.watch("/a", Watch::Children).await.unwrap();
        create(writer, "/a/b").await.unwrap();
        assert_eq!(children.fired().await, event(WatchKind::ChildrenChanged, "/a"));
        writer.set("/a", b"1", None).await.unwrap();
        assert_eq!(data.fired().await, event(WatchKind::DataChanged, "/a"));
        assert_eq!(again.fired().await, event(WatchKind::DataChanged, "/a"));

        let data = reader.watch("/a/b", Watch::Data).await.unwrap();
        let children = reader.watch("/a/b", Watch::Children).await.unwrap();
        writer.delete("/a/b", None).await.unwrap();
        assert_eq!(data.fired().await, event(WatchKind::Deleted, "/a/b"));
        assert_eq!(children.fired().await, event(WatchKind::Deleted, "/a/b"));
        let nothing = reader.watch("/a/b", Watch::Children).await;
        assert!(matches!(nothing, Err(CoordinationError::NoNode)));
    });
}

#[test]
fn a_multi_fires_the_watches_of_all_its_parts() {
    with_ensemble(3, async |lab| {
        let session = &sessions(&lab).await[0];
        create(session, "/a").await.unwrap();
        let changed = session.watch("/a", Watch::Data).await.unwrap();
        let children = session.watch("/", Watch::Children).await.unwrap();
        let created = session.watch("/b", Watch::Data).await.unwrap();
        let parts = vec![
            MultiOp::Set { path: "/a".into(), data: b"1".into(), version: None },
            MultiOp::Create { path: "/b".into(), data: Vec::new(), mode: CreateMode::Persistent },
        ];
        session.multi(parts).await.unwrap();
        assert_eq!(changed.fired().await, event(WatchKind::DataChanged, "/a"));
        assert_eq!(children.fired().await, event(WatchKind::ChildrenChanged, "/"));
        assert_eq!(created.fired().await, event(WatchKind::Created, "/b"));
    });
}

#[test]
fn closing_a_session_removes_its_ephemerals_and_ends_its_watches() {
    with_ensemble(3, async |lab| {
        let mut sessions = sessions(&lab).await;
        let closing = sessions.pop().unwrap();
        closing.create("/e", b"", CreateMode::Ephemeral).await.unwrap();
        sessions[0].sync("/").await.unwrap();
        let gone = sessions[0].watch("/e", Watch::Data).await.unwrap();
        let lost = closing.watch("/e", Watch::Data).await.unwrap();
        let ended = closing.changed(SessionEvent::Connected);
        closing.close().await.unwrap();
        assert_eq!(ended.await, SessionEvent::Closed);
        assert_eq!(gone.fired().await, event(WatchKind::Deleted, "/e"));
        // Its own znode's end is the last thing that the closing session hears.
        assert_eq!(lost.fired().await, event(WatchKind::Deleted, "/e"));
        assert_eq!(sessions[0].exists("/e").await, Ok(None));
    });
}

#[test]
fn a_dropped_session_closes_by_itself() {
    with_ensemble(3, async |lab| {
        let mut sessions = sessions(&lab).await;
        let dropped = sessions.pop().unwrap();
        dropped.create("/e", b"", CreateMode::Ephemeral).await.unwrap();
        drop(dropped);
        sleep(milliseconds(20)).await;
        sessions[0].sync("/").await.unwrap();
        assert_eq!(sessions[0].exists("/e").await, Ok(None));
        // An attempt that nobody waits for leaves no session behind either.
        let attempt = lab.cluster.connect(&lab.names()[0], TIMEOUT);
        drop(attempt);
        sleep(milliseconds(200)).await;
        assert_eq!(lab.open_sessions().await, 2);
    });
}

#[test]
fn an_idle_session_lives_on_and_timeouts_are_granted_within_bounds() {
    with_ensemble(3, async |lab| {
        let name = &lab.names()[0];
        for (asked, granted) in [(100, 1_000), (4_000, 4_000), (60_000, 60_000), (90_000, 60_000)] {
            let session = lab.cluster.connect(name, milliseconds(asked)).await.unwrap();
            assert_eq!(session.timeout(), milliseconds(granted));
            sleep(Duration::from_secs(60)).await;
            assert_eq!(session.state(), SessionEvent::Connected);
            assert_eq!(session.exists("/nothing").await, Ok(None));
        }
    });
}

#[test]
fn connecting_to_a_server_that_is_down_ends_after_the_timeout() {
    with_ensemble(3, async |lab| {
        let name = lab.names()[0];
        lab.kill(&name).await;
        let began = tokio::time::Instant::now();
        let refused = lab.cluster.connect(&name, milliseconds(3_000)).await;
        assert!(matches!(refused, Err(CoordinationError::NotConnected(_))));
        assert!(began.elapsed() <= milliseconds(3_100), "{:?}", began.elapsed());
        let unknown = lab.cluster.connect(&"nowhere".into(), TIMEOUT).await;
        let Err(CoordinationError::NotConnected(why)) = unknown else { panic!("connected") };
        assert!(why.contains("zookeeper1, zookeeper2, zookeeper3"), "{why}");
    });
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_sent() {
    with_ensemble(1, async |lab| {
        let session = lab.session(&lab.names()[0]).await;
        let wrong = session.get("a").await;
        assert!(matches!(wrong, Err(CoordinationError::BadArguments(_))));
        assert!(matches!(create(&session, "/").await, Err(CoordinationError::BadArguments(_))));
        let root = session.children("/").await.unwrap();
        assert_eq!(root, ["zookeeper"]);
        assert_eq!(session.set("/", b"r", None).await.unwrap().version, 1);
    });
}
