//! Clusters: made, taken over from nodes, shown, given other owners of slots, forgotten.

use super::super::document::{Cluster, Node};
use super::super::failure::Failure;
use super::super::nodes::NodeError;
use super::super::slots::{SlotRange, with, without};
use super::super::store::Key;
use super::super::topology;
use super::answer::{self, one};
use super::body::Body;
use super::route::{Answered, Asked};
use crate::reference::host::Host;

impl From<NodeError> for Failure {
    fn from(NodeError(message): NodeError) -> Failure {
        Failure::internal(message)
    }
}

pub async fn list<H: Host>(asked: &Asked<'_, H>, namespace: &str) -> Answered {
    Ok(answer::ok(one("clusters", asked.shared.store.clusters(namespace).await?)))
}

pub async fn get<H: Host>(asked: &Asked<'_, H>, key: Key) -> Answered {
    Ok(answer::ok(one("cluster", asked.shared.store.cluster(&key).await?)))
}

pub async fn remove<H: Host>(asked: &Asked<'_, H>, key: Key) -> Answered {
    asked.shared.store.remove_cluster(&key).await?;
    Ok(answer::no_content())
}

struct Creation {
    name: String,
    nodes: Vec<String>,
    password: String,
    replicas: i64,
}

fn creation(body: &[u8]) -> Result<Creation, String> {
    let body = Body::read("CreateClusterRequest", body)?;
    Ok(Creation {
        name: body.text("name")?,
        nodes: body.texts("nodes")?,
        password: body.text("password")?,
        replicas: body.number("replicas")?,
    })
}

pub async fn create<H: Host>(asked: &Asked<'_, H>, namespace: &str) -> Answered {
    let wanted = match creation(asked.body) {
        Ok(wanted) => wanted,
        Err(message) => return Ok(answer::unreadable(message)),
    };
    let shared = asked.shared;
    shared.store.check_new_nodes(&wanted.nodes).await?;
    let cluster = Cluster::new(&wanted.name, &wanted.nodes, wanted.replicas, |addr, role| {
        shared.new_node(addr, role, &wanted.password)
    })?;
    if wanted.name.is_empty() {
        return Err(Failure::bad_request("cluster name should NOT be empty"));
    }
    for node in cluster.nodes().filter(|_| !asked.skips_mode_check) {
        if shared.nodes.cluster_mode(node).await? != -1 {
            return Err(Failure::bad_request("node is already in cluster mode"));
        }
    }
    shared.store.create_cluster(&(namespace.to_owned(), wanted.name), &cluster).await?;
    Ok(answer::created(one("cluster", cluster)))
}

/// Nodes of a cluster or shard and their password.
pub fn nodes_and_password(body: &[u8]) -> Result<(Vec<String>, String), String> {
    let body = Body::read("", body)?;
    Ok((body.texts("nodes")?, body.text("password")?))
}

/// Takes over a cluster as its first node tells it.
pub async fn import<H: Host>(asked: &Asked<'_, H>, key: Key) -> Answered {
    let (nodes, password) = match nodes_and_password(asked.body) {
        Ok(wanted) => wanted,
        Err(message) => return Ok(answer::unreadable(message)),
    };
    let Some(addr) = nodes.into_iter().next() else {
        return Err(Failure::bad_request("nodes should NOT be empty"));
    };
    let first = Node { addr, password: password.clone(), ..Node::default() };
    let mut cluster = topology::parse(&asked.shared.nodes.cluster_nodes(&first).await?)?;
    cluster.set_password(&password);
    let addrs: Vec<String> = cluster.nodes().map(|node| node.addr.clone()).collect();
    asked.shared.store.check_new_nodes(&addrs).await?;
    cluster.name = key.1.clone();
    asked.shared.store.create_cluster(&key, &cluster).await?;
    Ok(answer::ok(one("cluster", cluster)))
}

struct Migration {
    target: i64,
    slot: SlotRange,
    slot_only: bool,
}

fn migration(body: &[u8]) -> Result<Migration, String> {
    let body = Body::read("MigrateSlotRequest", body)?;
    Ok(Migration {
        target: body.number("target")?,
        slot: body.text("slot")?.parse()?,
        slot_only: body.flag("slot_only")?,
    })
}

/// Lets a slot move. The source is told first, then it is written down.
pub async fn migrate<H: Host>(asked: &Asked<'_, H>, key: Key) -> Answered {
    let shared = asked.shared;
    let lock = shared.migrations.borrow_mut().entry(key.clone()).or_default().clone();
    let _held = lock.lock().await;
    let mut cluster = shared.store.cluster(&key).await?;
    let Migration { target, slot, slot_only } = match migration(asked.body) {
        Ok(wanted) => wanted,
        Err(message) => return Ok(answer::unreadable(message)),
    };
    let to = cluster.shard(target)?;
    let source = cluster.owner_of(slot)?;
    if source as i64 == target {
        return Err(Failure::internal("source and target shard is same"));
    }
    let from = &cluster.shards[source];
    if slot_only {
        let (given, left) = (with(&to.slot_ranges, slot), without(&from.slot_ranges, slot));
        cluster.shard_mut(target)?.slot_ranges = given;
        cluster.shards[source].slot_ranges = left;
        cluster.shards[source].clear_migration();
    } else {
        if from.is_migrating() || to.is_migrating() {
            return Err(Failure::internal("shard slot is migrating"));
        }
        let (Some(giver), Some(taker)) = (from.master(), to.master()) else {
            return Err(Failure::not_found());
        };
        shared.nodes.migrate(giver, slot, &taker.id).await?;
        cluster.shards[source].migrating_slot = Some(slot);
        cluster.shards[source].target_shard_index = target;
    }
    shared.store.update_cluster(&key, &mut cluster).await?;
    Ok(answer::ok(one("cluster", cluster)))
}
