//! The simulated cluster as the run loop uses it.

use std::time::Duration;

use super::*;
use crate::cluster::{Coordination, CreateMode};

const TIMEOUT: Duration = Duration::from_secs(4);

async fn up(servers: usize, seed: u64) -> SimCluster {
    let spec = SimSpec { servers, rng: Rng::from_seed(seed), variant: Variant::AsShipped };
    SimCluster::up(spec).await.unwrap()
}

#[test]
fn an_ensemble_elects_one_leader_and_takes_writes_at_every_server() {
    crate::sim::run(async {
        for servers in [1, 2, 3, 5] {
            let cluster = up(servers, servers as u64).await;
            assert!(cluster.view().await.is_healthy());
            for node in cluster.topology().names().cloned().collect::<Vec<_>>() {
                let session = cluster.connect(&node, TIMEOUT).await.unwrap();
                let path = format!("/{node}");
                let made = session.create(&path, b"x", CreateMode::Persistent).await;
                assert_eq!(made, Ok(path.clone()));
                let (data, stat) = session.get(&path).await.unwrap();
                assert_eq!((data.as_slice(), stat.version), (&b"x"[..], 0));
                session.close().await.unwrap();
            }
        }
    })
    .unwrap();
}
