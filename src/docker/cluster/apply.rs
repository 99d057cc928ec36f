//! Actions on containers and links, each proven before it is called installed.

mod caps;
mod connections;
pub(super) mod interpose;
mod links;
mod process;

use std::time::Duration;

use anyhow::Context;
use bollard::models::ContainerState;
use tokio::time::Instant;

use crate::cluster::{Action, Applied, Check, Proof};
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::node;

const POLL: Duration = Duration::from_millis(10);

pub(super) async fn apply(cluster: &DockerCluster, action: &Action) -> anyhow::Result<Applied> {
    let started = Instant::now();
    let mut applied = match action {
        Action::Cut { fault, links, manner } => links::cut(cluster, *fault, links, *manner).await?,
        Action::Join { fault, links, manner } => {
            links::join(cluster, *fault, links, *manner).await?
        }
        Action::Sever { links, port } => connections::sever(cluster, links, *port).await?,
        Action::Throttle { fault, links, bytes_per_second } => {
            caps::throttle(cluster, *fault, links, *bytes_per_second).await?
        }
        Action::Unthrottle { fault, links, bytes_per_second } => {
            caps::unthrottle(cluster, *fault, links, *bytes_per_second).await?
        }
        Action::Kill { node } => process::kill(cluster, cluster.node(node)?).await?,
        Action::Start { node } => process::start(cluster, cluster.node(node)?).await?,
        Action::Pause { node } => process::pause(cluster, cluster.node(node)?).await?,
        Action::Resume { node } => process::resume(cluster, cluster.node(node)?).await?,
        Action::Interpose { fault, taps, effect } => {
            interpose::interpose(cluster, *fault, taps, effect).await?
        }
        Action::Withdraw { fault, taps, .. } => interpose::withdraw(cluster, *fault, taps).await?,
        other => Applied::Skipped { why: format!("this world cannot {} yet", other.name()) },
    };
    if let Applied::Installed { proof } | Applied::Indeterminate { proof: Some(proof), .. } =
        &mut applied
    {
        proof.took_us = started.elapsed().as_micros() as u64;
    }
    Ok(applied)
}

/// Installed if every check holds, else indeterminate with the first that does not.
fn judged(checks: Vec<Check>, packets: Option<u64>) -> Applied {
    let proof = Proof { checks, packets, took_us: 0 };
    if proof.holds() {
        return Applied::Installed { proof };
    }
    let failed = proof.checks.iter().find(|check| !check.holds);
    let why = failed.map_or("nothing was checked".to_owned(), |check| {
        format!("{}: expected {}, seen {}", check.what, check.expected, check.seen)
    });
    Applied::Indeterminate { why, proof: Some(proof) }
}

fn skipped(node: &DockerNode, why: &str) -> anyhow::Result<Applied> {
    Ok(Applied::Skipped { why: format!("{} {why}", node.name) })
}

async fn state(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<ContainerState> {
    let state = node::state(&cluster.engine, &node.service).await;
    state.with_context(|| format!("ask the engine for {}", node.name))
}

/// Asks again and again until it is so, or the time is up; whether it became so.
async fn wait<F>(within: Duration, is_so: impl Fn() -> F) -> anyhow::Result<bool>
where
    F: Future<Output = anyhow::Result<bool>>,
{
    let deadline = Instant::now() + within;
    loop {
        if is_so().await? {
            return Ok(true);
        }
        if Instant::now() > deadline {
            return Ok(false);
        }
        tokio::time::sleep(POLL).await;
    }
}
