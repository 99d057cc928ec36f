//! Nodes that are asked anything, in any order, go on: no panic, no end, and an answer to whoever is next.

use super::fleet::{Fleet, id, topology, usual, with_fleet};
use crate::reference::NodeVariant;
use crate::reference::kvrocks::command::own_names;
use crate::reference::kvrocks::store::commands;
use crate::rng::Rng;

const WORDS: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "2",
    "k",
    "{t21117}a",
    "{t196}b",
    "5000",
    "0-100",
    "99999",
    "100-1",
    "EX",
    "NX",
    "GET",
    "SET",
    "*",
    "-",
    "+",
    "1-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1e400",
    "nan",
    "SETNODES",
    "SETNODEID",
    "SETSLOT",
    "MIGRATE",
    "IMPORT",
    "NODES",
    "SLOTS",
    "INFO",
    "RESET",
    "HARD",
    "KEYSLOT",
    "REPLICAS",
    "NODE",
    "SYNC",
    "ASYNC",
    "force",
    "KILL",
    "LIST",
    "SETNAME",
    "migrate-speed",
    "migrate-type",
    "raw-key-value",
    "redis-command",
    "ack",
    "listening-port",
    "?",
    "\u{0}\u{1}\u{2}",
    "\r\n",
    "return KEYS[1]",
];

/// Requests that mean something, so that nodes come into all sorts of states.
fn sensible(rng: &mut Rng) -> Vec<String> {
    let slot = ["5000", "5001", "0-3", "9000"][rng.below(4) as usize];
    let node = id(1 + rng.below(3) as usize);
    let key = ["k2", "k0", "{t21117}a", "{t196}b"][rng.below(4) as usize];
    let version = rng.below(12).to_string();
    let line = match rng.below(12) {
        0 => format!("CLUSTERX MIGRATE {slot} {node}"),
        1 => format!("CLUSTERX MIGRATE {slot} {node} SYNC 1"),
        2 => format!("CLUSTER IMPORT {slot} {}", rng.below(3)),
        3 => format!("CLUSTERX SETSLOT {slot} NODE {node} {version}"),
        4 => "CONFIG SET migrate-type raw-key-value".to_owned(),
        5 => "READONLY".to_owned(),
        6 => "ASKING".to_owned(),
        7 => format!("RPUSH {key} {version}"),
        8 => format!("WATCH {key}"),
        9 => {
            let topologies = [
                usual(),
                topology(&[(3, "0-8191"), (2, "8192-16383")], &[(1, 3)]),
                topology(&[(1, "0-4999"), (2, "5000-16383")], &[(3, 1)]),
                topology(&[(1, "0-16383")], &[(2, 1), (3, 2)]),
            ];
            let nodes = topologies[rng.below(4) as usize].clone();
            return vec!["CLUSTERX".into(), "SETNODES".into(), nodes, version];
        }
        _ => format!("SET {key} {version}"),
    };
    line.split(' ').map(str::to_owned).collect()
}

fn any(rng: &mut Rng, names: &[&str]) -> Vec<String> {
    let pick = |words: &[&str], rng: &mut Rng| words[rng.below(words.len() as u64) as usize].into();
    let mut request: Vec<String> = vec![pick(names, rng)];
    for _ in 0..rng.below(6) {
        request.push(pick(WORDS, rng));
    }
    request
}

async fn is_well(fleet: &Fleet, told: &str) {
    for node in 1..=3 {
        for word in ["panicked", "ended: "] {
            assert_eq!(fleet.log(node, word), Vec::<String>::new(), "{told}, node {node}");
        }
        fleet.until(node, "PING", "PONG").await;
    }
}

#[test]
fn random_requests_stop_no_node() {
    let mut names: Vec<&str> = commands().iter().map(|command| command.name).collect();
    names.extend(own_names());
    // It does what it is told: the node stands still.
    names.retain(|name| *name != "debug");
    for (seed, variant) in
        (0..).zip(NodeVariant::ALL.iter().cycle()).take(2 * NodeVariant::ALL.len())
    {
        with_fleet(*variant, &[], async |fleet| {
            let mut rng = Rng::from_seed(seed);
            let mut peers = Vec::new();
            for _ in 0..700 {
                let at = rng.below(9) as usize;
                if peers.len() <= at || rng.chance(0.05) {
                    let peer = fleet.connect(1 + rng.below(3) as usize).await;
                    peers.truncate(8);
                    peers.push(peer);
                }
                let last = peers.len() - 1;
                let request = match rng.chance(0.6) {
                    true => sensible(&mut rng),
                    false => any(&mut rng, &names),
                };
                let words: Vec<&str> = request.iter().map(String::as_str).collect();
                peers[at.min(last)].say(&words).await;
                fleet.pass(rng.below(40)).await;
            }
            is_well(&fleet, &format!("seed {seed}, {variant}")).await;
        });
    }
}

#[test]
fn random_bytes_stop_no_node() {
    let alphabet: &[&[u8]] = &[
        b"*",
        b"$",
        b"3",
        b"\r\n",
        b"-1",
        b"99999999999",
        b"PING",
        b"MULTI",
        b"\xff",
        b" ",
        b"*1\r\n$4\r\nPING\r\n",
    ];
    with_fleet(NodeVariant::AsShipped, &[], async |fleet| {
        let mut rng = Rng::from_seed(5);
        for _ in 0..500 {
            let mut bytes = Vec::new();
            for _ in 0..rng.below(20) {
                bytes.extend_from_slice(alphabet[rng.below(alphabet.len() as u64) as usize]);
            }
            fleet.connect(1).await.throw(&bytes).await;
        }
        is_well(&fleet, "after garbage").await;
    });
}
