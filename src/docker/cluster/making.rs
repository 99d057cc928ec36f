//! What every container of a run is made from, and their making.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use futures::future::try_join_all;

use crate::cluster::{Node, Topology};
use crate::docker::agent::{Agent, AgentPlan};
use crate::docker::cluster::fitting::Fittings;
use crate::docker::cluster::up::check_address;
use crate::docker::cluster::{ClusterSpec, DockerNode, UpError};
use crate::docker::engine::Engine;
use crate::docker::logs::{self, LogStream, LogWatch};
use crate::docker::network::Network;
use crate::docker::node::{self, Hold, Service};
use crate::docker::outfit::Outfit;
use crate::docker::owner::{Owner, RESULTS};

/// What every container of a run is made from.
pub(super) struct Making<'a> {
    pub engine: &'a Engine,
    pub spec: &'a ClusterSpec,
    pub owner: &'a Owner,
    pub network: &'a Network,
    pub own_image: &'a str,
    pub fittings: &'a Fittings,
    pub log_watch: Arc<LogWatch>,
}

/// A node whose service is not started yet.
pub(super) struct Made<'n> {
    node: &'n Node,
    /// The id of its hold container.
    pub hold: String,
    service: String,
}

impl Making<'_> {
    pub fn topology(&self) -> Result<Topology, UpError> {
        let subnet = self.network.subnet;
        let topology = self.spec.topology(|index| subnet.node(index));
        Ok(topology.with_context(|| {
            let nodes: usize = self.spec.services.values().sum();
            format!("subnet {subnet} has no room for {nodes} nodes")
        })?)
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

    /// The containers of all nodes at once. Their networks are up, their services not yet started.
    pub async fn containers<'n>(&self, topology: &'n Topology) -> Result<Vec<Made<'n>>, UpError> {
        let fitted = topology.nodes.iter().zip(self.spec.outfits(topology)?);
        try_join_all(fitted.map(|(node, outfit)| self.pair(node, outfit))).await
    }

    async fn pair<'n>(&self, node: &'n Node, outfit: Outfit) -> Result<Made<'n>, UpError> {
        let run = &self.spec.run;
        let failed = || format!("make the containers of {}", node.name);
        let fitting = self.fittings.of(node.role).with_context(failed)?;
        let labels = |role: &str| self.labels(Some(&node.name), role);
        let hold = Hold {
            name: format!("sg-{run}-{}-hold", node.name),
            image: self.own_image,
            network: &self.network.name,
            address: node.address,
            hostname: &node.name,
            labels: labels("hold"),
        };
        let hold = node::start_hold(self.engine, hold).await.with_context(failed)?;
        check_address(self.engine, node.address).await?;
        let service = Service {
            name: format!("sg-{run}-{}", node.name),
            image: &fitting.image.id,
            hold: &hold,
            launch: self.fittings.launch(fitting, &outfit),
            environment: outfit.environment,
            files: outfit.files,
            limits: self.spec.limits,
            labels: labels(node.role.name()),
        };
        let service = node::create_service(self.engine, service).await.with_context(failed)?;
        Ok(Made { node, hold, service })
    }

    /// Starts all services at once, whatever their roles: each waits by itself for what it needs of others.
    pub async fn start(&self, made: Vec<Made<'_>>) -> Result<Vec<DockerNode>, UpError> {
        try_join_all(made.into_iter().map(|made| self.start_one(made))).await
    }

    async fn start_one(&self, made: Made<'_>) -> Result<DockerNode, UpError> {
        let Made { node, hold, service } = made;
        let started = node::start(self.engine, &service).await;
        started.with_context(|| {
            let image = self.fittings.of(node.role).map(|fitting| &*fitting.image.reference);
            format!("start {} in image {}", node.name, image.unwrap_or_default())
        })?;
        let folder = logs::folder(&self.spec.results, &node.name);
        let watch = self.log_watch.clone();
        let log = LogStream::follow(self.engine, node.name, &service, &folder, watch).await;
        let log = log.with_context(|| format!("write the log in {}", folder.display()))?;
        let client_address = (node.address, node.role.client_port().0).into();
        Ok(DockerNode { name: node.name, role: node.role, client_address, hold, service, log })
    }
}
