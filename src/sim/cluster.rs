//! The simulated cluster: brings its nodes up, opens sessions and streams, tells who leads, performs
//! actions.

mod apply;
mod intents;
mod lookouts;
mod spec;
#[cfg(test)]
mod tests;
mod view;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::task::JoinHandle;

use self::intents::Intents;
use super::driver::Driver;
use super::stream::SimStream;
use super::world::{Handle, Resident, World};
use super::zookeeper::ModelSession;
pub use spec::{SimSpec, Variants};

use crate::cluster::{
    Action, Applied, CLIENTS, Cluster, CoordinationError, Needs, NodeState, NodeView, Observed,
    Role, Tap, Topology, View,
};
use crate::op::NodeName;

/// Virtual time within which a cluster must be up.
const UP_LIMIT: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A running simulated cluster. It ends when this is dropped.
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

impl SimCluster {
    /// Starts all nodes and waits until each of them serves. Must run in [`super::runtime`].
    pub async fn up(spec: SimSpec) -> anyhow::Result<SimCluster> {
        let topology = spec.topology()?;
        let residents = spec.residents(&topology)?;
        SimCluster::start(topology, residents, &spec).risen().await
    }

    /// Starts nodes of one role with a program of the caller's own.
    #[cfg(test)]
    pub(super) fn start_with(
        spec: &SimSpec,
        role: Role,
        program: &super::program::Program,
    ) -> anyhow::Result<SimCluster> {
        let topology = spec.topology()?;
        let its = |node: &crate::cluster::Node| (node.role == role).then(|| program.clone());
        let residents = topology.nodes.iter().map(|node| spec::resident(node, its(node)));
        let residents = residents.collect();
        Ok(SimCluster::start(topology, residents, spec))
    }

    /// This cluster, once all of it serves.
    pub(super) async fn risen(self) -> anyhow::Result<SimCluster> {
        if tokio::time::timeout(UP_LIMIT, self.healthy()).await.is_err() {
            let view = self.look().await;
            let bad = |node: &NodeView| node.state != NodeState::Serving;
            let ill = view.nodes.iter().filter(|(_, node)| bad(node));
            let ill: Vec<String> =
                ill.map(|(name, node)| format!("{name}: {}", node.detail)).collect();
            bail!("the simulated cluster never got well: {}", ill.join("; "));
        }
        Ok(self)
    }

    /// Starts all nodes; none of them serves so far.
    fn start(topology: Topology, residents: Vec<Resident>, spec: &SimSpec) -> SimCluster {
        let world = Handle::new(World::new(residents, spec.variants.zookeeper, &spec.rng));
        let driver = tokio::task::unconstrained(Driver::new(world.clone()));
        let driver = tokio::task::spawn_local(driver);
        let (standing, intents) = (RefCell::default(), RefCell::default());
        SimCluster { topology, world, standing, intents, driver }
    }

    /// Waits until every node serves, each role that elects under one leader.
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
                let ports = Role::ALL.into_iter().flat_map(|role| {
                    role.peer_ports().iter().copied().chain([role.client_port().0])
                });
                let ports: BTreeSet<u16> = ports.collect();
                failed.extend(self.impassable(&link, &ports).await);
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

    /// A node that is a server of the ensemble.
    fn server(&self, name: &str) -> anyhow::Result<u8> {
        let node = self.index(name)?;
        ensure!(
            self.topology.nodes[usize::from(node)].role == Role::Zookeeper,
            "{name} is no ZooKeeper server"
        );
        Ok(node)
    }

    /// A node's place in the network, or the clients'.
    fn host(&self, name: &NodeName) -> anyhow::Result<usize> {
        if &**name == CLIENTS {
            return Ok(self.topology.nodes.len());
        }
        self.index(name).map(usize::from)
    }
}

impl Cluster for SimCluster {
    type Session = ModelSession;
    type Stream = SimStream;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn connect(
        &self,
        node: &NodeName,
        session_timeout: Duration,
    ) -> impl Future<Output = Result<ModelSession, CoordinationError>> + 'static {
        let session = self
            .server(node)
            .map(|node| ModelSession::open(&self.world, None, node, session_timeout))
            .map_err(|error| CoordinationError::NotConnected(error.to_string()));
        async move { session?.await }
    }

    fn dial(
        &self,
        node: &NodeName,
        port: u16,
    ) -> impl Future<Output = std::io::Result<SimStream>> + 'static {
        let (world, node) = (self.world.clone(), self.index(node));
        let clients = self.topology.nodes.len() as u8;
        async move {
            let node = node.map_err(std::io::Error::other)?;
            let socket = world.with(|world| world.open_socket(clients, (node, port)));
            SimStream::new(&world, socket).opened().await
        }
    }

    async fn view(&self) -> View {
        self.look().await
    }

    async fn trouble(&self) -> String {
        self.world.broken().await;
        "the simulated world broke: something in it panicked, as told on standard error".to_owned()
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
