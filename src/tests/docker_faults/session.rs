//! Sessions of others ended on a real ensemble.

use std::time::Duration;

use stormglass::client::zookeeper::sessions;
use stormglass::cluster::{
    Action, Applied, Cluster, Coordination, CreateMode, SessionEvent, SessionPick,
};

use super::harness::{Scratch, with_engine};
use super::{PATIENCE, apply, node};

const SESSION: Duration = Duration::from_secs(30);

#[test]
fn a_session_ends_with_its_ephemerals_and_no_other_does() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let victim = cluster.connect(&node(1), SESSION).await.expect("a session");
        let beside = cluster.connect(&node(1), SESSION).await.expect("a session");
        let elsewhere = cluster.connect(&node(2), SESSION).await.expect("a session");
        victim.create("/victim", b"", CreateMode::Ephemeral).await.expect("created");
        beside.create("/beside", b"", CreateMode::Ephemeral).await.expect("created");

        let at = |session| Action::Expire { node: node(1), session };
        let unheld = at(SessionPick::Id(elsewhere.id()));
        let applied = cluster.apply(&unheld).await.expect("applied");
        assert!(matches!(applied, Applied::Skipped { .. }), "{applied:?}");

        let expire = at(SessionPick::Id(victim.id()));
        let (proof, seen) = tokio::join!(apply(&cluster, &expire), states(&victim));
        println!("expired in {} us: {proof:#?}", proof.took_us);
        // The first lasts only until it has connected again, so it may be missed.
        let disconnected = seen.iter().filter(|state| **state != SessionEvent::Expired);
        assert!(disconnected.into_iter().all(|state| *state == SessionEvent::Disconnected));
        // Another server knows it, too, once it has all that the leader has.
        elsewhere.sync("/").await.expect("synchronised");
        assert_eq!(elsewhere.exists("/victim").await, Ok(None));
        let kept = elsewhere.exists("/beside").await.expect("an answer").expect("there");
        assert_eq!((kept.ephemeral_owner, beside.state()), (beside.id(), SessionEvent::Connected));

        let server = cluster.topology().node(&node(1)).expect("there").address;
        let held = sessions((server, 2181).into(), PATIENCE).await.expect("listed");
        assert_eq!(held, [beside.id()]);
        apply(&cluster, &at(SessionPick::Nth(7))).await;
        states(&beside).await;
        let applied = cluster.apply(&at(SessionPick::Nth(0))).await.expect("applied");
        assert!(matches!(applied, Applied::Skipped { .. }), "none is left: {applied:?}");
        assert_eq!(elsewhere.state(), SessionEvent::Connected);
        scratch.down(cluster).await;
    });
}

#[test]
fn a_server_alone_ends_sessions_whose_owners_come_back_at_once() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        for _ in 0..20 {
            // Short, so that it soon says something on a connection that outlived the session.
            let timeout = Duration::from_secs(3);
            let victim = cluster.connect(&node(1), timeout).await.expect("a session");
            let session = SessionPick::Id(victim.id());
            let expire = Action::Expire { node: node(1), session };
            tokio::join!(apply(&cluster, &expire), states(&victim));
        }
        scratch.down(cluster).await;
    });
}

/// The states that a session goes through until it is over.
async fn states(session: &impl Coordination) -> Vec<SessionEvent> {
    let mut seen = Vec::new();
    let until_over = async {
        let mut state = session.state();
        while state != SessionEvent::Expired {
            state = session.changed(state).await;
            seen.push(state);
        }
    };
    tokio::time::timeout(PATIENCE, until_over).await.expect("it expires");
    seen
}
