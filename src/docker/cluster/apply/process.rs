//! Services killed and started, frozen and thawed, each proven by the kernel's own account.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use anyhow::Context;
use bollard::errors::Error as ApiError;
use bollard::query_parameters::KillContainerOptionsBuilder;
use tokio::time::Instant;

use super::{POLL, clock, judged, skipped, state, wait};
use crate::cluster::{Applied, Check};
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::engine::words;
use crate::docker::question::{self, Question, Reply};
use crate::docker::{logs, node};

/// How long a killed process may take to be gone, and a frozen or thawed one to be so.
pub(super) const PROCESS_WITHIN: Duration = Duration::from_secs(10);

/// How long a started service may take to answer. A quorum is not waited for.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

const LOG_LINES: usize = 5;

pub(super) async fn kill(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let Some(pid) = node::pid(&state(cluster, node).await?) else {
        return skipped(node, "is down already");
    };
    send(cluster, node, "SIGKILL").await?;
    let gone = await_gone(cluster, node, pid, PROCESS_WITHIN).await?;
    Ok(judged(vec![gone_check(node, pid, gone)], None))
}

/// Sends a signal to a container's first process, through the engine.
pub(super) async fn send(
    cluster: &DockerCluster,
    node: &DockerNode,
    signal: &str,
) -> anyhow::Result<()> {
    let options = KillContainerOptionsBuilder::new().signal(signal).build();
    let sent = cluster.engine.api().kill_container(&node.service, Some(options)).await;
    sent.with_context(|| format!("send {signal} to the container of {}", node.name))
}

/// Waits until the kernel and the engine agree that a container has ended.
///
/// The engine must have noticed, too: until then it takes a start for a mistake.
pub(super) async fn await_gone(
    cluster: &DockerCluster,
    node: &DockerNode,
    pid: u32,
    within: Duration,
) -> anyhow::Result<bool> {
    let gone = wait(within, || async {
        let facts = cluster.agent.process(pid).await?;
        let is_gone = facts.is_none_or(|facts| !facts.is_alive());
        Ok(is_gone && node::pid(&state(cluster, node).await?).is_none())
    });
    gone.await
}

pub(super) fn gone_check(node: &DockerNode, pid: u32, gone: bool) -> Check {
    Check {
        what: format!("{} pid {pid}", node.name),
        expected: "gone".to_owned(),
        seen: if gone { "gone" } else { "alive" }.to_owned(),
        holds: gone,
    }
}

pub(super) async fn start(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
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
    let mut checks = vec![running, answers];
    checks.extend(clock::again(cluster, node).await?);
    Ok(judged(checks, None))
}

pub(super) async fn pause(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
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

pub(super) async fn resume(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let state = state(cluster, node).await?;
    let Some(pid) = node::pid(&state) else { return skipped(node, "is down") };
    if state.paused != Some(true) {
        return skipped(node, "is not paused");
    }
    cluster.engine.api().unpause_container(&node.service).await.context("resume a container")?;
    let thawed = await_frozen(cluster, node, pid, false).await?;
    Ok(judged(vec![thawed, await_answer(cluster, node).await?], None))
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

/// Waits until the service answers at its client port, whatever is cut off around it.
///
/// It is asked within its own network: the clients' way to it may be cut, which is no fault of its own.
pub(super) async fn await_answer(
    cluster: &DockerCluster,
    node: &DockerNode,
) -> anyhow::Result<Check> {
    let question = Question::of(node.role);
    let seen = RefCell::new(String::new());
    let ended = Cell::new(false);
    let answers = wait(ANSWER_WITHIN, || async {
        let reply = question::ask(&cluster.agent, &node.name, node.role).await?;
        let (Reply::Answered(words) | Reply::Other(words)) = &reply;
        seen.replace(words.clone());
        let is_answered = matches!(reply, Reply::Answered(_));
        ended.set(!is_answered && node::pid(&state(cluster, node).await?).is_none());
        Ok(is_answered || ended.get())
    });
    let answers = answers.await? && !ended.get();
    if ended.get() {
        let lines = logs::tail(&cluster.engine, &node.service, LOG_LINES).await;
        seen.replace(format!("it ended; its last lines:\n{lines}"));
    }
    Ok(Check {
        what: format!("{} {}", node.name, question.name),
        expected: question.expected.to_owned(),
        seen: seen.into_inner(),
        holds: answers,
    })
}
