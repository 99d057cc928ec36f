//! A kvrocks node: a server over a [`Host`] that speaks RESP2 as kvrocks 2.10.1 does in a cluster.
//!
//! It keeps to the real one's replies, phases and times as far as they can be seen from outside, with its
//! defects; what it does otherwise is its variant's.

mod config;
mod connection;
pub mod log;
mod node;
pub mod store;

use std::rc::Rc;

use anyhow::Context;

use crate::reference::host::{Host, Listener};

pub use config::{Config, ConfigError, MigrateType};

use node::Node;

/// Serves until the process ends.
pub async fn serve<H: Host>(host: H, config: Config) -> anyhow::Result<()> {
    let port = config.port;
    let mut listener =
        host.listen(port).await.with_context(|| format!("cannot listen on port {port}"))?;
    let node = Rc::new(Node::new(host.clone(), config));
    host.log("Ready to accept connections");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => host.run(connection::talk(node.clone(), stream, peer)),
            // Too many open files, or a peer that went before it was taken: the next one may do.
            Err(error) => {
                host.log(&format!("Failed to accept a connection: {error}"));
                host.sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }
}
