//! kvrocks nodes, their controllers and ZooKeeper in containers.

use std::time::Instant;

use stormglass::cluster::{Action, Applied, Cluster, NodeState, Role};
use stormglass::docker::DockerCluster;

use crate::docker_cluster::harness::{Scratch, with_engine};

async fn apply(cluster: &DockerCluster, action: &Action) {
    let applied = cluster.apply(action).await.expect("applied");
    assert!(matches!(applied, Applied::Installed { .. }), "{action:?}: {applied:#?}");
}

#[test]
fn nodes_come_up_beside_zookeeper_and_are_killed_and_started() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let started = Instant::now();
        let cluster =
            scratch.up_by(&scratch.spec_of(&[(Role::Zookeeper, 1), (Role::Kvrocks, 4)])).await;
        println!("up in {:?}", started.elapsed());
        println!("{:#?}", cluster.view().await);
        for image in cluster.images() {
            println!("{image:?}");
        }
        let node = Role::Kvrocks.node_name(1);
        for action in [Action::Kill { node }, Action::Stop { node }, Action::Pause { node }] {
            apply(&cluster, &action).await;
            let state = cluster.view().await.nodes[&node].state;
            assert!(matches!(state, NodeState::Down | NodeState::Paused), "{state:?}");
            apply(&cluster, &action.undo().expect("an inverse")).await;
        }
        apply(&cluster, &Action::Crash { node }).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn controllers_elect() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster =
            scratch.up_by(&scratch.spec_of(&[(Role::Zookeeper, 1), (Role::Controller, 2)])).await;
        println!("{:#?}", cluster.view().await);
        for _ in 0..20 {
            let started = Instant::now();
            cluster.view().await;
            println!("view {:?}", started.elapsed());
        }
        for node in cluster.topology().with_role(Role::Controller) {
            println!("{}", std::fs::read_to_string(scratch.log(&node.name)).unwrap());
        }
        scratch.down(cluster).await;
    });
}
