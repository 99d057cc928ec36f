//! A ZooKeeper ensemble in containers: the docker world's `Cluster`.

mod apply;
mod expect;
mod making;
mod pace;
mod sightings;
mod up;
mod view;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::future::{join_all, try_join_all};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use crate::agent::protocol::Offsets;
use crate::client::zookeeper::WireSession;
use crate::cluster::{
    Ability, Action, Applied, Cluster, CoordinationError, Mechanism, Needs, Observed, Role,
    Topology, View,
};
use crate::docker::agent::{Agent, Notice};
use crate::docker::engine::{Engine, is_missing};
use crate::docker::images::{ImageError, ResolvedImage};
use crate::docker::logs::{LogStream, LogWatch};
use crate::docker::network::NetworkError;
use crate::docker::owner::RunId;
use crate::docker::subnet::Subnet;
use crate::docker::{Progress, node, zookeeper};
use crate::op::NodeName;
use expect::Cuts;
use pace::Paces;

pub use crate::docker::node::Limits;
pub(super) use sightings::{Sighter, Sightings};
pub(super) use up::check_address;

/// What cluster is wanted.
#[derive(Clone, Debug)]
pub struct ClusterSpec {
    pub run: RunId,
    /// Number of ZooKeeper servers, at least one.
    pub zookeepers: usize,
    /// Images chosen instead of the official ones, by the catalogue's name.
    pub images: BTreeMap<String, String>,
    pub limits: Limits,
    /// The run's subnet; `None` to have a free one chosen.
    pub subnet: Option<Subnet>,
    /// The run's results folder: logs go to `nodes/<name>/` in it.
    pub results: PathBuf,
    /// What the faults of the scenario ask of this world.
    pub needs: Needs,
}

/// Why a cluster did not come up. Whatever was made of it is removed again.
#[derive(Debug, thiserror::Error)]
pub enum UpError {
    #[error("a ZooKeeper ensemble of {0} servers cannot be made: expected 1 to 200")]
    Size(usize),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(
        "container addresses cannot be reached from here: {address} of the engine at {engine} gives no \
         answer ({cause}). Expected the engine to run on this host, as Linux engines do. Engines in a \
         virtual machine (Docker Desktop) or on another host are not supported"
    )]
    Addresses { address: String, engine: String, cause: String },
    #[error("{node} ended before it served, with {how}. Its last lines:\n{log}")]
    EndedEarly { node: String, how: String, log: String },
    #[error(
        "the cluster did not become ready within {seconds} s: {state}. Expected every server to serve and \
         one to lead. Their logs are in {logs}"
    )]
    NotReady { seconds: u64, state: String, logs: String },
    #[error(
        "nemesis {nemesis} cannot act here: it needs {mechanism}, and {how}. What does act here: \
         {alternatives}. `stormglass doctor` tells all; `--world sim` needs nothing of this host"
    )]
    Lacks { nemesis: String, mechanism: Mechanism, how: String, alternatives: String },
    #[error("{0:#}")]
    Engine(#[from] anyhow::Error),
}

/// A running cluster. Dropping it leaves the containers; `down` removes them.
pub struct DockerCluster {
    engine: Engine,
    run: RunId,
    topology: Topology,
    nodes: Vec<DockerNode>,
    network: String,
    images: Vec<ResolvedImage>,
    agent: Agent,
    cuts: RefCell<Cuts>,
    lacks: Vec<Ability>,
    /// Held while an action changes, and looks at, the whole cluster.
    looking: tokio::sync::Mutex<()>,
    /// The services run under our supervisor.
    supervised: bool,
    log_watch: Arc<LogWatch>,
    /// Every source of sightings has a sender of its own into it.
    sightings: Sightings,
    paces: RefCell<Paces>,
    /// How far each node's clocks are to be off.
    offsets: RefCell<BTreeMap<NodeName, Offsets>>,
}

/// The containers of one node.
struct DockerNode {
    name: NodeName,
    role: Role,
    client_address: std::net::SocketAddr,
    hold: String,
    service: String,
    log: LogStream,
}

