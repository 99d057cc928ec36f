//! kvrocks nodes as the controller speaks to them: RESP over a few kept connections, each step of bounded
//! time, nothing retried.

mod told;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::time::Duration;

use futures::FutureExt;
use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::document::{Cluster, Node};
use super::slots::SlotRange;
use super::topology;
use crate::reference::host::{Host, within};
use crate::resp::{Decoder, Value, encode_command};

pub use told::{ClusterInfo, NodeInfo};

const DIAL_TIME: Duration = Duration::from_millis(3200);
const READ_TIME: Duration = Duration::from_secs(3);

/// So many idle connections to one node are kept.
const MOST_IDLE: usize = 4;

/// An answer may be so long.
const LONGEST_ANSWER: usize = 4 << 20;

/// Why a node did not do what it was told, in the words that go into logs and answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NodeError(pub String);

impl NodeError {
    /// It is there, but has no topology yet.
    pub fn is_not_initialized(&self) -> bool {
        self.0.contains("CLUSTERDOWN The cluster is not initialized")
    }

    /// It is there, but still loads its data.
    pub fn is_loading(&self) -> bool {
        self.0.contains("LOADING")
    }
}

pub struct Nodes<H: Host> {
    host: H,
    /// By address and password.
    idle: RefCell<Idle<H::Stream>>,
}

type Idle<S> = BTreeMap<(String, String), Vec<Connection<S>>>;

struct Connection<S> {
    stream: S,
    decoder: Decoder,
}

impl<H: Host> Nodes<H> {
    pub fn new(host: H) -> Nodes<H> {
        Nodes { host, idle: RefCell::default() }
    }

    pub async fn cluster_info(&self, node: &Node) -> Result<ClusterInfo, NodeError> {
        ClusterInfo::parse(&self.text(node, &["cluster", "info"]).await?)
    }

    pub async fn info(&self, node: &Node) -> Result<NodeInfo, NodeError> {
        NodeInfo::parse(&self.text(node, &["info"]).await?)
    }

    /// The topology as the node knows it, in the lines of `CLUSTER NODES`.
    pub async fn cluster_nodes(&self, node: &Node) -> Result<String, NodeError> {
        self.text(node, &["cluster", "nodes"]).await
    }

    /// The version of the node's topology; -1 where it has none.
    pub async fn cluster_mode(&self, node: &Node) -> Result<i64, NodeError> {
        match self.cluster_info(node).await {
            Ok(info) => Ok(info.epoch),
            Err(error) if error.is_not_initialized() => Ok(-1),
            Err(error) => {
                Err(NodeError(format!("error while checking node cluster mode: {error}")))
            }
        }
    }

    /// Tells the node who it is and what the cluster looks like.
    pub async fn push(&self, node: &Node, cluster: &Cluster) -> Result<(), NodeError> {
        let lines = topology::lines(cluster)?;
        self.ask(node, &["CLUSTERX", "SETNODEID", &node.id]).await?;
        let version = cluster.version.to_string();
        self.ask(node, &["CLUSTERX", "SETNODES", &lines, &version]).await.map(drop)
    }

    /// Starts to move slots from this node to the other.
    pub async fn migrate(&self, node: &Node, slots: SlotRange, to: &str) -> Result<(), NodeError> {
        self.ask(node, &["CLUSTERX", "MIGRATE", &slots.to_string(), to]).await.map(drop)
    }

    async fn text(&self, node: &Node, words: &[&str]) -> Result<String, NodeError> {
        match self.ask(node, words).await? {
            Value::Bulk(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            Value::Simple(text) => Ok(text),
            other => Err(NodeError(format!("redis: unexpected reply to {words:?}: {other:?}"))),
        }
    }

    /// One request and its answer. An error of the node is an error here.
    async fn ask(&self, node: &Node, words: &[&str]) -> Result<Value, NodeError> {
        let mut connection = match self.take_idle(node) {
            Some(connection) => connection,
            None => self.dial(node).await?,
        };
        let answer = self.exchange(node, &mut connection, words).await?;
        self.keep(node, connection);
        match answer {
            Value::Error(error) => Err(NodeError(error)),
            value => Ok(value),
        }
    }

    async fn dial(&self, node: &Node) -> Result<Connection<H::Stream>, NodeError> {
        let addr = &node.addr;
        let to: SocketAddrV4 = addr
            .parse()
            .map_err(|_| NodeError(format!("dial tcp: address {addr}: expected IPv4:port")))?;
        let stream = match within(&self.host, DIAL_TIME, self.host.connect(to)).await {
            Some(Ok(stream)) => stream,
            Some(Err(error)) => return Err(NodeError(format!("dial tcp {addr}: {error}"))),
            None => return Err(NodeError(format!("dial tcp {addr}: i/o timeout"))),
        };
        let mut connection = Connection { stream, decoder: Decoder::default() };
        if node.password.is_empty() {
            return Ok(connection);
        }
        match self.exchange(node, &mut connection, &["auth", &node.password]).await? {
            Value::Error(error) => Err(NodeError(error)),
            _ => Ok(connection),
        }
    }

    async fn exchange(
        &self,
        node: &Node,
        connection: &mut Connection<H::Stream>,
        words: &[&str],
    ) -> Result<Value, NodeError> {
        match within(&self.host, READ_TIME, connection.exchange(words)).await {
            Some(answer) => answer,
            None => Err(NodeError(format!("read tcp {}: i/o timeout", node.addr))),
        }
    }

    /// A kept connection on which nothing has come since, not even its end.
    fn take_idle(&self, node: &Node) -> Option<Connection<H::Stream>> {
        let key = (node.addr.clone(), node.password.clone());
        let mut idle = self.idle.borrow_mut();
        let idle = idle.get_mut(&key)?;
        while let Some(mut connection) = idle.pop() {
            if connection.stream.read(&mut [0]).now_or_never().is_none() {
                return Some(connection);
            }
        }
        None
    }

    fn keep(&self, node: &Node, connection: Connection<H::Stream>) {
        let key = (node.addr.clone(), node.password.clone());
        let mut idle = self.idle.borrow_mut();
        let idle = idle.entry(key).or_default();
        if idle.len() < MOST_IDLE && connection.decoder.pending() == 0 {
            idle.push(connection);
        }
    }
}

impl<S: futures::io::AsyncRead + futures::io::AsyncWrite + Unpin> Connection<S> {
    async fn exchange(&mut self, words: &[&str]) -> Result<Value, NodeError> {
        let mut request = Vec::new();
        encode_command(words, &mut request);
        let broken = |error: std::io::Error| NodeError(error.to_string());
        self.stream.write_all(&request).await.map_err(broken)?;
        self.stream.flush().await.map_err(broken)?;
        let mut piece = vec![0; 4096];
        loop {
            let value = self.decoder.next_value();
            if let Some(value) = value.map_err(|error| NodeError(error.to_string()))? {
                return Ok(value);
            }
            if self.decoder.pending() > LONGEST_ANSWER {
                let most = LONGEST_ANSWER;
                return Err(NodeError(format!("redis: an answer longer than {most} bytes")));
            }
            match self.stream.read(&mut piece).await.map_err(broken)? {
                0 => return Err(NodeError("EOF".to_owned())),
                count => self.decoder.feed(&piece[..count]),
            }
        }
    }
}
