//! A node's two containers: `hold` owns the network namespace and the address, the service lives in it.
//!
//! So the address, and whatever is attached to the namespace, survives kill and start of the service.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use anyhow::{Context, ensure};
use bollard::errors::Error as ApiError;
use bollard::models::{
    ContainerCreateBody, ContainerState, EndpointIpamConfig, EndpointSettings, HealthConfig,
    HostConfig, HostConfigLogConfig, NetworkingConfig,
};
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, InspectContainerOptions, RemoveContainerOptionsBuilder,
    RestartContainerOptionsBuilder, StartContainerOptions, UploadToContainerOptionsBuilder,
};
use bytes::Bytes;

use crate::docker::engine::{Engine, is_conflict, is_missing};
use crate::docker::self_image::EXECUTABLE;

const HOLD_MEMORY_BYTES: i64 = 32 << 20;

/// How much of the host a service may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub memory_bytes: u64,
    /// Cores; `None` sets no limit.
    pub cpus: Option<f64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory_bytes: 768 << 20, cpus: None }
    }
}

/// A hold container to be made.
pub(super) struct Hold<'a> {
    pub name: String,
    pub image: &'a str,
    pub network: &'a str,
    pub address: Ipv4Addr,
    pub hostname: &'a str,
    pub labels: HashMap<String, String>,
}

/// A service's container to be made.
pub(super) struct Service<'a> {
    pub name: String,
    pub image: &'a str,
    /// The id of the hold container.
    pub hold: &'a str,
    pub environment: Vec<String>,
    /// A tar of the configuration, unpacked at `/`.
    pub files: Vec<u8>,
    pub launch: Launch,
    pub limits: Limits,
    pub labels: HashMap<String, String>,
}

/// What a container runs where that is not what its image runs by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Launch {
    pub entrypoint: Option<Vec<String>>,
    pub command: Option<Vec<String>>,
    /// A tar of the executable that this takes, unpacked at `/`.
    pub guest: Option<Bytes>,
}

/// Creates and starts a hold container; its id.
pub(super) async fn start_hold(engine: &Engine, hold: Hold<'_>) -> Result<String, ApiError> {
    let ipam = EndpointIpamConfig {
        ipv4_address: Some(hold.address.to_string()),
        ..EndpointIpamConfig::default()
    };
    let endpoint = EndpointSettings { ipam_config: Some(ipam), ..EndpointSettings::default() };
    let body = ContainerCreateBody {
        image: Some(hold.image.to_owned()),
        cmd: Some(vec![EXECUTABLE.to_owned(), "hold".to_owned()]),
        hostname: Some(hold.hostname.to_owned()),
        labels: Some(hold.labels),
        host_config: Some(HostConfig {
            network_mode: Some(hold.network.to_owned()),
            memory: Some(HOLD_MEMORY_BYTES),
            ..shared_host_config()
        }),
        networking_config: Some(NetworkingConfig {
            endpoints_config: Some(HashMap::from([(hold.network.to_owned(), endpoint)])),
        }),
        ..ContainerCreateBody::default()
    };
    let id = create(engine, &hold.name, body).await?;
    start(engine, &id).await?;
    Ok(id)
}

/// Creates a service's container, puts its configuration in, and leaves it to be started; its id.
pub(super) async fn create_service(
    engine: &Engine,
    service: Service<'_>,
) -> Result<String, ApiError> {
    let memory = i64::try_from(service.limits.memory_bytes).unwrap_or(i64::MAX);
    // An image's own check would be one more process in a container that is frozen or starved on purpose.
    let healthcheck =
        HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() };
    let body = ContainerCreateBody {
        image: Some(service.image.to_owned()),
        entrypoint: service.launch.entrypoint,
        cmd: service.launch.command,
        healthcheck: Some(healthcheck),
        env: Some(service.environment),
        labels: Some(service.labels),
        host_config: Some(HostConfig {
            network_mode: Some(format!("container:{}", service.hold)),
            memory: Some(memory),
            memory_swap: Some(memory),
            nano_cpus: service.limits.cpus.map(|cpus| (cpus * 1e9) as i64),
            ..shared_host_config()
        }),
        ..ContainerCreateBody::default()
    };
    let id = create(engine, &service.name, body).await?;
    unpack(engine, &id, service.files.into()).await?;
    if let Some(guest) = service.launch.guest {
        unpack(engine, &id, guest).await?;
    }
    Ok(id)
}

/// Puts the files of a tar into a container, at `/`.
async fn unpack(engine: &Engine, container: &str, files: Bytes) -> Result<(), ApiError> {
    let options = UploadToContainerOptionsBuilder::new().path("/").build();
    let body = bollard::body_full(files);
    engine.api().upload_to_container(container, Some(options), body).await
}

/// What an image runs by itself: its entry point, and its command as the arguments to that.
pub(super) async fn command_of(engine: &Engine, image: &str) -> anyhow::Result<Vec<String>> {
    let inspected = engine.api().inspect_image(image).await;
    let config = inspected.with_context(|| format!("inspect image {image}"))?.config;
    let config = config.unwrap_or_default();
    let parts = [config.entrypoint.unwrap_or_default(), config.cmd.unwrap_or_default()];
    let command = parts.concat();
    ensure!(
        !command.is_empty(),
        "image {image} has neither ENTRYPOINT nor CMD, so there is nothing to supervise"
    );
    Ok(command)
}

fn shared_host_config() -> HostConfig {
    HostConfig {
        // The engine's default driver may be one whose logs cannot be read back.
        log_config: Some(HostConfigLogConfig { typ: Some("json-file".to_owned()), config: None }),
        ..HostConfig::default()
    }
}

async fn create(
    engine: &Engine,
    name: &str,
    body: ContainerCreateBody,
) -> Result<String, ApiError> {
    let options = CreateContainerOptionsBuilder::new().name(name).build();
    Ok(engine.api().create_container(Some(options), body).await?.id)
}

pub(super) async fn start(engine: &Engine, container: &str) -> Result<(), ApiError> {
    engine.api().start_container(container, None::<StartContainerOptions>).await
}

/// Kills a container and starts it again.
pub(super) async fn restart(engine: &Engine, container: &str) -> Result<(), ApiError> {
    let options = RestartContainerOptionsBuilder::new().t(0).build();
    engine.api().restart_container(container, Some(options)).await
}

/// The engine's account of a container's process.
pub(super) async fn state(engine: &Engine, container: &str) -> Result<ContainerState, ApiError> {
    let inspected = engine.api().inspect_container(container, None::<InspectContainerOptions>);
    Ok(inspected.await?.state.unwrap_or_default())
}

/// The host's pid of a container's first process; `None` where it does not run.
pub(super) fn pid(state: &ContainerState) -> Option<u32> {
    state.pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0)
}

/// Removes a container and its anonymous volumes, running or not. One that is gone already is fine.
pub(super) async fn remove(engine: &Engine, container: &str) -> Result<(), ApiError> {
    let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
    match engine.api().remove_container(container, Some(options)).await {
        Err(error) if is_missing(&error) || is_conflict(&error) => Ok(()),
        other => other,
    }
}
