//! Sessions of clients ended at the server that holds them.

use std::net::SocketAddr;
use std::time::Duration;

use super::{judged, skipped, wait};
use crate::client::zookeeper::{self, ExpireError, knows_session, sessions};
use crate::cluster::{Applied, Check, NodeState, Role, SessionPick};
use crate::docker::cluster::{DockerCluster, DockerNode, view};

/// The ensemble has to agree that a session is over.
const AGREED_WITHIN: Duration = Duration::from_secs(5);

const PATIENCE: Duration = Duration::from_millis(700);

pub(super) async fn expire(
    cluster: &DockerCluster,
    node: &DockerNode,
    pick: SessionPick,
) -> anyhow::Result<Applied> {
    let server = node.client_address;
    if node.role != Role::Zookeeper {
        return skipped(node, "holds no sessions: it is no server of ZooKeeper");
    }
    let held: Vec<i64> = match sessions(server, PATIENCE).await {
        // The one by which we look who leads is not part of the system.
        Ok(held) => {
            let ours = cluster.lookout.session();
            held.into_iter().filter(|id| Some(*id) != ours).collect()
        }
        Err(error) => return skipped(node, &format!("does not tell its sessions: {error}")),
    };
    let id = match picked(&held, pick) {
        Ok(id) => id,
        Err(why) => return skipped(node, &why),
    };
    let before = Check {
        what: format!("session 0x{id:x} before"),
        expected: "listed".to_owned(),
        seen: format!("listed, one of {}", held.len()),
        holds: true,
    };
    let Servers { through, judge } = servers(cluster, node).await;
    match zookeeper::expire(through.client_address, id, AGREED_WITHIN).await {
        Ok(()) => {}
        Err(error @ ExpireError::Unknown(_)) => return skipped(through, &format!("says: {error}")),
        Err(error) => return Ok(Applied::Indeterminate { why: error.to_string(), proof: None }),
    }
    Ok(judged(vec![before, await_gone(judge.client_address, id).await?], None))
}

/// Who has a part in ending a session.
struct Servers<'a> {
    /// The one that is asked to: other than the holder, so that the owner notices nothing until all is over,
    /// and the leader if it can be.
    through: &'a DockerNode,
    /// The one that knows: the leader. A follower may list for good what was ended while it began.
    judge: &'a DockerNode,
}

async fn servers<'a>(cluster: &'a DockerCluster, holder: &'a DockerNode) -> Servers<'a> {
    let view = view::view(cluster).await;
    let (mut through, mut judge) = (holder, holder);
    for node in cluster.nodes.iter().filter(|node| node.role == holder.role) {
        let Some(seen) = view.nodes.get(&node.name) else { continue };
        if seen.leads {
            judge = node;
        }
        let is_better = seen.leads || through.name == holder.name;
        if node.name != holder.name && seen.state == NodeState::Serving && is_better {
            through = node;
        }
    }
    Servers { through, judge }
}

/// The session that is meant among those that a server holds, sorted.
fn picked(held: &[i64], pick: SessionPick) -> Result<i64, String> {
    match pick {
        SessionPick::Id(id) if held.contains(&id) => Ok(id),
        SessionPick::Id(id) => Err(format!("does not hold session 0x{id:x}")),
        SessionPick::Nth(_) if held.is_empty() => Err("holds no session".to_owned()),
        SessionPick::Nth(number) => Ok(held[(number % held.len() as u64) as usize]),
    }
}

async fn await_gone(judge: SocketAddr, id: i64) -> anyhow::Result<Check> {
    let gone = wait(AGREED_WITHIN, || async {
        Ok(knows_session(judge, id, PATIENCE).await.is_ok_and(|knows| !knows))
    });
    let gone = gone.await?;
    Ok(Check {
        what: format!("session 0x{id:x}"),
        expected: "gone".to_owned(),
        seen: if gone { "gone" } else { "listed" }.to_owned(),
        holds: gone,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_round_and_round_or_named() {
        let held = [-5, 3, 9];
        let nth = |number| picked(&held, SessionPick::Nth(number));
        assert_eq!([0, 1, 2, 3, u64::MAX].map(nth), [-5, 3, 9, -5, -5].map(Ok));
        assert_eq!(picked(&held, SessionPick::Id(9)), Ok(9));
        assert!(picked(&held, SessionPick::Id(8)).unwrap_err().contains("0x8"));
        assert!(picked(&[], SessionPick::Nth(1)).is_err());
    }
}
