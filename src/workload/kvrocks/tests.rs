//! Workloads as a whole, and what the tests of their parts share.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::*;
use crate::cluster::Node;
use crate::generator::{Asked, Reply, Threads, What, limit, simulate};
use crate::op::{MILLISECOND, Outcome, Value};

/// The workload of these options on four nodes.
pub fn workload(yaml: &str) -> Kvrocks {
    let options = serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
    Kvrocks::new(options, 4).unwrap_or_else(|error| panic!("{yaml}: {error}"))
}

/// A sound store of registers: each operation acts at once and completes two milliseconds later.
pub fn sound() -> impl FnMut(&Asked) -> Option<Reply> {
    let mut store = BTreeMap::new();
    move |asked| {
        let What::Call(call) = asked.what else { return None };
        let held = store.get(&call.key()).copied();
        let outcome = match call {
            Call::Write { value, .. } => {
                store.insert(call.key(), *value);
                Outcome::Ok(call.value())
            }
            Call::Cas { from, to, .. } if held == Some(*from) => {
                store.insert(call.key(), *to);
                Outcome::Ok(call.value())
            }
            Call::Cas { .. } => Outcome::Fail("another value".into()),
            _ => Outcome::Ok(held.map_or(Value::Nil, Value::Int)),
        };
        Some(Reply { after: 2 * MILLISECOND, outcome })
    }
}

/// So many of the workload's calls.
pub fn calls(workload: &Kvrocks, count: u64) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut source = limit(count, workload.source(Rng::from_seed(5)));
    simulate(&mut source, Threads::new(24, 4), |asked| {
        if let What::Call(call) = asked.what {
            calls.push(call.clone());
        }
        Some(Reply { after: MILLISECOND, outcome: Outcome::Ok(Value::Nil) })
    });
    calls
}

fn topology() -> Topology {
    let of = |role: Role, count| {
        (1..=count).map(move |number| Node {
            name: role.node_name(number),
            role,
            address: Ipv4Addr::UNSPECIFIED,
        })
    };
    let nodes = of(Role::Zookeeper, 1).chain(of(Role::Controller, 2)).chain(of(Role::Kvrocks, 4));
    Topology { nodes: nodes.collect() }
}

#[test]
fn data_clients_are_at_the_data_nodes_and_operators_at_the_controllers() {
    let workload = workload("{operators: {each: 2}}");
    let crew = workload.crew(&topology(), "6n".parse().expect("a concurrency"));
    assert_eq!(crew.places.len(), 4);
    assert_eq!(crew.data, 24);
    let operators: Vec<&str> = crew.operators.iter().map(|name| name.as_str()).collect();
    assert_eq!(operators, ["controller1", "controller1", "controller2", "controller2"]);
    // One in six is pinned, the same at each node.
    assert_eq!(crew.quiet, BTreeSet::from([12, 13, 14, 15]));
    let shards = workload.shards(&topology());
    assert_eq!(shards[1], ["kvrocks3".into(), "kvrocks4".into()]);
}

#[test]
fn keys_that_migrate_lie_in_slots_of_the_first_shard() {
    let migrated = workload("{slots: {count: 4}}");
    assert_eq!(migrated.space().slots().collect::<Vec<_>>(), [1024, 3072, 5120, 7168]);
    let spread = workload("{}");
    assert!(spread.space().slots().any(|slot| slot > 8192));
    let one_shard = Kvrocks::new(KvrocksOptions { replicas: 4, ..KvrocksOptions::default() }, 4);
    assert!(one_shard.is_ok());
    for nodes in [0, 3] {
        let error = Kvrocks::new(KvrocksOptions::default(), nodes).err().expect("no shards");
        assert_eq!(error.field, "replicas");
    }
}

#[test]
fn each_kind_of_data_performs_its_operations() {
    for (yaml, kinds) in [
        ("{}", vec!["read", "write", "cas"]),
        ("{mix: {cas: 0}}", vec!["read", "write"]),
        ("{data: append}", vec!["txn"]),
        ("{data: set}", vec!["read", "add"]),
        ("{data: counter}", vec!["read", "incr"]),
        ("{data: lock}", vec!["acquire", "store", "release"]),
    ] {
        let workload = workload(yaml);
        assert_eq!(workload.kinds(), kinds, "{yaml}");
        let called: BTreeSet<&str> = calls(&workload, 500).iter().map(Call::f).collect();
        let known = |f: &&&str| kinds.contains(*f) || f.starts_with("stale");
        assert!(called.iter().all(|f| known(&f)), "{yaml}: {called:?}");
    }
}

#[test]
fn the_seed_decides() {
    let workload = || workload("{data: append}");
    assert_eq!(calls(&workload(), 300), calls(&workload(), 300));
}
