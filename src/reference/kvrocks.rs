//! A kvrocks node: a server over a [`Host`] that speaks RESP2 as kvrocks 2.10.1 does in a cluster.
//!
//! It keeps to the real one's replies, phases and times as far as they can be seen from outside, with its
//! defects; what it does otherwise is its variant's.
//!
//! # Three schedules, and who is sound under them
//!
//! A migration ends in two steps that no transaction holds together: the destination is told SUCCESS, and
//! a controller, who reads it from the source, gives the slot away with the next topology. In between,
//! 1. the answer to SUCCESS is lost, and the source takes writes again;
//! 2. the source dies, and its slave, which knows nothing of the migration, is promoted;
//! 3. a topology comes for another reason, and still names the source.
//!
//! `as-shipped`: none. The destination serves from SUCCESS on, by a mark (`imported`) that only it knows and
//! that any topology erases. So in 1 both take writes; in all three what the destination has acknowledged
//! cannot be reached once a topology names the source again.
//!
//! `asking-only`: sound under 1, as only a source that had its answer says ASK, and nobody else says ASKING.
//! Not under 2 and 3: those that were sent to the destination wrote there.
//!
//! `no-imported-slots`: sound under 1 and 2, as the destination never serves what is not its own, and the
//! source, as shipped, serves no more once it has its answer. The price is paid by each migration: from SUCCESS
//! to the topology the two send clients to each other, and nobody serves the slot. Under 3 the source forgets
//! that the slot has gone and answers reads again, while the destination may have heard the next topology.
//!
//! `freeze-until-topology`: sound under all three, if the controller writes a topology only over the one
//! that it read (within one process the real one does). The destination serves nothing before a topology
//! names it, so nothing that it acknowledged can be lost; the source must not acknowledge what a topology
//! that is yet to come would leave behind. What makes this so:
//! * Once the source has *told* success, a controller may give the slot away at any time, however many
//!   topologies for other reasons come in between (3). So the slot stays frozen until a topology names
//!   another owner, and until then the source answers no reads either: the destination may have heard of
//!   its topology earlier, and be writing. The mark is on the disk before success is told, and a source
//!   that starts again still tells it: else it would take writes that the topology leaves behind.
//! * Without its answer the source tells `fail` and never success (1). No controller gives the slot
//!   away then, reads are safe, and the next topology ends the freeze. This mark need not outlive the process.
//! * A slave needs no mark (2). It becomes master by a topology that is newer than the migration; one
//!   that gives the slot away would have to follow from a success that nobody tells any more, read before
//!   that promotion and written after it, which comparing versions refuses. What an asynchronous slave
//!   lacks is lost by the failover, not by the migration.
//! * An import belongs to the connection that began it, from its empty beginning to its SUCCESS. Requests
//!   of an earlier attempt that come late change nothing.
//!
//! A slot may stay frozen for good if a controller never acts on the success that it was told. A failover of
//! the *destination's* shard right after SUCCESS may lose what its slave had not yet: no variant waits for it.
//!
//! `lease` is about isolation, not about migrations, where it is as shipped. A master takes writes only for
//! `lease-ms` after it sent something that a controller surely received, which is the case when the
//! controller asks again on the same connection; so a master that hears and is not heard stops, too. It is
//! sound if that is less than the time in which a controller fails over: `max_ping_count` probes,
//! 3 s by default in our configuration. A controller that is ordered to fail over at once does not wait for it.
//! What was acknowledged and not yet with the slave is lost all the same.
//!
//! The planted bugs: `ack-before-log` loses half a second of acknowledged writes when the process is killed;
//! `replica-gap` misses what was written while it was disconnected, and says nothing; `lower-version` takes
//! any topology, so that one that was delayed undoes a later one.

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
