//! Services stopped, crashed, killed and frozen, with and without our supervisor.

use std::time::{Duration, Instant};

use stormglass::cluster::{
    Action, Applied, Cluster, Coordination, CreateMode, NodeState, SessionEvent,
};
use stormglass::docker::DockerCluster;
use stormglass::op::NodeName;

use super::harness::{Scratch, with_engine};
use super::{PATIENCE, apply, healthy, leader, node};

const SESSION: Duration = Duration::from_secs(6);

async fn supervised(scratch: &Scratch, zookeepers: usize) -> DockerCluster {
    let mut spec = scratch.spec(zookeepers);
    spec.needs.supervised = true;
    scratch.up_by(&spec).await
}

async fn is_skipped(cluster: &DockerCluster, action: &Action) -> bool {
    let applied = cluster.apply(action).await.expect("applied");
    matches!(applied, Applied::Skipped { .. })
}

fn undo(action: &Action) -> Action {
    action.undo().expect("an inverse")
}

#[test]
fn a_crashed_server_is_another_process_at_once_with_its_data_and_address() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = supervised(&scratch, 3).await;
        let name = leader(&cluster).await;
        let session = cluster.connect(&name, SESSION).await.expect("a session");
        session.create("/kept", b"1", CreateMode::Persistent).await.expect("created");
        let lost = session.changed(SessionEvent::Connected);
        let began = Instant::now();
        let crash = Action::Crash { node: name };
        let (proof, lost) =
            tokio::join!(apply(&cluster, &crash), tokio::time::timeout(PATIENCE, lost));
        println!("crashed and answering in {} ms: {proof:#?}", began.elapsed().as_millis());
        let lost = lost.expect("the session notices");
        assert_eq!(lost, SessionEvent::Disconnected);
        healthy(&cluster).await;
        println!("healthy in {} ms", began.elapsed().as_millis());
        let session = cluster.connect(&name, SESSION).await.expect("a session");
        assert_eq!(session.get("/kept").await.expect("there").0, b"1");

        for _ in 0..10 {
            let began = Instant::now();
            apply(&cluster, &Action::Crash { node: name }).await;
            println!("again in {} ms", began.elapsed().as_millis());
        }
        healthy(&cluster).await;
        let log = std::fs::read_to_string(scratch.log(&name)).expect("a log");
        assert_eq!(log.matches("Reading configuration from").count(), 12, "one log of all lives");
        scratch.down(cluster).await;
    });
}

#[test]
fn a_supervised_server_is_killed_stopped_and_frozen_as_any_other() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = supervised(&scratch, 1).await;
        come_and_go(&cluster, &node(1)).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn a_server_without_supervisor_is_stopped_and_crashes_too() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        come_and_go(&cluster, &node(1)).await;
        scratch.down(cluster).await;
    });
}

async fn come_and_go(cluster: &DockerCluster, name: &NodeName) {
    let node = *name;
    let state = async || cluster.view().await.nodes[name].state;
    for action in [Action::Kill { node }, Action::Stop { node }] {
        let began = Instant::now();
        let proof = apply(cluster, &action).await;
        let took = began.elapsed().as_millis();
        println!("{}: {took} ms, {:?}", action.name(), proof.checks.last());
        assert_eq!(state().await, NodeState::Down);
        assert!(is_skipped(cluster, &action).await, "it is down already");
        assert!(is_skipped(cluster, &Action::Crash { node }).await, "nothing is there to crash");
        let began = Instant::now();
        apply(cluster, &undo(&action)).await;
        println!("start: {} ms", began.elapsed().as_millis());
        assert_ne!(state().await, NodeState::Down);
        assert!(is_skipped(cluster, &undo(&action)).await, "it is up already");
    }
    let stopped = apply(cluster, &Action::Stop { node }).await;
    let by = stopped.checks.iter().find(|check| check.what.ends_with("ended by"));
    assert_eq!(by.expect("told").seen, "SIGTERM");
    apply(cluster, &Action::Start { node }).await;

    let pause = Action::Pause { node };
    apply(cluster, &pause).await;
    assert_eq!(state().await, NodeState::Paused);
    assert!(is_skipped(cluster, &Action::Stop { node }).await, "frozen, it cannot end");
    assert!(is_skipped(cluster, &Action::Crash { node }).await, "frozen, it cannot restart");
    apply(cluster, &undo(&pause)).await;
    apply(cluster, &Action::Crash { node }).await;
    healthy(cluster).await;
}
