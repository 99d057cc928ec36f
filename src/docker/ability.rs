//! What the kernel and the engine together let faults do, each mechanism found out by trying it.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, ensure};
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};
use tokio::time::Instant;

use crate::cluster::{Ability, Mechanism};
use crate::docker::agent::{Agent, AgentPlan};
use crate::docker::engine::Engine;
use crate::docker::node;
use crate::docker::owner::{Owner, RunId};
use crate::docker::self_image::EXECUTABLE;

const WITHIN: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

/// Tries every mechanism, with an agent of its own. It leaves nothing behind.
pub async fn abilities(engine: &Engine) -> anyhow::Result<Vec<Ability>> {
    let (run, owner) = (RunId::fresh(), Owner::current());
    let image = engine.own_image().await?;
    let mut plan = AgentPlan::new(run.as_str(), &image);
    plan.labels = owner.labels(&run, None, "agent");
    let agent = Agent::start(engine.api(), &plan).await?;
    let tried = try_all(engine, &agent, &run, &owner).await;
    agent.stop().await?;
    tried
}

/// The kernel's mechanisms are the agent's to try, the engine's are ours.
pub(super) async fn try_all(
    engine: &Engine,
    agent: &Agent,
    run: &RunId,
    owner: &Owner,
) -> anyhow::Result<Vec<Ability>> {
    let labels = owner.labels(run, None, "trial");
    let (abilities, frozen) = futures::join!(agent.abilities(), freeze(engine, agent, labels));
    let mut abilities = abilities?;
    let (acts, how) = match frozen {
        Ok(how) => (true, how),
        Err(error) => (false, format!("{error:#}")),
    };
    abilities.push(Ability { mechanism: Mechanism::Freeze, acts, how });
    Ok(abilities)
}

/// Freezes and thaws a container that was made for it; how that was seen.
async fn freeze(
    engine: &Engine,
    agent: &Agent,
    labels: HashMap<String, String>,
) -> anyhow::Result<String> {
    let body = ContainerCreateBody {
        image: Some(engine.own_image().await?),
        cmd: Some(vec![EXECUTABLE.to_owned(), "hold".to_owned()]),
        labels: Some(labels),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    };
    let made = engine.api().create_container(None::<CreateContainerOptions>, body).await;
    let id = made.context("make a container to freeze")?.id;
    let tried = freeze_and_thaw(engine, agent, &id).await;
    node::remove(engine, &id).await.context("remove the container that was frozen")?;
    tried
}

async fn freeze_and_thaw(engine: &Engine, agent: &Agent, id: &str) -> anyhow::Result<String> {
    let api = engine.api();
    api.start_container(id, None::<StartContainerOptions>).await.context("start a container")?;
    let pid = node::pid(&node::state(engine, id).await?).context("the container ended")?;
    api.pause_container(id).await.context("freeze a container")?;
    let by = await_frozen(engine, agent, id, pid, true).await?;
    api.unpause_container(id).await.context("thaw a container")?;
    await_frozen(engine, agent, id, pid, false).await?;
    Ok(format!("a container was frozen and thawed, as {by} shows"))
}

/// Waits until it is so; who said it.
async fn await_frozen(
    engine: &Engine,
    agent: &Agent,
    id: &str,
    pid: u32,
    wanted: bool,
) -> anyhow::Result<&'static str> {
    let deadline = Instant::now() + WITHIN;
    loop {
        let by_kernel = agent.process(pid).await?.and_then(|facts| facts.frozen);
        let (frozen, by) = match by_kernel {
            Some(frozen) => (frozen, "the kernel"),
            None => (node::state(engine, id).await?.paused == Some(true), "the engine"),
        };
        if frozen == wanted {
            return Ok(by);
        }
        ensure!(Instant::now() < deadline, "its processes are not frozen as asked ({by} says so)");
        tokio::time::sleep(POLL).await;
    }
}
