//! `CLUSTER`: what Redis clients ask of a cluster, and what a migration's source tells its destination.

use std::rc::Rc;

use bytes::Bytes;

use super::{lower, number};
use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::error;
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::peer::Peer;
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::reference::kvrocks::topology::{BadTopology, Topology};
use crate::resp::{Value, slot_of};

const USAGE: &str = "ERR CLUSTER command, CLUSTER INFO|NODES|SLOTS|KEYSLOT|RESET|REPLICAS";
const DOWN: &str = "CLUSTERDOWN The cluster is not initialized";
const DISABLED: &str = "ERR Cluster mode is not enabled";
const WRONG_NUMBER: &str = "ERR wrong number of arguments";

pub fn cluster<H: Host>(node: &Rc<Node<H>>, peer: &mut Peer, words: &[Bytes]) -> Value {
    let subcommand = lower(&words[1]);
    if let ("keyslot", [key]) = (subcommand.as_str(), &words[2..]) {
        return Value::Int(slot_of(key).into());
    }
    if !node.config(|config| config.is_cluster) {
        return error(DISABLED);
    }
    match (subcommand.as_str(), &words[2..]) {
        ("info", []) => {
            node.hear(peer.proven);
            node.cluster.borrow().told_info().map_or_else(|| error(DOWN), Value::bulk)
        }
        ("nodes", []) => {
            let nodes = node.cluster.borrow().told_nodes(node.host.wall_ms());
            nodes.map_or_else(|| error(DOWN), Value::bulk)
        }
        ("slots", []) => {
            let cluster = node.cluster.borrow();
            cluster.topology().map_or_else(|| error(DOWN), Topology::told_slots)
        }
        ("replicas", [id]) => replicas(node, &String::from_utf8_lossy(id)),
        ("reset", [] | [_]) => reset(node),
        ("import", [slots, state]) => import(node, peer, slots, state),
        ("keyslot" | "replicas" | "import", _) => error(WRONG_NUMBER),
        _ => error(USAGE),
    }
}

fn replicas<H: Host>(node: &Node<H>, of: &str) -> Value {
    let cluster = node.cluster.borrow();
    let Some(topology) = cluster.topology() else { return error(DOWN) };
    match topology.member(of) {
        None => error("ERR Invalid cluster node id"),
        Some(member) if !member.is_master() => error(format!("ERR {}", BadTopology::NotAMaster)),
        Some(_) => Value::bulk(topology.told_replicas(of, cluster.id(), node.host.wall_ms())),
    }
}

fn reset<H: Host>(node: &Rc<Node<H>>) -> Value {
    let why_not = {
        let cluster = node.cluster.borrow();
        match () {
            () if cluster.is_migrating() => Some("while migrating slot"),
            () if cluster.is_importing() => Some("while importing slot"),
            () if !node.store.borrow().is_empty() => Some("while database is not empty"),
            () => None,
        }
    };
    if let Some(why_not) = why_not {
        return error(format!("ERR Can't reset cluster {why_not}"));
    }
    node.cluster.borrow_mut().reset();
    let kept = node.keep_topology().and_then(|()| node.keep_frozen());
    told(kept.and_then(|()| node.follow_topology().map(drop)))
}

fn import<H: Host>(node: &Node<H>, peer: &mut Peer, slots: &Bytes, state: &Bytes) -> Value {
    let slots = match SlotRange::parse(&String::from_utf8_lossy(slots)) {
        Ok(slots) => slots,
        Err(wrong) => return error(format!("ERR {wrong}")),
    };
    let done = match number::<u8>(state) {
        Some(0) => {
            let started = node.start_import(slots, peer.id);
            if started.is_ok() {
                peer.is_importing = true;
                node.clients.with(peer.id, |client| client.has_imported = true);
            }
            started
        }
        Some(1) => node.finish_import(slots, peer.id),
        Some(2) => node.fail_import(slots),
        _ => return error("ERR Invalid import state"),
    };
    done.map_or_else(error, |()| Value::ok())
}

/// `OK`, or what the disk said.
fn told(done: anyhow::Result<()>) -> Value {
    done.map_or_else(|wrong| error(format!("ERR {wrong:#}")), |()| Value::ok())
}
