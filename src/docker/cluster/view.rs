//! The cluster as its own services and the engine describe it, asked all at once.

pub(super) mod office;
mod service;

use std::net::SocketAddr;

use bollard::models::ContainerState;
use futures::future::join_all;

use crate::cluster::{NodeState, NodeView, Role, View};
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::engine::words;
use crate::docker::node;
use office::{Holder, Office};

pub(super) async fn view(cluster: &DockerCluster) -> View {
    let (servers, others): (Vec<_>, Vec<_>) =
        cluster.nodes.iter().partition(|node| node.role == Role::Zookeeper);
    let others = join_all(others.into_iter().map(|node| seen(cluster, node)));
    let coordinated = async {
        let servers = join_all(servers.into_iter().map(|node| seen(cluster, node))).await;
        let office = office(cluster, &servers).await;
        (servers, office)
    };
    let (others, (servers, office)) = futures::join!(others, coordinated);
    let views = servers.into_iter().chain(others).map(|(node, view)| match view.state {
        NodeState::Serving | NodeState::Running if node.role == Role::Controller => {
            (node.name, in_office(view, node.client_address, &office))
        }
        _ => (node.name, view),
    });
    View { nodes: views.collect() }
}

/// One node with its view.
type Seen<'a> = (&'a DockerNode, NodeView);

async fn seen<'a>(cluster: &DockerCluster, node: &'a DockerNode) -> Seen<'a> {
    (node, look(cluster, node).await)
}

async fn look(cluster: &DockerCluster, node: &DockerNode) -> NodeView {
    // Asked together: a frozen server costs its whole patience.
    let state = node::state(&cluster.engine, &node.service);
    let (state, said) = futures::join!(state, service::ask(node.role, node.client_address));
    match state {
        Ok(state) => judge(node.role, &state, said),
        Err(error) => down(node.role, format!("the engine says: {}", words(&error))),
    }
}

/// Who holds the leader znode, where there are controllers to hold it: asked of servers that serve.
async fn office(cluster: &DockerCluster, servers: &[Seen<'_>]) -> Office {
    if !cluster.nodes.iter().any(|node| node.role == Role::Controller) {
        return Office::Unknown;
    }
    let serving = servers.iter().filter(|(_, view)| view.state == NodeState::Serving);
    let serving: Vec<SocketAddr> = serving.map(|(node, _)| node.client_address).collect();
    cluster.lookout.look(&serving).await
}

fn judge(role: Role, state: &ContainerState, said: NodeView) -> NodeView {
    if state.paused == Some(true) {
        return NodeView::new(role, NodeState::Paused, "frozen");
    }
    if state.running != Some(true) {
        return down(role, format!("exit code {}", state.exit_code.unwrap_or_default()));
    }
    said
}

/// A controller's view with what its leader znode says of it.
fn in_office(view: NodeView, address: SocketAddr, office: &Office) -> NodeView {
    let (leads, epoch, what) = match office {
        Office::Held(Holder { address: holder, election, .. }) => {
            let leads = *holder == address.to_string();
            let what = match leads {
                true => format!("leads since election {election:#x}"),
                false => format!("follows {holder}"),
            };
            (leads, Some(*election), what)
        }
        Office::Vacant => (false, None, "nobody leads".to_owned()),
        Office::Unknown => (false, None, "ZooKeeper does not tell who leads".to_owned()),
    };
    NodeView { leads, epoch, detail: format!("{what}, {}", view.detail), ..view }
}

fn down(role: Role, detail: String) -> NodeView {
    NodeView::new(role, NodeState::Down, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(running: bool, paused: bool) -> ContainerState {
        ContainerState {
            running: Some(running),
            paused: Some(paused),
            exit_code: Some(137),
            ..ContainerState::default()
        }
    }

    #[test]
    fn the_engine_is_believed_before_the_answer() {
        let leader = || NodeView {
            leads: true,
            ..NodeView::new(Role::Kvrocks, NodeState::Serving, "master")
        };
        let judged = |running, paused| judge(Role::Kvrocks, &container(running, paused), leader());
        assert_eq!(
            (judged(true, true).state, judged(true, true).leads),
            (NodeState::Paused, false)
        );
        let dead = judged(false, false);
        assert_eq!((dead.state, dead.detail.as_str()), (NodeState::Down, "exit code 137"));
        assert_eq!(judged(true, false), leader());
    }

    #[test]
    fn only_the_leader_znode_tells_which_controller_leads() {
        let view = || NodeView::new(Role::Controller, NodeState::Serving, "answers");
        let holder =
            Holder { address: "10.0.0.21:9379".to_owned(), election: 0x1_0000_0007, owner: 5 };
        let held = Office::Held(holder);
        let seen = |address: &str, office: &Office| {
            let seen = in_office(view(), address.parse().expect("an address"), office);
            (seen.leads, seen.epoch, seen.detail)
        };
        let election = Some(0x1_0000_0007);
        let leads = "leads since election 0x100000007, answers".to_owned();
        assert_eq!(seen("10.0.0.21:9379", &held), (true, election, leads));
        let follows = "follows 10.0.0.21:9379, answers".to_owned();
        assert_eq!(seen("10.0.0.22:9379", &held), (false, election, follows));
        let nobody = (false, None, "nobody leads, answers".to_owned());
        assert_eq!(seen("10.0.0.22:9379", &Office::Vacant), nobody);
        assert!(seen("10.0.0.22:9379", &Office::Unknown).2.starts_with("ZooKeeper does not tell"));
    }
}
