//! A whole kvrocks cluster of reference servers: made over REST, used, its masters and leaders killed.

use std::io;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::resp::{Decoder, Value, encode_command};

const SECOND: Duration = Duration::from_secs(1);

fn spec(seed: u64) -> SimSpec {
    SimSpec {
        services: [(Role::Zookeeper, 1), (Role::Controller, 2), (Role::Kvrocks, 4)].into(),
        config: Default::default(),
        variants: Variants::default(),
        rng: Rng::from_seed(seed),
    }
}

async fn http(
    cluster: &SimCluster,
    node: &str,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<String> {
    let mut stream = cluster.dial(&node.into(), 9379).await?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await?;
    Ok(String::from_utf8_lossy(&reply).into_owned())
}

async fn ask(cluster: &SimCluster, node: &str, words: &str) -> io::Result<Value> {
    let mut stream = cluster.dial(&node.into(), 6666).await?;
    let mut request = Vec::new();
    encode_command(&words.split(' ').collect::<Vec<_>>(), &mut request);
    stream.write_all(&request).await?;
    let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
    loop {
        if let Some(value) = decoder.next_value().map_err(io::Error::other)? {
            return Ok(value);
        }
        match stream.read(&mut buffer).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => decoder.feed(&buffer[..length]),
        }
    }
}

async fn made(seed: u64) -> SimCluster {
    let cluster = SimCluster::up(spec(seed)).await.unwrap();
    let leader = leading(&cluster).await;
    let namespace = r#"{"namespace":"stormglass"}"#;
    let answer = http(&cluster, &leader, "POST", "/api/v1/namespaces", namespace).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let nodes: Vec<String> =
        (1..=4).map(|number| format!("\"10.0.0.{}:6666\"", 100 + number)).collect();
    let body = format!(r#"{{"name":"c0","nodes":[{}],"replicas":2}}"#, nodes.join(","));
    let path = "/api/v1/namespaces/stormglass/clusters";
    let answer = http(&cluster, &leader, "POST", path, &body).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let formed = async {
        loop {
            let view = cluster.view().await;
            if view.is_healthy() && view.leaders(Role::Kvrocks).count() == 2 {
                return;
            }
            seconds(1).await;
        }
    };
    let formed = tokio::time::timeout(30 * SECOND, formed).await;
    let view = cluster.view().await;
    assert!(formed.is_ok(), "{view:#?}");
    cluster
}

async fn leading(cluster: &SimCluster) -> String {
    cluster.view().await.leaders(Role::Controller).next().expect("a leader").to_string()
}

#[test]
fn a_cluster_is_made_and_says_who_owns_what() {
    crate::sim::run(async {
        let cluster = made(1).await;
        let view = cluster.view().await;
        let masters: Vec<&NodeName> = view.leaders(Role::Kvrocks).collect();
        assert_eq!(
            masters.iter().map(|name| &***name).collect::<Vec<_>>(),
            ["kvrocks1", "kvrocks3"]
        );
        let first = &view.nodes[&NodeName::from("kvrocks1")];
        assert_eq!((first.epoch, first.slots.as_deref()), (Some(1), Some("0-8191")), "{first:?}");
        assert_eq!(ask(&cluster, "kvrocks1", "SET b 1").await.unwrap(), Value::ok());
        assert_eq!(ask(&cluster, "kvrocks1", "GET b").await.unwrap(), Value::bulk("1"));
        let moved = ask(&cluster, "kvrocks1", "SET a 1").await.unwrap();
        assert_eq!(moved, Value::Error("MOVED 15495 10.0.0.103:6666".into()));
    })
    .unwrap();
}

#[test]
fn a_dead_master_is_replaced() {
    crate::sim::run(async {
        let cluster = made(2).await;
        ask(&cluster, "kvrocks1", "SET b 1").await.unwrap();
        seconds(1).await;
        installed(&cluster, &Action::Kill { node: "kvrocks1".into() }).await;
        let replaced = async {
            while ask(&cluster, "kvrocks2", "SET b 2").await.unwrap() != Value::ok() {
                tokio::time::sleep(SECOND / 10).await;
            }
        };
        let (replaced, took_ms) = timed(tokio::time::timeout(20 * SECOND, replaced)).await;
        let view = cluster.view().await;
        assert!(replaced.is_ok(), "{view:#?}");
        println!("the new master takes writes after {took_ms} ms");
        installed(&cluster, &Action::Start { node: "kvrocks1".into() }).await;
        let healthy = async {
            while !cluster.view().await.is_healthy() {
                seconds(1).await;
            }
        };
        let healthy = tokio::time::timeout(60 * SECOND, healthy).await;
        let view = cluster.view().await;
        assert!(healthy.is_ok(), "{view:#?}");
        assert!(view.nodes[&NodeName::from("kvrocks2")].leads, "{view:#?}");
    })
    .unwrap();
}

#[test]
fn a_dead_leader_is_replaced_once_its_session_has_expired() {
    crate::sim::run(async {
        let cluster = made(3).await;
        let (leader, before) = (leading(&cluster).await, cluster.view().await);
        let epoch = before.nodes[&NodeName::from(leader.as_str())].epoch.unwrap();
        installed(&cluster, &Action::Kill { node: leader.as_str().into() }).await;
        let replaced = async {
            loop {
                let view = cluster.view().await;
                let other = view.leaders(Role::Controller).next().copied();
                if let Some(other) = other.filter(|other| **other != *leader) {
                    return view.nodes[&other].epoch.unwrap();
                }
                tokio::time::sleep(SECOND / 10).await;
            }
        };
        let (replaced, took_ms) = timed(tokio::time::timeout(20 * SECOND, replaced)).await;
        assert!(replaced.unwrap() > epoch);
        assert!((4_000..9_000).contains(&took_ms), "{took_ms} ms");
    })
    .unwrap();
}

/// A minute of a cluster in use under faults; every event and every line that a server wrote.
async fn eventful(seed: u64) -> Vec<u8> {
    let cluster = made(seed).await;
    cluster.inspect(|world| world.record_trace());
    let mut rng = Rng::from_seed(seed).fork("test");
    for round in 0..8 {
        for number in 1..=4 {
            let words = format!("SET {} {round}", rng.below(100));
            let node = format!("kvrocks{number}");
            let asked = ask(&cluster, &node, &words);
            drop(tokio::time::timeout(SECOND / 2, asked).await);
        }
        let victims = ["kvrocks1", "kvrocks3", "controller1"];
        let node = NodeName::from(*rng.pick(&victims).unwrap());
        let action = match rng.below(3) {
            0 => Action::Kill { node },
            1 => Action::Pause { node },
            _ => cut(round, both_ways(&node, "zookeeper1")),
        };
        cluster.apply(&action).await.unwrap();
        tokio::time::sleep(Duration::from_millis(rng.between(500, 8_000))).await;
        cluster.apply(&action.undo().unwrap()).await.unwrap();
        seconds(1).await;
        drop(cluster.view().await);
    }
    cluster.inspect(|world| world.trace().to_vec())
}

#[test]
fn the_same_seed_gives_the_same_trace_to_the_byte() {
    let first = crate::sim::run(eventful(5)).unwrap();
    assert!(first.len() > 200_000, "{} bytes", first.len());
    assert!(first == crate::sim::run(eventful(5)).unwrap(), "it does not repeat");
    assert!(first != crate::sim::run(eventful(6)).unwrap(), "the seed decides nothing");
}
