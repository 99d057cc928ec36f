//! Services killed and running again at once: in place by their supervisor, else by the engine.

use std::cell::RefCell;

use super::process::{self, PROCESS_WITHIN, await_answer, gone_check};
use super::{clock, judged, skipped, state, wait};
use crate::agent::protocol::Resident;
use crate::cluster::{Applied, Check};
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::node;

pub(super) async fn crash(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let found = state(cluster, node).await?;
    let Some(first) = node::pid(&found) else { return skipped(node, "is down") };
    if found.paused == Some(true) {
        return skipped(node, "is paused");
    }
    if !cluster.supervised {
        return by_engine(cluster, node).await;
    }
    let Some(old) = service(cluster, first).await? else {
        return skipped(node, "is being started again already");
    };
    if !cluster.agent.signal(first, &old, libc::SIGKILL).await? {
        return skipped(node, "has just ended");
    }
    let gone = wait(PROCESS_WITHIN, || async {
        let facts = cluster.agent.process(old.pid).await?;
        Ok(facts
            .is_none_or(|facts| facts.start_ticks != old.facts.start_ticks || !facts.is_alive()))
    });
    let gone = gone_check(node, old.pid, gone.await?);
    let successor = await_successor(cluster, node, first, &old).await?;
    let mut checks = vec![gone, successor, await_answer(cluster, node).await?];
    checks.extend(clock::again(cluster, node).await?);
    Ok(judged(checks, None))
}

/// The process that the supervisor has started, if one runs.
pub(super) async fn service(
    cluster: &DockerCluster,
    first: u32,
) -> anyhow::Result<Option<Resident>> {
    let residents = cluster.agent.census(first).await?;
    let mut children = residents.into_iter().filter(|resident| resident.parent == first);
    Ok(children.find(|child| child.facts.is_alive()))
}

/// Waits for a process that started later than the one killed.
async fn await_successor(
    cluster: &DockerCluster,
    node: &DockerNode,
    first: u32,
    old: &Resident,
) -> anyhow::Result<Check> {
    let seen = RefCell::new("none".to_owned());
    let holds = wait(PROCESS_WITHIN, || async {
        let Some(new) = service(cluster, first).await? else { return Ok(false) };
        let (before, since) = (old.facts.start_ticks, new.facts.start_ticks);
        *seen.borrow_mut() = format!("pid {} started at tick {since}", new.pid);
        Ok(new.pid != old.pid && since >= before)
    });
    let holds = holds.await?;
    Ok(Check {
        what: format!("{} in its place", node.name),
        expected: format!("a process started after tick {}", old.facts.start_ticks),
        seen: seen.into_inner(),
        holds,
    })
}

/// The container itself ends and is started again.
pub(super) async fn by_engine(
    cluster: &DockerCluster,
    node: &DockerNode,
) -> anyhow::Result<Applied> {
    let mut checks = Vec::new();
    for step in [process::kill(cluster, node).await?, process::start(cluster, node).await?] {
        match step {
            Applied::Installed { proof } | Applied::Indeterminate { proof: Some(proof), .. } => {
                checks.extend(proof.checks)
            }
            other => return Ok(other),
        }
    }
    Ok(judged(checks, None))
}
