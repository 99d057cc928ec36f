//! A kvrocks node: a server over a [`Host`] that speaks RESP2 as kvrocks 2.10.1 does in a cluster.
//!
//! It keeps to the real one's replies, phases and times as far as they can be seen from outside, with its
//! defects; what it does otherwise is its variant's.

mod clients;
mod cluster;
mod command;
mod config;
mod connection;
mod dispatch;
mod gate;
mod journal;
pub mod log;
mod migration;
mod node;
mod peer;
mod replication;
mod signal;
mod slot_range;
pub mod store;
mod topology;

use anyhow::Context;

use crate::reference::host::{Host, Listener};

pub use config::{Config, ConfigError, MigrateType};

use node::{Level, Node};

/// Serves until the process ends.
pub async fn serve<H: Host>(host: H, config: Config) -> anyhow::Result<()> {
    let port = config.port;
    let mut listener =
        host.listen(port).await.with_context(|| format!("cannot listen on port {port}"))?;
    let node = Node::open(host.clone(), config)?;
    node.say("Ready to accept connections");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => connection::take(&node, stream, peer),
            // Too many open files, or a peer that went before it was taken: the next one may do.
            Err(error) => {
                node.log(Level::Warning, &format!("Failed to accept a connection: {error}"));
                host.sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }
}
