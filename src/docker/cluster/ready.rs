//! Waits until a cluster that has been started serves; gives up at once on a service that has ended, and soon
//! on one that listens where nobody looks for it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use crate::cluster::{NodeState, View};
use crate::docker::cluster::{ClusterSpec, DockerCluster, DockerNode, UpError, view};
use crate::docker::images;
use crate::docker::{logs, node};
use crate::op::NodeName;

const POLL: Duration = Duration::from_millis(40);

const LOG_LINES: usize = 15;

/// A service that listens elsewhere for so long does not come to listen where it should.
const STRAY_FOR: Duration = Duration::from_secs(8);

const STRAY_POLL: Duration = Duration::from_secs(1);

/// Where the engine's own resolver listens in every container's network.
const ENGINE_RESOLVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 11));

pub(super) async fn wait(cluster: &DockerCluster, spec: &ClusterSpec) -> Result<(), UpError> {
    let deadline = Instant::now() + spec.ready_within;
    let mut strays = Strays::default();
    loop {
        let view = view::view(cluster).await;
        if view.is_healthy() {
            return Ok(());
        }
        if let Some((name, _)) = view.nodes.iter().find(|(_, node)| node.state == NodeState::Down) {
            return Err(ended_early(cluster, name).await);
        }
        strays.look(cluster, &view).await?;
        if Instant::now() > deadline {
            let (seconds, state) = (spec.ready_within.as_secs(), describe(&view));
            let logs = format!("{}/nodes", spec.results.display());
            return Err(UpError::NotReady { seconds, state, logs });
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn ended_early(cluster: &DockerCluster, name: &NodeName) -> UpError {
    let node = match cluster.node(name) {
        Ok(node) => node,
        Err(error) => return error.into(),
    };
    let state = node::state(&cluster.engine, &node.service).await.unwrap_or_default();
    let mut how = format!("exit code {}", state.exit_code.unwrap_or_default());
    if state.oom_killed == Some(true) {
        how.push_str(": the kernel ended it because its memory limit is too small");
    }
    UpError::EndedEarly {
        node: name.to_string(),
        how,
        image: cluster.image_of(node).to_owned(),
        expected: expected(node),
        log: last_lines(cluster, node).await,
    }
}

/// An image in whose place another one was given, perhaps.
fn expected(node: &DockerNode) -> String {
    images::official(node.role.name()).unwrap_or_else(|| node.role.name().to_owned())
}

async fn last_lines(cluster: &DockerCluster, node: &DockerNode) -> String {
    match logs::tail(&cluster.engine, &node.service, LOG_LINES).await {
        empty if empty.is_empty() => "It wrote nothing.".to_owned(),
        lines => format!("Its last lines:\n{lines}"),
    }
}

/// Who runs, and listens only where no client looks for it.
#[derive(Default)]
struct Strays {
    since: BTreeMap<NodeName, Instant>,
    looked: Option<Instant>,
}

impl Strays {
    /// Fails for the first one that has strayed for too long.
    async fn look(&mut self, cluster: &DockerCluster, view: &View) -> Result<(), UpError> {
        let now = Instant::now();
        if now < *self.looked.get_or_insert(now) + STRAY_POLL {
            return Ok(());
        }
        self.looked = Some(now);
        let unwell = cluster.nodes.iter().filter(|node| {
            view.nodes.get(&node.name).is_some_and(|seen| seen.state == NodeState::Running)
        });
        let found = join_all(unwell.map(|node| async move {
            let heard = cluster.agent.listening(node.name).await;
            (node, heard.map_or_else(|_| Vec::new(), |all| stray(all, node.client_address)))
        }));
        let found = found.await;
        self.since
            .retain(|name, _| found.iter().any(|(node, at)| node.name == *name && !at.is_empty()));
        for (node, at) in found.into_iter().filter(|(_, at)| !at.is_empty()) {
            if now >= *self.since.entry(node.name).or_insert(now) + STRAY_FOR {
                return Err(strayed(cluster, node, &at).await);
            }
        }
        Ok(())
    }
}

/// Where a service listens, if that is not where its clients look for it.
fn stray(at: impl IntoIterator<Item = SocketAddr>, expected: SocketAddr) -> Vec<SocketAddr> {
    let at: Vec<_> = at.into_iter().filter(|one| one.ip() != ENGINE_RESOLVER).collect();
    let is_found = |one: &SocketAddr| {
        one.port() == expected.port() && (one.ip().is_unspecified() || one.ip() == expected.ip())
    };
    if at.iter().any(is_found) { Vec::new() } else { at }
}

async fn strayed(cluster: &DockerCluster, node: &DockerNode, at: &[SocketAddr]) -> UpError {
    let at: Vec<String> = at.iter().map(ToString::to_string).collect();
    UpError::Strayed {
        node: node.name.to_string(),
        image: cluster.image_of(node).to_owned(),
        at: format!("at {} and not at {}", at.join(" and "), node.client_address),
        expected: expected(node),
        log: last_lines(cluster, node).await,
    }
}

fn describe(view: &View) -> String {
    let unwell = view.nodes.iter().filter(|(_, node)| node.state != NodeState::Serving);
    // All may serve, and yet nobody or more than one lead.
    let all = view.nodes.iter().filter(|_| unwell.clone().next().is_none());
    let nodes = unwell.clone().chain(all).map(|(name, node)| format!("{name}: {}", node.detail));
    nodes.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_where_clients_look_or_nowhere_at_all_is_no_stray() {
        let expected: SocketAddr = "10.0.0.5:6666".parse().expect("an address");
        let stray = |at: &[&str]| {
            let at = at.iter().map(|one| one.parse::<SocketAddr>().expect("an address"));
            stray(at, expected).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(stray(&[]), "");
        assert_eq!(stray(&["127.0.0.11:40001"]), "", "the engine's own");
        for found in ["0.0.0.0:6666", "[::]:6666", "10.0.0.5:6666"] {
            assert_eq!(stray(&["0.0.0.0:7", found]), "");
        }
        assert_eq!(stray(&["127.0.0.1:6666"]), "127.0.0.1:6666");
        assert_eq!(stray(&["127.0.0.11:40001", "0.0.0.0:7777"]), "0.0.0.0:7777");
    }
}
