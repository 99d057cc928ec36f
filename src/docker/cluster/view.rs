//! The cluster as its own servers and the engine describe it, asked all at once.

use std::time::Duration;

use bollard::models::ContainerState;
use futures::future::join_all;

use crate::client::zookeeper::{Srvr, srvr};
use crate::cluster::{NodeState, NodeView, Role, View};
use crate::docker::cluster::DockerNode;
use crate::docker::engine::{Engine, words};
use crate::docker::node;

/// A server that takes longer to say what it is doing does not serve.
const PATIENCE: Duration = Duration::from_millis(700);

pub(super) async fn view(engine: &Engine, nodes: &[DockerNode]) -> View {
    let asked = nodes.iter().map(|node| async {
        // Asked together: a frozen server costs its whole patience.
        let state = node::state(engine, &node.service);
        let (state, answer) = futures::join!(state, srvr(node.client_address, PATIENCE));
        let view = match state {
            Ok(state) => judge(&state, answer),
            Err(error) => down(format!("the engine says: {}", words(&error))),
        };
        (node.name, view)
    });
    View { nodes: join_all(asked).await.into_iter().collect() }
}

fn judge(state: &ContainerState, answer: std::io::Result<Srvr>) -> NodeView {
    if state.paused == Some(true) {
        let detail = "frozen".to_owned();
        return NodeView::new(Role::Zookeeper, NodeState::Paused, detail);
    }
    if state.running != Some(true) {
        return down(format!("exit code {}", state.exit_code.unwrap_or_default()));
    }
    match answer {
        Ok(Srvr::Serving { mode, zxid, version }) => {
            let detail = format!("{} zxid={zxid:#x} version={version}", mode.name());
            NodeView {
                leads: mode.leads(),
                epoch: Some((zxid >> 32) as u64),
                ..NodeView::new(Role::Zookeeper, NodeState::Serving, detail)
            }
        }
        Ok(Srvr::NotServing) => running("no quorum".to_owned()),
        Err(error) => running(error.to_string()),
    }
}

fn running(detail: String) -> NodeView {
    NodeView::new(Role::Zookeeper, NodeState::Running, detail)
}

fn down(detail: String) -> NodeView {
    NodeView::new(Role::Zookeeper, NodeState::Down, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::zookeeper::Mode;

    fn container(running: bool, paused: bool) -> ContainerState {
        ContainerState {
            running: Some(running),
            paused: Some(paused),
            exit_code: Some(137),
            ..ContainerState::default()
        }
    }

    fn leader() -> std::io::Result<Srvr> {
        Ok(Srvr::Serving { mode: Mode::Leader, zxid: 0x10, version: "3.8.0".to_owned() })
    }

    #[test]
    fn the_engine_is_believed_before_the_answer() {
        assert_eq!(judge(&container(true, true), leader()).state, NodeState::Paused);
        let dead = judge(&container(false, false), leader());
        assert_eq!((dead.state, dead.detail.as_str()), (NodeState::Down, "exit code 137"));
    }

    #[test]
    fn a_running_server_is_what_it_says() {
        let leading = judge(&container(true, false), leader());
        assert!(leading.leads && leading.state == NodeState::Serving);
        let alone = judge(&container(true, false), Ok(Srvr::NotServing));
        assert_eq!((alone.state, alone.leads), (NodeState::Running, false));
        let silent = judge(&container(true, false), Err(std::io::ErrorKind::TimedOut.into()));
        assert_eq!(silent.state, NodeState::Running);
    }
}
