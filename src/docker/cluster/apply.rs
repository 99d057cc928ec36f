//! Actions on containers and links, each proven before it is called installed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context;
use bollard::errors::Error as ApiError;
use bollard::models::ContainerState;
use bollard::query_parameters::KillContainerOptionsBuilder;
use tokio::time::Instant;

use crate::client::zookeeper::ask;
use crate::cluster::{Action, Applied, CLIENTS, Check, FaultId, Link, Proof};
use crate::docker::cluster::expect::all_links;
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::engine::words;
use crate::docker::{logs, node};
use crate::op::NodeName;

/// A probe that neither arrives nor is counted as dropped by then proves nothing.
const PROBE_BOUND: Duration = Duration::from_millis(250);

/// How long a killed process may take to be gone, and a frozen or thawed one to be so.
const PROCESS_WITHIN: Duration = Duration::from_secs(10);

/// How long a started server may take to answer. A quorum is not waited for.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

const ANSWER_PATIENCE: Duration = Duration::from_millis(500);

const POLL: Duration = Duration::from_millis(10);

const LOG_LINES: usize = 5;

pub(super) async fn apply(cluster: &DockerCluster, action: &Action) -> anyhow::Result<Applied> {
    let started = Instant::now();
    let mut applied = match action {
        Action::Cut { fault, links, .. } => cut(cluster, *fault, links).await?,
        Action::Join { fault, links, .. } => join(cluster, *fault, links).await?,
        Action::Kill { node } => kill(cluster, cluster.node(node)?).await?,
        Action::Start { node } => start(cluster, cluster.node(node)?).await?,
        Action::Pause { node } => pause(cluster, cluster.node(node)?).await?,
        Action::Resume { node } => resume(cluster, cluster.node(node)?).await?,
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

async fn cut(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
) -> anyhow::Result<Applied> {
    if links.is_empty() {
        return Ok(Applied::Skipped { why: "there is no link to cut".to_owned() });
    }
    let mut checks = probe(cluster, links.clone(), " before").await?;
    let table = cluster.agent.cut(fault, links.clone()).await?;
    cluster.cuts.borrow_mut().insert(fault, links.clone());
    checks.push(Check {
        what: format!("rules of {fault}"),
        expected: format!("{} links", links.len()),
        seen: format!("{} links", table.links.len()),
        holds: table.links == *links,
    });
    checks.extend(probe(cluster, every_link(cluster), "").await?);
    Ok(judged(checks, None))
}

async fn join(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
) -> anyhow::Result<Applied> {
    let tally = cluster.agent.join(fault).await?;
    cluster.cuts.borrow_mut().remove(fault);
    let mut checks = vec![Check {
        what: format!("rules of {fault}"),
        expected: format!("in force until now on {} links", links.len()),
        seen: if tally.is_some() { "in force" } else { "gone already" }.to_owned(),
        holds: tally.is_some(),
    }];
    checks.extend(probe(cluster, every_link(cluster), "").await?);
    Ok(judged(checks, tally.map(|tally| tally.packets)))
}

/// Between any two nodes, and between every node and the clients.
fn every_link(cluster: &DockerCluster) -> BTreeSet<Link> {
    let clients: NodeName = crate::name::Name::from(CLIENTS);
    all_links(cluster.nodes.iter().map(|node| &node.name).chain([&clients]))
}

async fn probe(
    cluster: &DockerCluster,
    links: BTreeSet<Link>,
    when: &str,
) -> anyhow::Result<Vec<Check>> {
    let report = cluster.agent.probe(links, PROBE_BOUND).await?;
    Ok(cluster.cuts.borrow().checks(&report.links, when))
}

async fn kill(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let Some(pid) = node::pid(&state(cluster, node).await?) else {
        return skipped(node, "is down already");
    };
    let options = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
    let api = cluster.engine.api();
    api.kill_container(&node.service, Some(options)).await.context("kill a container")?;
    // The engine must have noticed, too: until then it takes a start for a mistake.
    let gone = wait(PROCESS_WITHIN, || async {
        let facts = cluster.agent.process(pid).await?;
        let is_gone = facts.is_none_or(|facts| !facts.is_alive());
        Ok(is_gone && node::pid(&state(cluster, node).await?).is_none())
    });
    let gone = gone.await?;
    Ok(judged(
        vec![Check {
            what: format!("{} pid {pid}", node.name),
            expected: "gone".to_owned(),
            seen: if gone { "gone" } else { "alive" }.to_owned(),
            holds: gone,
        }],
        None,
    ))
}

async fn start(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    if node::pid(&state(cluster, node).await?).is_some() {
        return skipped(node, "is up already");
    }
    node::start(&cluster.engine, &node.service).await.context("start a container")?;
    node.log.resume();
    let pid = node::pid(&state(cluster, node).await?);
    let answers = await_answer(cluster, node).await?;
    let running = Check {
        what: format!("{} pid", node.name),
        expected: "a process".to_owned(),
        seen: pid.map_or("none".to_owned(), |pid| pid.to_string()),
        holds: pid.is_some(),
    };
    Ok(judged(vec![running, answers], None))
}

async fn pause(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let state = state(cluster, node).await?;
    let Some(pid) = node::pid(&state) else { return skipped(node, "is down") };
    if state.paused == Some(true) {
        return skipped(node, "is paused already");
    }
    freeze(cluster, node).await.context("pause a container")?;
    Ok(judged(vec![await_frozen(cluster, node, pid, true).await?], None))
}

/// Asks again where the kernel did not get every thread to stop in time, as on a busy host.
async fn freeze(cluster: &DockerCluster, node: &DockerNode) -> Result<(), ApiError> {
    let deadline = Instant::now() + PROCESS_WITHIN;
    loop {
        match cluster.engine.api().pause_container(&node.service).await {
            Err(error) if is_unfrozen(&error) && Instant::now() < deadline => {
                tokio::time::sleep(POLL).await;
            }
            other => return other,
        }
    }
}

fn is_unfrozen(error: &ApiError) -> bool {
    words(error).contains("unable to freeze")
}

async fn resume(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let state = state(cluster, node).await?;
    let Some(pid) = node::pid(&state) else { return skipped(node, "is down") };
    if state.paused != Some(true) {
        return skipped(node, "is not paused");
    }
    cluster.engine.api().unpause_container(&node.service).await.context("resume a container")?;
    let thawed = await_frozen(cluster, node, pid, false).await?;
    Ok(judged(vec![thawed, await_answer(cluster, node).await?], None))
}

async fn state(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<ContainerState> {
    let state = node::state(&cluster.engine, &node.service).await;
    state.with_context(|| format!("ask the engine for {}", node.name))
}

/// Waits until the node's process is frozen, or no longer is: by the kernel where it shows it.
async fn await_frozen(
    cluster: &DockerCluster,
    node: &DockerNode,
    pid: u32,
    wanted: bool,
) -> anyhow::Result<Check> {
    let holds = wait(PROCESS_WITHIN, || async {
        let frozen = cluster.agent.process(pid).await?.and_then(|facts| facts.frozen);
        let frozen = match frozen {
            Some(frozen) => frozen,
            None => state(cluster, node).await?.paused == Some(true),
        };
        Ok(frozen == wanted)
    });
    let holds = holds.await?;
    let name = |frozen: bool| if frozen { "frozen" } else { "running" }.to_owned();
    Ok(Check {
        what: format!("{} pid {pid}", node.name),
        expected: name(wanted),
        seen: name(wanted == holds),
        holds,
    })
}

/// Waits until the server answers at its client port, whether or not it has a quorum.
async fn await_answer(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Check> {
    let ended = Cell::new(false);
    let answers = wait(ANSWER_WITHIN, || async {
        let answer = ask(node.client_address, "ruok", ANSWER_PATIENCE).await;
        ended.set(answer.is_err() && node::pid(&state(cluster, node).await?).is_none());
        Ok(ended.get() || answer.is_ok_and(|answer| answer == "imok"))
    });
    let answers = answers.await? && !ended.get();
    let seen = match (answers, ended.get()) {
        (true, _) => "imok".to_owned(),
        (false, false) => "no answer".to_owned(),
        (false, true) => {
            let lines = logs::tail(&cluster.engine, &node.service, LOG_LINES).await;
            format!("it ended; its last lines:\n{lines}")
        }
    };
    let what = format!("{} ruok", node.name);
    Ok(Check { what, expected: "imok".to_owned(), seen, holds: answers })
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
