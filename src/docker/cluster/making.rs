//! What every container of a run is made from, and their making.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::Context;
use futures::future::{try_join, try_join_all};

use crate::cluster::{Node, Role, Topology};
use crate::docker::agent::{Agent, AgentPlan};
use crate::docker::cluster::up::check_address;
use crate::docker::cluster::{ClusterSpec, DockerNode, UpError};
use crate::docker::engine::Engine;
use crate::docker::logs::{self, LogStream, LogWatch};
use crate::docker::network::Network;
use crate::docker::node::{self, Hold, Service, Supervised};
use crate::docker::owner::{Owner, RESULTS};
use crate::docker::self_image::Supervisor;
use crate::docker::zookeeper;
use crate::op::NodeName;

/// What every container of a run is made from.
pub(super) struct Making<'a> {
    pub engine: &'a Engine,
    pub spec: &'a ClusterSpec,
    pub owner: &'a Owner,
    pub network: &'a Network,
    pub own_image: &'a str,
    pub supervision: Option<&'a Supervision>,
    pub log_watch: Arc<LogWatch>,
}

/// What it takes to run the services under our supervisor.
pub(super) struct Supervision {
    supervisor: Supervisor,
    command: Vec<String>,
}

impl Supervision {
    /// Prepared once for all services; `None` where the scenario has no need of it.
    pub async fn of(
        engine: &Engine,
        spec: &ClusterSpec,
        image: &str,
    ) -> anyhow::Result<Option<Supervision>> {
        if !spec.needs.supervised {
            return Ok(None);
        }
        let command = node::command_of(engine, image);
        let (supervisor, command) = try_join(engine.supervisor(), command).await?;
        Ok(Some(Supervision { supervisor, command }))
    }

    fn of_service(&self) -> Supervised<'_> {
        Supervised { supervisor: &self.supervisor, command: self.command.clone() }
    }
}

impl Making<'_> {
    pub fn topology(&self) -> Result<Topology, UpError> {
        let node = |index: usize| {
            let subnet = self.network.subnet;
            let address = subnet.node(index).with_context(|| {
                format!("subnet {subnet} has no room for {} nodes", self.spec.zookeepers)
            })?;
            let name: NodeName = format!("zookeeper{}", index + 1).into();
            Ok(Node { name, role: Role::Zookeeper, address })
        };
        let nodes: Result<Vec<Node>, UpError> = (0..self.spec.zookeepers).map(node).collect();
        Ok(Topology { nodes: nodes? })
    }

    /// Those by which a run is found, and its ledger.
    fn labels(&self, node: Option<&str>, role: &str) -> HashMap<String, String> {
        let mut labels = self.owner.labels(&self.spec.run, node, role);
        if let Ok(results) = std::path::absolute(&self.spec.results) {
            labels.insert(RESULTS.to_owned(), results.display().to_string());
        }
        labels
    }

    pub async fn agent(&self) -> Result<Agent, UpError> {
        let run = self.spec.run.as_str();
        let mut plan = AgentPlan::new(run, self.own_image);
        plan.container = format!("sg-{run}-agent");
        plan.labels = self.labels(None, "agent");
        Ok(Agent::start(self.engine.api(), &plan).await?)
    }

    pub async fn nodes(
        &self,
        topology: &Topology,
        image: &str,
    ) -> Result<Vec<DockerNode>, UpError> {
        let ensemble: Vec<Ipv4Addr> = topology.nodes.iter().map(|node| node.address).collect();
        let nodes = topology.nodes.iter().enumerate();
        let making = nodes.map(|(index, node)| self.node(node, index + 1, &ensemble, image));
        try_join_all(making).await
    }

    async fn node(
        &self,
        node: &Node,
        server_id: usize,
        ensemble: &[Ipv4Addr],
        image: &str,
    ) -> Result<DockerNode, UpError> {
        let run = &self.spec.run;
        let labels = |role: &str| self.labels(Some(&node.name), role);
        let hold = Hold {
            name: format!("sg-{run}-{}-hold", node.name),
            image: self.own_image,
            network: &self.network.name,
            address: node.address,
            hostname: &node.name,
            labels: labels("hold"),
        };
        let failed = || format!("make the containers of {}", node.name);
        let hold = node::start_hold(self.engine, hold).await.with_context(failed)?;
        check_address(self.engine, node.address).await?;
        let service = Service {
            name: format!("sg-{run}-{}", node.name),
            image,
            hold: &hold,
            environment: zookeeper::environment(server_id),
            files: zookeeper::files(server_id, ensemble),
            supervised: self.supervision.map(Supervision::of_service),
            limits: self.spec.limits,
            labels: labels(node.role.name()),
        };
        let service = node::create_service(self.engine, service).await.with_context(failed)?;
        node::start(self.engine, &service).await.with_context(failed)?;
        let folder = logs::folder(&self.spec.results, &node.name);
        let watch = self.log_watch.clone();
        let log = LogStream::follow(self.engine, node.name, &service, &folder, watch).await;
        let log = log.with_context(|| format!("write the log in {}", folder.display()))?;
        let client_address = zookeeper::client_address(node.address);
        Ok(DockerNode { name: node.name, role: node.role, client_address, hold, service, log })
    }
}
