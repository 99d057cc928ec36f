//! Faults of processes, sessions and clocks on real servers, and what is seen in their logs. Each fault
//! has a test that fails if it does nothing, and one that fails if its heal does nothing.

mod clock;
mod heal;
mod log;
mod process;
mod session;

use std::time::Duration;

use stormglass::cluster::{Action, Applied, Cluster, Proof, Role};
use stormglass::docker::DockerCluster;
use stormglass::op::NodeName;

use crate::docker_cluster::harness;

/// Longer than any election here takes.
const PATIENCE: Duration = Duration::from_secs(30);

fn node(index: usize) -> NodeName {
    format!("zookeeper{index}").into()
}

async fn apply(cluster: &DockerCluster, action: &Action) -> Proof {
    match cluster.apply(action).await.expect("applied") {
        Applied::Installed { proof } => proof,
        other => panic!("{} is not installed: {other:#?}", action.name()),
    }
}

async fn healthy(cluster: &DockerCluster) {
    let healthy = async {
        while !cluster.view().await.is_healthy() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, healthy).await.expect("a healthy cluster");
}

async fn leader(cluster: &DockerCluster) -> NodeName {
    *cluster.view().await.leaders(Role::Zookeeper).next().expect("a leader")
}
