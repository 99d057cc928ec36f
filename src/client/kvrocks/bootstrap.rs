//! Makes a cluster of kvrocks nodes that are up but know nothing: over REST, as an operator would; waits
//! until every node has joined; puts data in. The same in both worlds, and bounded in time.

mod preload;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::time::Duration;

use futures::future::join_all;
use futures::io::{AsyncRead, AsyncWrite};
use serde_json::Value as Json;
use tokio::time::{Instant, sleep, timeout};

use super::operator::{Unanswered, exchange};
use super::rest::{self, Ask};
use super::slot_map::Addresses;
use crate::cluster::{NodeState, NodeView, Role, Topology, ask_kvrocks};
use crate::http::Response;
use crate::key_space::KeySpace;
use crate::op::{ClusterTopology, Manage, NodeName};

/// How long each step may take: a leader is there, the cluster is created, every node has joined.
const STEP_LIMIT: Duration = Duration::from_secs(30);

/// How long one question may take.
const ASK_LIMIT: Duration = Duration::from_secs(3);

const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no cluster to work on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BootstrapError {
    #[error(
        "no controller leads after {STEP_LIMIT:?}: {said}; expected one that answers GET /api/v1/namespaces \
         with 200, look at the controllers' logs"
    )]
    NoLeader { said: String },
    #[error("{controller} does not {what}: {said}; look at its log")]
    Refused { controller: NodeName, what: &'static str, said: String },
    #[error(
        "the topology that {controller} made leaves slots without an owner: {slots}; expected all of \
         0-16383 to be served"
    )]
    Uncovered { controller: NodeName, slots: String },
    #[error(
        "{node} has not joined the cluster after {STEP_LIMIT:?}: {said}; expected it to tell topology \
         version {version}, look at its log and at the controllers'"
    )]
    NeverJoined { node: NodeName, version: u64, said: String },
    #[error("{node} took no data before the start: {said}; look at its log")]
    Preload { node: NodeName, said: String },
}

/// What is to be made.
pub struct Wanted<'a> {
    pub topology: &'a Topology,
    /// Nodes of a shard.
    pub replicas: usize,
    pub keys: &'a KeySpace,
    /// Other data in each slot of the keys.
    pub filler_kib: u32,
}

/// Makes the cluster. `dial` opens a connection to a node's own port.
pub async fn bootstrap<S, F, Dialing>(dial: &F, wanted: &Wanted<'_>) -> Result<(), BootstrapError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    let addresses = Addresses::of(wanted.topology);
    let bootstrap = Bootstrap { dial, wanted, addresses };
    let leader = bootstrap.leader().await?;
    let topology = bootstrap.create(leader).await?;
    if !topology.is_whole() {
        let slots = topology.shards.iter().map(|shard| format!("[{}]", shard.slots));
        let slots = format!("the shards have {}", slots.collect::<Vec<_>>().join(" and "));
        return Err(BootstrapError::Uncovered { controller: leader, slots });
    }
    bootstrap.joined(topology.version).await?;
    preload::preload(dial, &topology, wanted).await
}

struct Bootstrap<'a, F> {
    dial: &'a F,
    wanted: &'a Wanted<'a>,
    addresses: Addresses,
}

