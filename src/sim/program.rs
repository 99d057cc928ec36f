//! The programs that nodes run which are no ZooKeeper servers, with the configuration that they are given.
//!
//! This is the one place that knows which they are.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use anyhow::{Context, bail};

use super::cluster::Variants;
use super::host::SimHost;
use crate::cluster::{Node, Role, Topology};
use crate::reference::kvrocks;

/// A program running; it ends when its process does.
pub type Running = Pin<Box<dyn Future<Output = anyhow::Result<()>>>>;

/// What a node runs, begun anew with each process.
pub type Program = Rc<dyn Fn(SimHost) -> Running>;

/// Settings of one role, by key.
pub type Settings = BTreeMap<String, String>;

/// What kvrocks nodes are told before a scenario's own settings.
const KVROCKS: [(&str, &str); 8] = [
    ("bind", "0.0.0.0"),
    ("port", "6666"),
    ("dir", "/data"),
    ("log-dir", "stdout"),
    ("cluster-enabled", "yes"),
    ("persist-cluster-nodes-enabled", "yes"),
    ("slave-read-only", "yes"),
    ("slave-serve-stale-data", "yes"),
];

/// What this node runs; `None` for a ZooKeeper server, which is a model of its own.
pub fn program(
    node: &Node,
    topology: &Topology,
    settings: Option<&Settings>,
    variants: &Variants,
) -> anyhow::Result<Option<Program>> {
    let pairs = settings.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str()));
    match node.role {
        Role::Zookeeper => match settings.and_then(|settings| settings.keys().next()) {
            Some(key) => bail!("simulated ZooKeeper servers have no settings; found `{key}`"),
            None => Ok(None),
        },
        Role::Kvrocks => {
            let pairs = KVROCKS.into_iter().chain(pairs);
            let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
            let config = kvrocks::Config::from_pairs(variants.kvrocks, pairs)
                .with_context(|| format!("settings of {}", node.name))?;
            Ok(Some(Rc::new(move |host| Box::pin(kvrocks::serve(host, config.clone())))))
        }
        Role::Controller => {
            let yaml = controller_yaml(node, topology, pairs);
            bail!("no simulated controller so far; it would be told\n{yaml}")
        }
    }
}

/// A controller's `config.yaml`. Settings are dotted paths into it: `controller.failover.max_ping_count`.
fn controller_yaml<'a>(
    node: &Node,
    topology: &Topology,
    settings: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let servers = topology.with_role(Role::Zookeeper);
    let servers: Vec<String> = servers.map(|node| format!("{}:2181", node.address)).collect();
    let mut root = serde_json::json!({
        "addr": format!("{}:{}", node.address, node.role.client_port().0),
        "storage_type": "zookeeper",
        "zookeeper": { "addrs": servers },
        "controller": { "failover": { "ping_interval_seconds": 1, "max_ping_count": 3 } },
    });
    for (key, value) in settings {
        // What looks like a number or a truth value is one, as in YAML.
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        let pointer = key.split('.').fold(&mut root, |at, name| {
            if !at.is_object() {
                *at = serde_json::json!({});
            }
            &mut at[name]
        });
        *pointer = value;
    }
    // JSON is YAML.
    root.to_string()
}
