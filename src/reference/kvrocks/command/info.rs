//! `INFO`, by section.

use std::fmt::Write;

use bytes::Bytes;

use super::hello::REDIS_VERSION;
use super::lower;
use crate::reference::host::Host;
use crate::reference::kvrocks::cluster::Standing;
use crate::reference::kvrocks::node::Node;

/// The version of kvrocks that this node behaves like.
const KVROCKS_VERSION: &str = "2.10.1";

const SECTIONS: &[&str] =
    &["server", "clients", "persistence", "stats", "replication", "cluster", "keyspace"];

/// All sections, or one.
pub fn info<H: Host>(node: &Node<H>, only: Option<&Bytes>) -> String {
    let only = only.map(lower).filter(|only| only != "all");
    let wanted = SECTIONS.iter().filter(|name| only.as_ref().is_none_or(|only| only == *name));
    wanted.map(|name| section(node, name)).collect::<Vec<String>>().join("\r\n")
}

struct Lines(String);

impl Lines {
    fn of(section: &str) -> Lines {
        Lines(format!("# {section}\r\n"))
    }

    fn put(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{key}:{value}\r\n");
    }
}

fn section<H: Host>(node: &Node<H>, name: &str) -> String {
    match name {
        "server" => server(node),
        "clients" => {
            let mut lines = Lines::of("Clients");
            lines.put("maxclients", node.config(|config| config.max_clients));
            lines.put("connected_clients", node.clients.count());
            lines.0
        }
        "persistence" => {
            let mut lines = Lines::of("Persistence");
            lines.put("loading", 0);
            lines.0
        }
        "stats" => {
            let mut lines = Lines::of("Stats");
            lines.put("sync_full", node.replication.full_syncs());
            lines.put("sync_partial_ok", node.replication.partial_syncs());
            lines.0
        }
        "replication" => replication(node),
        "cluster" => {
            let mut lines = Lines::of("Cluster");
            lines.put("cluster_enabled", u8::from(node.config(|config| config.is_cluster)));
            lines.0
        }
        _ => {
            let mut lines = Lines::of("Keyspace");
            lines.put("sequence", node.log.borrow().sequence());
            lines.0
        }
    }
}

fn server<H: Host>(node: &Node<H>) -> String {
    let mut lines = Lines::of("Server");
    let (is_cluster, port) = node.config(|config| (config.is_cluster, config.port));
    let uptime = node.host.monotonic().saturating_sub(node.began).as_secs();
    lines.put("version", KVROCKS_VERSION);
    lines.put("kvrocks_version", KVROCKS_VERSION);
    lines.put("redis_version", REDIS_VERSION);
    lines.put("redis_mode", if is_cluster { "cluster" } else { "standalone" });
    lines.put("variant", node.variant());
    lines.put("tcp_port", port);
    lines.put("uptime_in_seconds", uptime);
    lines.0
}

fn replication<H: Host>(node: &Node<H>) -> String {
    let mut lines = Lines::of("Replication");
    let last = node.log.borrow().sequence();
    let is_slave = match node.standing() {
        Standing::Slave { of } => {
            let (host, port) = of.map_or(Default::default(), |master| (master.host, master.port));
            let link = node.replication.link();
            lines.put("role", "slave");
            lines.put("master_host", host);
            lines.put("master_port", port);
            lines.put("master_link_status", if link.is_up { "up" } else { "down" });
            lines.put("master_sync_unrecoverable_error", "no");
            lines.put("master_sync_in_progress", u8::from(link.is_syncing));
            let silence = node.host.monotonic().saturating_sub(link.heard);
            lines.put("master_last_io_seconds_ago", silence.as_secs());
            lines.put("slave_repl_offset", last);
            lines.put("slave_priority", 100);
            true
        }
        Standing::Master | Standing::Outside => {
            lines.put("role", "master");
            false
        }
    };
    let replicas = node.replication.replicas();
    lines.put("connected_slaves", replicas.len());
    for (index, replica) in replicas.iter().enumerate().filter(|_| !is_slave) {
        let (ip, port, offset) = (replica.address.ip(), replica.port, replica.acknowledged);
        let lag = last.saturating_sub(offset);
        lines.put(
            &format!("slave{index}"),
            format_args!("ip={ip},port={port},offset={offset},lag={lag}"),
        );
    }
    lines.put("master_repl_offset", last);
    lines.0
}
