//! How these tests talk to nodes and controllers, as a client of theirs would.

use std::time::Duration;

use futures::{AsyncReadExt, AsyncWriteExt};
use stormglass::cluster::{Action, Applied, Cluster, NodeState, Proof, Role};
use stormglass::docker::{ClusterSpec, DockerCluster};
use stormglass::http::{Method, Request, Response, send};
use stormglass::op::NodeName;
use stormglass::resp::{Decoder, Value, encode_command, slot_of};

use super::Scratch;

/// Longer than any election or failover here takes.
pub const PATIENCE: Duration = Duration::from_secs(40);

const POLL: Duration = Duration::from_millis(20);

pub fn kvrocks(number: usize) -> NodeName {
    Role::Kvrocks.node_name(number)
}

pub fn controller(number: usize) -> NodeName {
    Role::Controller.node_name(number)
}

/// One ZooKeeper server, two controllers, four nodes.
pub fn seven(scratch: &Scratch) -> ClusterSpec {
    scratch.spec_of(&[(Role::Zookeeper, 1), (Role::Controller, 2), (Role::Kvrocks, 4)])
}

pub async fn apply(cluster: &DockerCluster, action: &Action) -> Proof {
    match cluster.apply(action).await.expect("applied") {
        Applied::Installed { proof } => proof,
        other => panic!("{action:?}: {other:#?}"),
    }
}

/// A key in a slot of this shard, from 1, of the two that `form` makes.
pub fn own_key(shard: u16) -> String {
    let half = |slot: u16| slot / 8192 + 1;
    let keys = (0..).map(|number| format!("key{number}"));
    let mut own = keys.filter(|key| half(slot_of(key.as_bytes())) == shard);
    own.next().expect("every slot has keys")
}

/// One command over a connection of its own.
pub async fn resp(cluster: &DockerCluster, node: NodeName, words: &[&str]) -> Value {
    let asked = async {
        let mut stream = cluster.dial(&node, 6666).await?;
        let mut request = Vec::new();
        encode_command(words, &mut request);
        stream.write_all(&request).await?;
        let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
        loop {
            if let Some(value) = decoder.next_value().map_err(std::io::Error::other)? {
                return Ok(value);
            }
            match stream.read(&mut buffer).await? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                length => decoder.feed(&buffer[..length]),
            }
        }
    };
    let answer: std::io::Result<Value> =
        tokio::time::timeout(PATIENCE, asked).await.expect("an answer in time");
    answer.unwrap_or_else(|error| panic!("{node} {words:?}: {error}"))
}

pub fn must_be(found: Value, expected: &Value) {
    assert_eq!(&found, expected);
}

pub async fn post(cluster: &DockerCluster, node: NodeName, path: &str, body: &str) -> Response {
    let stream = cluster.dial(&node, 9379).await.expect("a connection");
    let target = format!("/api/v1/namespaces{path}");
    let request = Request::new(Method::POST, node.to_string(), target).with_json(body.to_owned());
    let answer = tokio::time::timeout(PATIENCE, send(stream, request)).await;
    answer.expect("an answer in time").unwrap_or_else(|error| panic!("{node} {path}: {error}"))
}

pub async fn leader(cluster: &DockerCluster) -> NodeName {
    *cluster.view().await.leaders(Role::Controller).next().expect("a leader")
}

/// Makes a cluster of all nodes, two in each shard, by the leader: another one's clusters it would not
/// hear of.
pub async fn form(cluster: &DockerCluster) {
    let leader = leader(cluster).await;
    let namespace = post(cluster, leader, "", r#"{"namespace":"stormglass"}"#).await;
    assert_eq!(namespace.status, 201, "{namespace:?}");
    let nodes = cluster.topology().with_role(Role::Kvrocks);
    let nodes: Vec<String> = nodes.map(|node| format!("\"{}:6666\"", node.address)).collect();
    let body = format!(r#"{{"name":"c0","nodes":[{}],"replicas":2}}"#, nodes.join(","));
    let made = post(cluster, leader, "/stormglass/clusters", &body).await;
    assert_eq!(made.status, 201, "{made:?}");
}

/// Waits until every service serves, one controller leads and every node has a topology.
pub async fn settled(cluster: &DockerCluster) {
    let settled = async {
        loop {
            let view = cluster.view().await;
            let mut nodes = view.nodes.values().filter(|node| node.role == Role::Kvrocks);
            let has_topology = nodes.all(|node| {
                node.state == NodeState::Serving && node.epoch.is_some_and(|epoch| epoch > 0)
            });
            if view.is_healthy() && has_topology {
                return;
            }
            tokio::time::sleep(POLL).await;
        }
    };
    if tokio::time::timeout(PATIENCE, settled).await.is_err() {
        panic!("not settled: {:#?}", cluster.view().await);
    }
}
