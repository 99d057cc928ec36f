//! Services told to end. The proof says whether they did so by themselves.

use std::time::Duration;

use super::process::{PROCESS_WITHIN, await_gone, gone_check, send};
use super::{judged, skipped, state};
use crate::cluster::{Applied, Check};
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::node;

/// How long a service may take to end before it is killed, as with `docker stop`.
const GRACE: Duration = Duration::from_secs(10);

pub(super) async fn stop(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Applied> {
    let found = state(cluster, node).await?;
    let Some(pid) = node::pid(&found) else { return skipped(node, "is down already") };
    if found.paused == Some(true) {
        return skipped(node, "is paused, so it cannot end by itself");
    }
    send(cluster, node, "SIGTERM").await?;
    let by_itself = await_gone(cluster, node, pid, GRACE).await?;
    let gone = by_itself || {
        send(cluster, node, "SIGKILL").await?;
        await_gone(cluster, node, pid, PROCESS_WITHIN).await?
    };
    let ended = Check {
        what: format!("{} ended by", node.name),
        // What it does about SIGTERM is its own affair: either way it is stopped.
        expected: "SIGTERM, or SIGKILL after 10 s".to_owned(),
        seen: if by_itself { "SIGTERM" } else { "SIGKILL after 10 s" }.to_owned(),
        holds: gone,
    };
    Ok(judged(vec![gone_check(node, pid, gone), ended], None))
}
