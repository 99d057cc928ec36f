//! What the nodes say of themselves: servers of the ensemble and controllers are looked at, kvrocks nodes
//! are asked as a client would ask them.

use std::time::Duration;

use super::SimCluster;
use crate::cluster::{Node, NodeState, NodeView, Role, View, ask_kvrocks};
use crate::sim::process::ProcessState;
use crate::sim::stream::SimStream;
use crate::sim::world::World;

/// A node that has not said all by then does not answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
/// Whoever leads the controllers keeps this znode: a name of its own, a slash and its address.
const LEADER: &str = "/kvrocks/controller/leader";

impl SimCluster {
    pub(super) async fn look(&self) -> View {
        let nodes = self.topology.nodes.iter().enumerate();
        let look = |(index, node)| async move { (index, self.look_at(index as u8, node).await) };
        let seen = futures::future::join_all(nodes.map(look)).await;
        let named = |(index, view): (usize, NodeView)| (self.topology.nodes[index].name, view);
        View { nodes: seen.into_iter().map(named).collect() }
    }

    async fn look_at(&self, index: u8, node: &Node) -> NodeView {
        let silent = self.world.with(|world| silence(world, index, node.role));
        match node.role {
            _ if silent.is_some() => silent.unwrap_or_else(|| unreachable(node.role)),
            Role::Zookeeper => self.world.with(|world| server(world, index)),
            Role::Controller => self.world.with(|world| controller(world, index, node)),
            Role::Kvrocks => self.ask(index, node).await,
        }
    }

    async fn ask(&self, index: u8, node: &Node) -> NodeView {
        let (port, _) = node.role.client_port();
        let asked = async {
            let socket = self.world.with(|world| world.look_in(index, port));
            ask_kvrocks(&mut SimStream::new(&self.world, socket).opened().await?).await
        };
        let running = |detail: String| NodeView::new(node.role, NodeState::Running, detail);
        match tokio::time::timeout(ANSWER_WITHIN, asked).await {
            Ok(Ok(view)) => view,
            Ok(Err(error)) => running(error.to_string()),
            Err(_) => running("no answer".to_owned()),
        }
    }
}

fn unreachable(role: Role) -> NodeView {
    NodeView::new(role, NodeState::Running, "unreachable")
}

/// What is to be said of a node that says nothing of itself.
fn silence(world: &World, node: u8, role: Role) -> Option<NodeView> {
    match world.process_state(node) {
        ProcessState::Down => {
            let detail = world.last_words(node).map_or("down".into(), |it| format!("down: {it}"));
            Some(NodeView::new(role, NodeState::Down, detail))
        }
        ProcessState::Paused => Some(NodeView::new(role, NodeState::Paused, "paused")),
        ProcessState::Running if !world.reaches_clients(node) => Some(unreachable(role)),
        ProcessState::Running => None,
    }
}

fn server(world: &World, node: u8) -> NodeView {
    let status = world.server(node).status();
    let (mode, epoch, zxid) = (&status.mode, status.epoch, status.zxid);
    let state = if status.serving { NodeState::Serving } else { NodeState::Running };
    NodeView {
        leads: status.leads,
        epoch: status.serving.then_some(u64::from(epoch)),
        ..NodeView::new(Role::Zookeeper, state, format!("{mode}, epoch {epoch}, zxid 0x{zxid:x}"))
    }
}

/// A controller serves where it listens. It leads where the ensemble says so, whatever it thinks itself.
fn controller(world: &World, index: u8, node: &Node) -> NodeView {
    let (port, _) = node.role.client_port();
    if !world.network.is_listening(index, port) {
        return NodeView::new(node.role, NodeState::Running, "starting");
    }
    let leader = world.committed().and_then(|tree| tree.znode(LEADER));
    let address = format!("/{}:{port}", node.address);
    let leads = leader.is_some_and(|znode| znode.data.ends_with(address.as_bytes()));
    let epoch = leader.map(|znode| znode.czxid as u64);
    let detail = match (leads, epoch) {
        (true, Some(epoch)) => format!("leads, election 0x{epoch:x}"),
        (_, Some(epoch)) => format!("follows, election 0x{epoch:x}"),
        (_, None) => "no leader".to_owned(),
    };
    NodeView { leads, epoch, ..NodeView::new(node.role, NodeState::Serving, detail) }
}
