//! What one service says of itself when it is asked at its client port, by role.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::TryFutureExt;
use tokio::net::TcpStream;
use tokio_util::compat::TokioAsyncReadCompatExt;

use crate::client::zookeeper::{Srvr, srvr};
use crate::cluster::{NodeState, NodeView, Role, ask_kvrocks};
use crate::http::{self, Method, Request, Response};

/// A server that takes longer to say what it is doing does not serve.
const PATIENCE: Duration = Duration::from_millis(700);

/// Any controller answers this from ZooKeeper, so its answer shows that it reaches that.
const NAMESPACES: &str = "/api/v1/namespaces";

/// So much of what went wrong is shown.
const SHOWN: usize = 120;

/// Asks once. Of a controller only the leader znode tells whether it leads.
pub(super) async fn ask(role: Role, server: SocketAddr) -> NodeView {
    let asked = async {
        match role {
            Role::Zookeeper => srvr(server, PATIENCE).await.map(zookeeper),
            Role::Controller => get(server).await.map(|answer| controller(&answer)),
            Role::Kvrocks => {
                let mut stream = TcpStream::connect(server).await?.compat();
                ask_kvrocks(&mut stream).await
            }
        }
    };
    let answered = tokio::time::timeout(PATIENCE, asked).await;
    let answered = answered.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    answered.unwrap_or_else(|error| {
        let detail = match error.kind() {
            io::ErrorKind::TimedOut => {
                format!("no answer for {} ms at {server}", PATIENCE.as_millis())
            }
            _ => format!("{error} at {server}"),
        };
        NodeView::new(role, NodeState::Running, detail)
    })
}

fn zookeeper(answer: Srvr) -> NodeView {
    match answer {
        Srvr::Serving { mode, zxid, version } => {
            let detail = format!("{} zxid={zxid:#x} version={version}", mode.name());
            NodeView {
                leads: mode.leads(),
                epoch: Some((zxid >> 32) as u64),
                ..NodeView::new(Role::Zookeeper, NodeState::Serving, detail)
            }
        }
        Srvr::NotServing => NodeView::new(Role::Zookeeper, NodeState::Running, "no quorum"),
    }
}

async fn get(server: SocketAddr) -> io::Result<Response> {
    let stream = TcpStream::connect(server).await?.compat();
    let request = Request::new(Method::GET, server.to_string(), NAMESPACES);
    http::send(stream, request).map_err(io::Error::other).await
}

/// One that is not the leader redirects, after it has done what it was asked.
fn controller(answer: &Response) -> NodeView {
    match answer.status {
        200..400 => NodeView::new(Role::Controller, NodeState::Serving, "answers"),
        status => {
            let body = String::from_utf8_lossy(&answer.body);
            let shown: String = body.trim().chars().take(SHOWN).collect();
            let detail = format!("answers GET {NAMESPACES} with {status}: {shown}");
            NodeView::new(Role::Controller, NodeState::Running, detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::zookeeper::Mode;

    #[test]
    fn a_server_of_zookeeper_is_what_it_says() {
        let version = "3.8.0".to_owned();
        let leading = zookeeper(Srvr::Serving { mode: Mode::Leader, zxid: 0x10, version });
        assert!(leading.leads && leading.state == NodeState::Serving);
        let alone = zookeeper(Srvr::NotServing);
        assert_eq!((alone.state, alone.leads), (NodeState::Running, false));
    }

    #[test]
    fn a_controller_that_answers_or_redirects_serves_and_one_that_fails_does_not() {
        let state = |status| controller(&Response::new(status, "text/plain", "why")).state;
        assert_eq!([200, 307].map(state), [NodeState::Serving; 2]);
        assert_eq!([404, 500].map(state), [NodeState::Running; 2]);
        let failing = controller(&Response::new(500, "text/plain", "zk: no connection\n"));
        let expected = "answers GET /api/v1/namespaces with 500: zk: no connection";
        assert_eq!(failing.detail, expected);
    }

    #[tokio::test]
    async fn what_gives_no_answer_just_runs_and_is_told_with_its_address() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = |listener: &std::net::TcpListener| listener.local_addr().expect("bound");
        let (silent_at, closed_at) = (address(&silent), address(&closed));
        drop(closed);
        for role in Role::ALL {
            let (silent, closed) = tokio::join!(ask(role, silent_at), ask(role, closed_at));
            assert_eq!(silent.detail, format!("no answer for 700 ms at {silent_at}"));
            assert!(closed.detail.ends_with(&format!("at {closed_at}")), "{closed:?}");
            assert_eq!([silent.state, closed.state], [NodeState::Running; 2]);
        }
    }
}