impl DockerCluster {
    /// Starts a cluster and waits until it serves. On failure nothing of it is left.
    pub async fn up(
        engine: &Engine,
        spec: &ClusterSpec,
        progress: Progress<'_>,
    ) -> Result<DockerCluster, UpError> {
        up::up(engine, spec, progress).await
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The images that the services run.
    pub fn images(&self) -> &[ResolvedImage] {
        &self.images
    }

    /// The kernel's release on the engine's host, as the agent saw it.
    pub fn kernel(&self) -> &str {
        &self.agent.greeting().kernel
    }

    /// The next thing that the agent says unasked; `None` once it is gone.
    pub async fn notice(&self) -> Option<Notice> {
        self.agent.notice().await
    }

    /// Removes everything of this run: faults first, then containers, volumes and the network.
    pub async fn down(self) -> anyhow::Result<()> {
        let healed = self.agent.stop().await.map(|_| ());
        let engine = &self.engine;
        let mut holds = Vec::new();
        let services = self.nodes.into_iter().map(|node| {
            holds.push(node.hold);
            async move {
                let removed = node::remove(engine, &node.service).await;
                node.log.finish().await;
                removed
            }
        });
        let services = try_join_all(services).await.map(|_| ());
        let holds = holds.iter().map(|hold| node::remove(engine, hold));
        let holds = try_join_all(holds).await.map(|_| ());
        let network = match engine.api().remove_network(&self.network).await {
            Err(error) if is_missing(&error) => Ok(()),
            other => other,
        };
        let run = &self.run;
        healed.with_context(|| format!("end the agent of run {run}"))?;
        services.and(holds).with_context(|| format!("remove the containers of run {run}"))?;
        network.with_context(|| format!("remove network {}", self.network))
    }

    /// Leaves the cluster up and ends the agent; how to reach each node, one line each.
    pub async fn leave(self) -> anyhow::Result<Vec<String>> {
        self.agent.stop().await.context("end the agent")?;
        let line = |node: &DockerNode| {
            let (name, address, service) = (&node.name, node.client_address, &node.service[..12]);
            format!("{name}: {address}; docker logs {service}; docker exec -it {service} sh")
        };
        let mut lines: Vec<String> = self.nodes.iter().map(line).collect();
        lines.push(format!("stormglass down --run {} removes it", self.run));
        join_all(self.nodes.into_iter().map(|node| node.log.leave())).await;
        Ok(lines)
    }

    fn node(&self, name: &str) -> anyhow::Result<&DockerNode> {
        let found = self.nodes.iter().find(|node| &*node.name == name);
        found.with_context(|| format!("the cluster has no node named {name}"))
    }
}

impl Cluster for DockerCluster {
    type Session = WireSession;
    type Stream = Compat<TcpStream>;

    fn lacks(&self) -> &[Ability] {
        &self.lacks
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn connect(
        &self,
        node: &NodeName,
        session_timeout: Duration,
    ) -> impl Future<Output = Result<WireSession, CoordinationError>> + 'static {
        let address = self.topology.node(node).map(|node| zookeeper::client_address(node.address));
        let name = *node;
        async move {
            let unknown = || CoordinationError::NotConnected(format!("there is no node {name}"));
            WireSession::connect(address.ok_or_else(unknown)?, session_timeout).await
        }
    }

    fn dial(
        &self,
        node: &NodeName,
        port: u16,
    ) -> impl Future<Output = std::io::Result<Compat<TcpStream>>> + 'static {
        let address = self.topology.node(node).map(|node| node.address);
        let name = *node;
        async move {
            let unknown = || std::io::Error::other(format!("there is no node {name}"));
            let stream = TcpStream::connect((address.ok_or_else(unknown)?, port)).await?;
            stream.set_nodelay(true)?;
            Ok(stream.compat())
        }
    }

    async fn trouble(&self) -> String {
        loop {
            match self.notice().await {
                // A line on its standard error breaks nothing.
                Some(Notice::Said(_)) => {}
                Some(Notice::Healed(healed)) => return format!("the agent {healed}"),
                Some(Notice::Lost(why)) => return format!("the agent is lost: {why}"),
                None => return "the agent is gone".to_owned(),
            }
        }
    }

    fn view(&self) -> impl Future<Output = View> {
        view::view(&self.engine, &self.nodes)
    }

    async fn prepare(&self, needs: &Needs) -> anyhow::Result<()> {
        let nodes: BTreeSet<NodeName> = self.topology.names().copied().collect();
        self.log_watch.set(&needs.lookouts, &nodes)?;
        apply::interpose::prepare(self, needs).await
    }

    async fn observed(&self) -> Observed {
        tokio::select! {
            biased;
            seen = self.agent.sighting() => seen,
            seen = self.sightings.next() => seen,
        }
    }

    async fn apply(&self, action: &Action) -> anyhow::Result<Applied> {
        apply::apply(self, action).await
    }
}
