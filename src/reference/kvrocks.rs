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
mod doom;
mod gate;
pub mod log;
mod migration;
mod node;
mod peer;
mod replication;
mod signal;
mod slot_range;
pub mod store;
#[cfg(test)]
mod tests;
mod topology;

use std::convert::Infallible;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use futures::future::{Either, select};

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
    let (accept, doom) = (pin!(accept(&node, &mut listener)), pin!(node.doom.sealed()));
    match select(doom, accept).await {
        Either::Left((why, _)) => Err(anyhow::anyhow!(why)),
        Either::Right((never, _)) => match never {},
    }
}

async fn accept<H: Host>(node: &Rc<Node<H>>, listener: &mut H::Listener) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => connection::take(node, stream, peer),
            // Too many open files, or a peer that went before it was taken: the next one may do.
            Err(error) => {
                node.tell(Level::Warning, &format!("Failed to accept a connection: {error}"));
                node.host.sleep(Duration::from_millis(10)).await;
            }
        }
    }
}
