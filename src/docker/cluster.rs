//! Services of several roles in containers: the docker world's `Cluster`.

mod apply;
mod expect;
mod fitting;
mod making;
mod pace;
mod ready;
mod sightings;
mod spec;
mod up;
mod up_error;
mod view;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::future::{join_all, try_join_all};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use crate::agent::protocol::Offsets;
use crate::client::zookeeper::WireSession;
use crate::cluster::{
    Ability, Action, Applied, Cluster, CoordinationError, Needs, Observed, Role, Topology, View,
};
use crate::docker::agent::{Agent, Notice};
use crate::docker::engine::{Engine, is_missing};
use crate::docker::images::ResolvedImage;
use crate::docker::logs::{LogStream, LogWatch};
use crate::docker::owner::RunId;
use crate::docker::{Progress, node, zookeeper};
use crate::op::NodeName;
use expect::Cuts;
use pace::Paces;
use view::office::Lookout;

pub use crate::docker::node::Limits;
pub(super) use sightings::{Sighter, Sightings};
pub use spec::ClusterSpec;
pub(super) use up::check_address;
pub use up_error::UpError;

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
    /// Looks who leads the controllers.
    lookout: Lookout,
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

    /// What a node runs, as it was asked for.
    fn image_of(&self, node: &DockerNode) -> &str {
        let image = self.images.iter().find(|image| image.name == node.role.name());
        image.map_or("an unknown image", |image| &image.reference)
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
        view::view(self)
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
