//! Processes stopped and crashed; sessions that somebody else ends.

use super::*;
use crate::cluster::{SessionEvent, SessionPick};

#[test]
fn a_stopped_process_is_gone_until_it_is_started() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let node = followers(&cluster).await[0];
        let inside = session(&cluster, &node).await;
        let stop = Action::Stop { node };
        let proof = installed(&cluster, &stop).await;
        let gone = [format!("{node} pid: none / none"), format!("{node} state: down / down")];
        assert_eq!(told(&proof), gone);
        assert_eq!(inside.changed(SessionEvent::Connected).await, SessionEvent::Disconnected);
        assert_eq!(skipped(&cluster, &stop).await, format!("{node} is down"));
        seconds(3).await;
        assert_eq!(cluster.view().await.nodes[&node].state, NodeState::Down);
        installed(&cluster, &stop.undo().unwrap()).await;
        cluster.healthy().await;
        installed(&cluster, &Action::Pause { node }).await;
        let why = format!("{node} is paused and cannot end by itself");
        assert_eq!(skipped(&cluster, &stop).await, why);
    })
    .unwrap();
}

#[test]
fn a_crashed_process_is_another_one_at_once() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let (node, before) = (leader(&cluster).await, epoch(&cluster).await);
        let crash = Action::Crash { node };
        assert!(crash.undo().is_none());
        let inside = session(&cluster, &node).await;
        let proof = installed(&cluster, &crash).await;
        let expected =
            [format!("{node} pid: a new one / 1004"), format!("{node} state: running / running")];
        assert_eq!(told(&proof), expected);
        assert_eq!(inside.changed(SessionEvent::Connected).await, SessionEvent::Disconnected);
        cluster.healthy().await;
        assert!(epoch(&cluster).await > before, "the leader's process was really lost");
        installed(&cluster, &Action::Kill { node }).await;
        assert_eq!(skipped(&cluster, &crash).await, format!("{node} is down"));
    })
    .unwrap();
}

#[test]
fn an_expired_session_is_gone_and_its_client_learns_it() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        for node in ["zookeeper1", "zookeeper3"] {
            let watching = session(&cluster, "zookeeper2").await;
            let mine = session(&cluster, node).await;
            let path = format!("/{node}");
            mine.create(&path, b"", CreateMode::Ephemeral).await.unwrap();
            let spared = session(&cluster, node).await;
            spared.create("/spared", b"", CreateMode::Ephemeral).await.unwrap();
            let expire = Action::Expire { node: node.into(), session: SessionPick::Id(mine.id()) };
            assert!(expire.undo().is_none());
            let disconnected = mine.changed(SessionEvent::Connected);
            let proof = installed(&cluster, &expire).await;
            let expected = format!("session 0x{:x} at {node}: gone / gone", mine.id());
            assert_eq!(told(&proof), [expected]);
            assert_eq!(disconnected.await, SessionEvent::Disconnected);
            assert_eq!(mine.changed(SessionEvent::Disconnected).await, SessionEvent::Expired);
            assert_eq!(watching.exists(&path).await, Ok(None));
            assert!(spared.get("/spared").await.is_ok());
            let again = skipped(&cluster, &expire).await;
            assert_eq!(again, format!("{node} does not hold session 0x{:x}", mine.id()));
            spared.close().await.unwrap();
        }
    })
    .unwrap();
}

#[test]
fn the_nth_session_is_counted_by_id_round_and_round() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let node: NodeName = "zookeeper1".into();
        let expire = |nth| Action::Expire { node, session: SessionPick::Nth(nth) };
        assert_eq!(skipped(&cluster, &expire(0)).await, "zookeeper1 holds no session");
        let mut sessions = Vec::new();
        for _ in 0..3 {
            sessions.push(session(&cluster, &node).await);
        }
        sessions.sort_by_key(|session| session.id());
        installed(&cluster, &expire(4)).await;
        let over = |session: &ModelSession| session.state() == SessionEvent::Expired;
        seconds(1).await;
        assert_eq!(sessions.iter().map(over).collect::<Vec<_>>(), [false, true, false]);
        installed(&cluster, &expire(4)).await;
        seconds(1).await;
        assert_eq!(sessions.iter().map(over).collect::<Vec<_>>(), [true, true, false]);
    })
    .unwrap();
}
