//! An ensemble to experiment on: short words for what tests do to it.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use crate::cluster::{
    Action, Applied, Cluster, Coordination, CoordinationError, CreateMode, FaultId, Link, Role,
};
use crate::op::NodeName;
use crate::rng::Rng;
use crate::sim::{ModelSession, SimCluster, SimSpec, Variant};

pub const TIMEOUT: Duration = Duration::from_secs(6);

pub struct Lab {
    pub cluster: SimCluster,
}

/// Runs a test against an ensemble of so many servers.
pub fn with_ensemble<F: Future<Output = ()>>(servers: usize, test: impl FnOnce(Lab) -> F) {
    with_variant(servers, 1, Variant::AsShipped, test);
}

pub fn with_variant<F: Future<Output = ()>>(
    servers: usize,
    seed: u64,
    variant: Variant,
    test: impl FnOnce(Lab) -> F,
) {
    crate::sim::run(async move {
        let spec = SimSpec::ensemble(servers, variant, Rng::from_seed(seed));
        let cluster = SimCluster::up(spec).await.unwrap();
        test(Lab { cluster }).await;
    })
    .unwrap();
}

pub fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

impl Lab {
    pub fn names(&self) -> Vec<NodeName> {
        self.cluster.topology().names().cloned().collect()
    }

    pub async fn leader(&self) -> NodeName {
        self.cluster.view().await.leaders(Role::Zookeeper).next().cloned().expect("somebody leads")
    }

    pub async fn followers(&self) -> Vec<NodeName> {
        let leader = self.leader().await;
        self.names().into_iter().filter(|name| *name != leader).collect()
    }

    pub async fn session(&self, node: &NodeName) -> ModelSession {
        self.cluster.connect(node, TIMEOUT).await.expect("the server serves")
    }

    /// Performs an action, which must act.
    pub async fn apply(&self, action: Action) {
        let applied = self.cluster.apply(&action).await.unwrap();
        assert!(matches!(applied, Applied::Installed { .. }), "{action:?}: {applied:?}");
    }

    pub async fn kill(&self, node: &NodeName) {
        self.apply(Action::Kill { node: *node }).await;
    }

    pub async fn start(&self, node: &NodeName) {
        self.apply(Action::Start { node: *node }).await;
    }

    pub async fn pause(&self, node: &NodeName) {
        self.apply(Action::Pause { node: *node }).await;
    }

    pub async fn resume(&self, node: &NodeName) {
        self.apply(Action::Resume { node: *node }).await;
    }

    /// Cuts these nodes from all others, both ways.
    pub async fn isolate(&self, nodes: &[NodeName]) -> Action {
        let mut links = BTreeSet::new();
        for inside in nodes {
            for outside in self.names().iter().filter(|name| !nodes.contains(name)) {
                links.insert(Link { from: *inside, to: *outside });
                links.insert(Link { from: *outside, to: *inside });
            }
        }
        let action = Action::Cut { fault: FaultId(1), links, manner: Default::default() };
        self.apply(action.clone()).await;
        action
    }

    /// Sessions that the leader's state holds.
    pub async fn open_sessions(&self) -> usize {
        let leader = self.leader().await;
        let node = self.names().iter().position(|name| *name == leader).unwrap_or_default();
        self.cluster.inspect(|world| world.server(node as u8).tree().sessions().len())
    }

    /// Waits until all serve under one leader; bounded.
    pub async fn healthy(&self) {
        for _ in 0..1200 {
            if self.cluster.view().await.is_healthy() {
                return;
            }
            sleep(milliseconds(100)).await;
        }
        panic!("no healthy view in two minutes: {:?}", self.cluster.view().await);
    }

    /// Waits until somebody leads other than this one; bounded.
    pub async fn led_by_another(&self, than: &NodeName) -> NodeName {
        for _ in 0..1200 {
            let view = self.cluster.view().await;
            if let Some(leader) = view.leaders(Role::Zookeeper).find(|leader| *leader != than) {
                return *leader;
            }
            sleep(milliseconds(100)).await;
        }
        panic!("nobody but {than} led in two minutes: {:?}", self.cluster.view().await);
    }
}

pub async fn create(session: &ModelSession, path: &str) -> Result<String, CoordinationError> {
    session.create(path, b"0", CreateMode::Persistent).await
}

pub async fn text(session: &ModelSession, path: &str) -> Result<String, CoordinationError> {
    let (data, _) = session.get(path).await?;
    Ok(String::from_utf8_lossy(&data).into_owned())
}
