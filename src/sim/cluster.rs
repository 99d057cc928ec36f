//! The simulated cluster: brings an ensemble up, opens sessions, tells who leads, performs actions.

mod apply;
mod intents;
mod lookouts;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::task::JoinHandle;

use self::intents::Intents;
use super::driver::Driver;
use super::process::ProcessState;
use super::world::{Handle, World};
use super::zookeeper::{ModelSession, Variant};
use crate::cluster::{
    Action, Applied, CLIENTS, Cluster, CoordinationError, Needs, Node, NodeState, NodeView,
    Observed, Role, Tap, Topology, View,
};
use crate::op::NodeName;
use crate::rng::Rng;

/// More servers than this no ensemble has.
const SERVERS_MAX: usize = 15;
/// Virtual time within which an ensemble must be up.
const UP_LIMIT: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What to simulate.
#[derive(Clone, Debug)]
pub struct SimSpec {
    pub servers: usize,
    /// All chance of this cluster comes from here.
    pub rng: Rng,
    pub variant: Variant,
}

/// A running simulated ensemble, `zookeeper1` to `zookeeperN`. It ends when this is dropped.
pub struct SimCluster {
    topology: Topology,
    world: Handle,
    /// Where interposers stand.
    standing: RefCell<BTreeSet<Tap>>,
    intents: RefCell<Intents>,
    driver: JoinHandle<()>,
}

impl Drop for SimCluster {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn topology(servers: usize) -> Topology {
    let nodes = (1..=servers).map(|number| Node {
        name: format!("zookeeper{number}").into(),
        role: Role::Zookeeper,
        address: Ipv4Addr::new(10, 0, 0, number as u8),
    });
    Topology { nodes: nodes.collect() }
}

impl SimCluster {
    /// Starts the ensemble and waits until all of it serves. Must run in [`super::runtime`].
    pub async fn up(spec: SimSpec) -> anyhow::Result<SimCluster> {
        if !(1..=SERVERS_MAX).contains(&spec.servers) {
            bail!("an ensemble has 1 to {SERVERS_MAX} servers, not {}", spec.servers);
        }
        let world = Handle::new(World::new(spec.servers as u8, &spec.rng, spec.variant));
        let driver = tokio::task::spawn_local(Driver::new(world.clone()));
        let topology = topology(spec.servers);
        let (standing, intents) = (RefCell::default(), RefCell::default());
        let cluster = SimCluster { topology, world, standing, intents, driver };
        tokio::time::timeout(UP_LIMIT, cluster.healthy())
            .await
            .context("the simulated ensemble never elected a leader")?;
        Ok(cluster)
    }

    /// Waits until every server serves under one leader.
    async fn healthy(&self) {
        while !self.view().await.is_healthy() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Events performed so far, for measuring.
    pub fn steps(&self) -> u64 {
        self.world.with(|world| world.steps())
    }

    /// Looks into the world, for tests.
    #[cfg(test)]
    pub(super) fn inspect<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        self.world.with(look)
    }

    /// Probes every way that a service uses; what does not pass at once, in words. For tests.
    #[cfg(test)]
    pub(super) async fn every_link_passes(&self) -> Vec<String> {
        let clients = NodeName::from(CLIENTS);
        let hosts = self.topology.names().copied().chain([clients]).collect::<Vec<_>>();
        let mut failed = Vec::new();
        for from in &hosts {
            for to in hosts.iter().filter(|to| *to != from) {
                let link = crate::cluster::Link { from: *from, to: *to };
                failed.extend(self.impassable(&link, &[2181, 2888, 3888]).await);
            }
        }
        failed
    }

    fn index(&self, name: &str) -> anyhow::Result<u8> {
        let position = self.topology.nodes.iter().position(|node| &*node.name == name);
        position.map(|position| position as u8).with_context(|| {
            let names: Vec<&str> = self.topology.names().map(|name| &**name).collect();
            format!("no node `{name}` in this cluster; it has {}", names.join(", "))
        })
    }

    /// A node's place in the network, or the clients'.
    fn host(&self, name: &NodeName) -> anyhow::Result<usize> {
        if &**name == CLIENTS {
            return Ok(self.topology.nodes.len());
        }
        self.index(name).map(usize::from)
    }

    fn look_at(&self, node: u8) -> NodeView {
        self.world.with(|world| {
            let status = world.server(node).status();
            let state = match world.process_state(node) {
                ProcessState::Down => NodeState::Down,
                ProcessState::Paused => NodeState::Paused,
                ProcessState::Running if status.serving => NodeState::Serving,
                ProcessState::Running => NodeState::Running,
            };
            match state {
                NodeState::Serving | NodeState::Running if !world.reaches_clients(node) => {
                    let state = NodeState::Running;
                    NodeView::new(Role::Zookeeper, state, "unreachable")
                }
                // Neither answers, so neither says anything of itself.
                NodeState::Down => NodeView::new(Role::Zookeeper, state, "down"),
                NodeState::Paused => NodeView::new(Role::Zookeeper, state, "paused"),
                NodeState::Serving | NodeState::Running => {
                    let (mode, epoch, zxid) = (&status.mode, status.epoch, status.zxid);
                    let detail = format!("{mode}, epoch {epoch}, zxid 0x{zxid:x}");
                    NodeView {
                        leads: status.leads,
                        epoch: status.serving.then_some(u64::from(status.epoch)),
                        ..NodeView::new(Role::Zookeeper, state, detail)
                    }
                }
            }
        })
    }
}

impl Cluster for SimCluster {
    type Session = ModelSession;
    type Stream = futures::io::Cursor<Vec<u8>>;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn connect(
        &self,
        node: &NodeName,
        session_timeout: Duration,
    ) -> impl Future<Output = Result<ModelSession, CoordinationError>> + 'static {
        let session = self
            .index(node)
            .map(|node| ModelSession::open(&self.world, node, session_timeout))
            .map_err(|error| CoordinationError::NotConnected(error.to_string()));
        async move { session?.await }
    }

    fn dial(
        &self,
        node: &NodeName,
        port: u16,
    ) -> impl Future<Output = std::io::Result<Self::Stream>> + 'static {
        let refused = std::io::Error::other(format!("nothing listens at {node}:{port}"));
        async move { Err(refused) }
    }

    async fn view(&self) -> View {
        let look = |(node, name): (usize, &NodeName)| (*name, self.look_at(node as u8));
        View { nodes: self.topology.names().enumerate().map(look).collect() }
    }

    async fn prepare(&self, needs: &Needs) -> anyhow::Result<()> {
        self.make_ready(needs)
    }

    async fn observed(&self) -> Observed {
        self.next_sighting().await
    }

    async fn apply(&self, action: &Action) -> anyhow::Result<Applied> {
        self.perform(action).await
    }
}