impl<S, F, Dialing> Bootstrap<'_, F>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    async fn ask(&self, node: NodeName, ask: &Ask) -> Result<Response, Unanswered> {
        exchange((self.dial)(node), ask, &node, ASK_LIMIT).await
    }

    /// What a controller said, in words.
    fn said(&self, answer: &Result<Response, Unanswered>) -> String {
        match answer {
            Ok(response) => rest::message(response, &self.addresses),
            Err(unanswered) => unanswered.why.clone(),
        }
    }

    /// The controller that answers for itself. A follower redirects, also one that takes its own former
    /// life for the leader.
    async fn leader(&self) -> Result<NodeName, BootstrapError> {
        let end = Instant::now() + STEP_LIMIT;
        loop {
            let mut said = Vec::new();
            for controller in self.wanted.topology.with_role(Role::Controller) {
                let answer = self.ask(controller.name, &rest::namespaces()).await;
                if answer.as_ref().is_ok_and(|response| response.status == 200) {
                    return Ok(controller.name);
                }
                let (name, told) = (controller.name, self.said(&answer));
                said.push(match told.ends_with(&format!(" {name} leads")) {
                    true => format!("{name} redirects to itself ({told})"),
                    false => format!("{name} says {told}"),
                });
            }
            if Instant::now() >= end || said.is_empty() {
                return Err(BootstrapError::NoLeader { said: said.join(", ") });
            }
            sleep(PAUSE).await;
        }
    }

    /// Creates namespace and cluster, and gives the topology that is then told.
    async fn create(&self, leader: NodeName) -> Result<ClusterTopology, BootstrapError> {
        let namespace = rest::create_namespace(rest::NAMESPACE);
        self.insist(leader, "create a namespace", &namespace).await?;
        let nodes = self.wanted.topology.with_role(Role::Kvrocks);
        let nodes: Vec<String> =
            nodes.map(|node| format!("{}:{}", node.address, node.role.client_port().0)).collect();
        let cluster = rest::create_cluster(&nodes, self.wanted.replicas);
        self.insist(leader, "create a cluster", &cluster).await?;
        let answer = self.ask(leader, &rest::ask_for(&Manage::Topology)).await;
        let topology = answer.as_ref().ok().filter(|response| response.status == 200);
        let topology = topology.and_then(|response| {
            let body: Json = serde_json::from_slice(&response.body).ok()?;
            ClusterTopology::read(&rest::named(&body["data"]["cluster"], &self.addresses))
        });
        topology.ok_or_else(|| BootstrapError::Refused {
            controller: leader,
            what: "show the cluster that it created",
            said: self.said(&answer),
        })
    }

    /// Asks again until it is done: a controller may yet be on its way to its office. That what is asked
    /// for exists already means that an earlier try, of which no answer came, has done it.
    async fn insist(
        &self,
        controller: NodeName,
        what: &'static str,
        ask: &Ask,
    ) -> Result<(), BootstrapError> {
        let end = Instant::now() + STEP_LIMIT;
        loop {
            let answer = self.ask(controller, ask).await;
            let status = answer.as_ref().map_or(0, |response| response.status);
            if matches!(status, 200..=299 | 409) {
                return Ok(());
            }
            if matches!(status, 300..=499) || Instant::now() >= end {
                let said = self.said(&answer);
                return Err(BootstrapError::Refused { controller, what, said });
            }
            sleep(PAUSE).await;
        }
    }

    /// Waits until every data node tells this topology and serves.
    async fn joined(&self, version: u64) -> Result<(), BootstrapError> {
        let nodes: Vec<NodeName> =
            self.wanted.topology.with_role(Role::Kvrocks).map(|node| node.name).collect();
        let end = Instant::now() + STEP_LIMIT;
        loop {
            let views = join_all(nodes.iter().map(|node| self.view(*node))).await;
            let has_joined = |view: &Result<NodeView, String>| {
                view.as_ref().is_ok_and(|view| {
                    view.state == NodeState::Serving && view.epoch.is_some_and(|at| at >= version)
                })
            };
            let Some(late) = views.iter().position(|view| !has_joined(view)) else {
                return Ok(());
            };
            if Instant::now() >= end {
                let said = match &views[late] {
                    Ok(view) => format!("it says `{}`", view.detail),
                    Err(why) => why.clone(),
                };
                return Err(BootstrapError::NeverJoined { node: nodes[late], version, said });
            }
            sleep(PAUSE).await;
        }
    }

    async fn view(&self, node: NodeName) -> Result<NodeView, String> {
        let look = async {
            let mut stream = (self.dial)(node).await?;
            ask_kvrocks(&mut stream).await
        };
        match timeout(ASK_LIMIT, look).await {
            Ok(view) => view.map_err(|error| error.to_string()),
            Err(_) => Err(format!("it does not answer in {ASK_LIMIT:?}")),
        }
    }
}
