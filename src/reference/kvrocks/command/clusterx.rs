//! `CLUSTERX`: what a controller tells a node.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use super::{lower, number};
use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::{Reaction, error};
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::peer::Peer;
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::resp::Value;

const USAGE: &str =
    "ERR CLUSTERX command, CLUSTERX VERSION|MYID|SETNODEID|SETNODES|SETSLOT|MIGRATE";
const DISABLED: &str = "ERR Cluster mode is not enabled";
const WRONG_NUMBER: &str = "ERR wrong number of arguments";
const BAD_VERSION: &str = "ERR Invalid version";

pub fn clusterx<H: Host>(node: &Rc<Node<H>>, peer: &Peer, words: &[Bytes]) -> Reaction {
    if !node.config(|config| config.is_cluster) {
        return Reaction::error(DISABLED);
    }
    let subcommand = lower(&words[1]);
    if subcommand.starts_with("set") {
        node.hear(peer.proven);
    }
    match (subcommand.as_str(), &words[2..]) {
        ("version", []) => {
            Reaction::Reply(Value::bulk(node.cluster.borrow().version().to_string()))
        }
        ("myid", []) => Reaction::Reply(Value::bulk(node.cluster.borrow().id().to_owned())),
        ("setnodeid", [id]) => set_id(node, &String::from_utf8_lossy(id)),
        ("setnodes", [nodes, version, options @ ..]) => set_nodes(node, nodes, version, options),
        ("setslot", [slots, word, to, version]) if word.eq_ignore_ascii_case(b"node") => {
            set_slots(node, slots, &String::from_utf8_lossy(to), version)
        }
        ("migrate", [slots, to, options @ ..]) => {
            migrate(node, slots, &String::from_utf8_lossy(to), options)
        }
        ("setnodes" | "setslot" | "migrate", _) => Reaction::error(WRONG_NUMBER),
        _ => Reaction::error(USAGE),
    }
}

fn set_id<H: Host>(node: &Rc<Node<H>>, id: &str) -> Reaction {
    if node.cluster.borrow_mut().set_id(id).is_err() {
        return Reaction::error(USAGE);
    }
    node.take_topology(Vec::new())
}

fn set_nodes<H: Host>(
    node: &Rc<Node<H>>,
    nodes: &Bytes,
    version: &Bytes,
    options: &[Bytes],
) -> Reaction {
    let Some(version) = number::<i64>(version) else { return Reaction::error(BAD_VERSION) };
    let is_forced = match options {
        [] => false,
        [option] if option.eq_ignore_ascii_case(b"force") => true,
        _ => return Reaction::error("ERR Invalid setnodes options"),
    };
    let nodes = String::from_utf8_lossy(nodes);
    let taken = node.cluster.borrow_mut().set_nodes(&nodes, version, is_forced);
    match taken {
        Ok(None) => Reaction::Reply(Value::ok()),
        Ok(Some(left)) => node.take_topology(left),
        Err(wrong) => Reaction::error(format!("ERR {wrong}")),
    }
}

fn set_slots<H: Host>(node: &Rc<Node<H>>, slots: &Bytes, to: &str, version: &Bytes) -> Reaction {
    let slots = match SlotRange::parse(&String::from_utf8_lossy(slots)) {
        Ok(slots) => slots,
        Err(wrong) => return Reaction::error(format!("ERR {wrong}")),
    };
    let Some(version) = number::<i64>(version) else { return Reaction::error(BAD_VERSION) };
    let taken = node.cluster.borrow_mut().set_slots(slots, to, version);
    match taken {
        Ok(left) => node.take_topology(left),
        Err(wrong) => Reaction::error(format!("ERR {wrong}")),
    }
}

fn migrate<H: Host>(node: &Rc<Node<H>>, slots: &Bytes, to: &str, options: &[Bytes]) -> Reaction {
    let slots = match SlotRange::parse(&String::from_utf8_lossy(slots)) {
        Ok(slots) => slots,
        Err(wrong) => return Reaction::error(format!("ERR {wrong}")),
    };
    let wait = match wait(options) {
        Ok(wait) => wait,
        Err(wrong) => return Reaction::error(wrong),
    };
    let ticket = match node.start_migration(slots, to) {
        Ok(ticket) => ticket,
        Err(refusal) => return Reaction::error(format!("ERR {refusal}")),
    };
    match wait {
        None => Reaction::Reply(Value::ok()),
        Some(patience) => {
            let node = node.clone();
            Reaction::Later(Box::pin(async move {
                match node.migrated(ticket, patience).await {
                    Some(Ok(())) => Value::ok(),
                    Some(Err(why)) => error(format!("ERR {why}")),
                    None => Value::Null,
                }
            }))
        }
    }
}

/// Whether the connection waits for the migration's end, and for how long at most: 0 is for ever.
fn wait(options: &[Bytes]) -> Result<Option<Duration>, &'static str> {
    let (flag, timeout) = match options {
        [] => return Ok(None),
        [flag] => (lower(flag), None),
        [flag, timeout] => (lower(flag), Some(timeout)),
        _ => return Err(WRONG_NUMBER),
    };
    match (flag.as_str(), timeout) {
        ("async", None) => Ok(None),
        ("async", Some(_)) => Err("ERR Async migration does not support timeout"),
        ("sync", None) => Ok(Some(Duration::ZERO)),
        ("sync", Some(timeout)) => match number::<i32>(timeout) {
            None => Err("ERR timeout is not an integer or out of range"),
            Some(seconds) => {
                let seconds =
                    u64::try_from(seconds).map_err(|_| "ERR timeout should not be negative")?;
                Ok(Some(Duration::from_secs(seconds)))
            }
        },
        _ => Err("ERR Invalid sync flag"),
    }
}
