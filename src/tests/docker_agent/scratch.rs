//! Three hold containers on a network of their own, and their removal.

use std::collections::HashMap;
use std::future::Future;
use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{Context, bail};
use bollard::Docker;
use bollard::errors::Error as EngineError;
use bollard::models::{
    ContainerCreateBody, EndpointIpamConfig, EndpointSettings, HostConfig, Ipam, IpamConfig,
    NetworkCreateRequest, NetworkingConfig,
};
use bollard::query_parameters::{
    CreateContainerOptions, InspectContainerOptions, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder, StartContainerOptions,
};
use stormglass::agent::protocol::{Enrollment, Place};
use stormglass::docker::agent::{Agent, AgentPlan, RUN_LABEL};
use stormglass::docker::self_image;

use crate::gate::{on_engine, wanted};

const NODES: usize = 3;
const SUBNET_TRIES: u8 = 20;

pub struct Node {
    pub name: &'static str,
    pub address: Ipv4Addr,
    /// Of its first process, on the host.
    pub pid: u32,
    pub container: String,
}

pub struct Scratch {
    pub docker: Docker,
    pub run: String,
    pub image: String,
    /// The bridge's own address, from which the host talks.
    pub gateway: Ipv4Addr,
    pub nodes: Vec<Node>,
}

/// Runs a test on a scratch cluster, and removes the cluster whatever becomes of it.
pub fn with_scratch<F>(name: &str, test: impl FnOnce(Scratch) -> F + Send + 'static)
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    if !wanted("docker") {
        return;
    }
    let _beside_others = on_engine();
    let run = format!("test-{name}-{}", std::process::id());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let docker = connect().await.expect("a Docker engine");
        let body = {
            let (docker, run) = (docker.clone(), run.clone());
            tokio::spawn(async move { test(Scratch::up(docker, run).await?).await })
        };
        let result = body.await;
        remove_all(&docker, &run).await.expect("all removed");
        result.expect("the test's task").expect("the test");
    });
}

async fn connect() -> anyhow::Result<Docker> {
    Ok(Docker::connect_with_defaults()?.negotiate_version().await?)
}

impl Scratch {
    async fn up(docker: Docker, run: String) -> anyhow::Result<Scratch> {
        let executable = Path::new(env!("CARGO_BIN_EXE_stormglass"));
        let image = self_image::ensure(&docker, executable).await?;
        let gateway = create_network(&docker, &run).await?;
        let mut scratch = Scratch { docker, run, image, gateway, nodes: Vec::new() };
        for (index, name) in ["n1", "n2", "n3"].into_iter().enumerate().take(NODES) {
            let [a, b, c, _] = gateway.octets();
            let node = scratch.hold(name, Ipv4Addr::new(a, b, c, 11 + index as u8)).await?;
            scratch.nodes.push(node);
        }
        Ok(scratch)
    }

    async fn hold(&self, name: &'static str, address: Ipv4Addr) -> anyhow::Result<Node> {
        let ipam =
            EndpointIpamConfig { ipv4_address: Some(address.to_string()), ..Default::default() };
        let endpoint = EndpointSettings { ipam_config: Some(ipam), ..Default::default() };
        let body = ContainerCreateBody {
            image: Some(self.image.clone()),
            cmd: Some(vec![self_image::EXECUTABLE.to_owned(), "hold".to_owned()]),
            labels: Some(labels(&self.run)),
            host_config: Some(HostConfig {
                network_mode: Some(self.run.clone()),
                ..Default::default()
            }),
            networking_config: Some(NetworkingConfig {
                endpoints_config: Some(HashMap::from([(self.run.clone(), endpoint)])),
            }),
            ..Default::default()
        };
        let id = self.docker.create_container(None::<CreateContainerOptions>, body).await?.id;
        self.docker.start_container(&id, None::<StartContainerOptions>).await?;
        let pid = self.pid(&id).await?;
        Ok(Node { name, address, pid, container: id })
    }

    pub async fn pid(&self, container: &str) -> anyhow::Result<u32> {
        let found =
            self.docker.inspect_container(container, None::<InspectContainerOptions>).await?;
        let pid = found.state.and_then(|state| state.pid).context("no pid")?;
        match u32::try_from(pid)? {
            0 => bail!("container {container} does not run"),
            pid => Ok(pid),
        }
    }

    /// A plan for one of several agents of this run.
    pub fn plan(&self, suffix: &str) -> AgentPlan {
        let mut plan = AgentPlan::new(&self.run, &self.image);
        plan.container = format!("{}-{suffix}", plan.container);
        plan
    }

    /// Starts an agent that knows all nodes, and the host's clients as `clients`.
    pub async fn agent(&self, plan: &AgentPlan) -> anyhow::Result<Agent> {
        let agent = Agent::start(&self.docker, plan).await?;
        let mut nodes =
            vec![Enrollment { node: "clients".into(), address: self.gateway, place: Place::Host }];
        nodes.extend(self.nodes.iter().map(|node| Enrollment {
            node: node.name.into(),
            address: node.address,
            place: Place::Container { pid: node.pid },
        }));
        agent.enroll(nodes).await?;
        Ok(agent)
    }
}

fn labels(run: &str) -> HashMap<String, String> {
    HashMap::from([(RUN_LABEL.to_owned(), run.to_owned())])
}

/// Makes the run's network on the first subnet that is free; its gateway.
async fn create_network(docker: &Docker, run: &str) -> anyhow::Result<Ipv4Addr> {
    let first = (std::process::id() % 200) as u8;
    let mut refusal = None;
    for attempt in 0..SUBNET_TRIES {
        let third = first.wrapping_add(attempt.wrapping_mul(7));
        let gateway = Ipv4Addr::new(10, 213, third, 1);
        let subnet = IpamConfig {
            subnet: Some(format!("10.213.{third}.0/24")),
            gateway: Some(gateway.to_string()),
            ..Default::default()
        };
        let request = NetworkCreateRequest {
            name: run.to_owned(),
            driver: Some("bridge".to_owned()),
            labels: Some(labels(run)),
            ipam: Some(Ipam { config: Some(vec![subnet]), ..Default::default() }),
            ..Default::default()
        };
        match docker.create_network(request).await {
            Ok(_) => return Ok(gateway),
            Err(error) => refusal = Some(error),
        }
    }
    bail!("no free subnet in {SUBNET_TRIES} tries, last: {refusal:?}")
}

async fn remove_all(docker: &Docker, run: &str) -> anyhow::Result<()> {
    for container in containers(docker, run).await? {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match docker.remove_container(&container, Some(options)).await {
            // An agent whose test has failed is going by itself.
            Ok(()) | Err(EngineError::DockerResponseServerError { status_code: 404 | 409, .. }) => {
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(docker.remove_network(run).await?)
}

/// The ids of all containers of a run, running or not.
pub async fn containers(docker: &Docker, run: &str) -> anyhow::Result<Vec<String>> {
    let filters = HashMap::from([("label".to_owned(), vec![format!("{RUN_LABEL}={run}")])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    let found = docker.list_containers(Some(options)).await?;
    Ok(found.into_iter().filter_map(|container| container.id).collect())
}
