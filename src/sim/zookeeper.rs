//! A model of a ZooKeeper ensemble: servers as pure state machines that speak ZAB over the simulated
//! network, and the client's half of a session.
//!
//! Semantics follow ZooKeeper 3.8/3.9. What an operator would set is set as in our containers:
//! `tickTime=500`, `initLimit=10`, `syncLimit=4`, `maxSessionTimeout=60000`, so a server that lost its leader goes on answering
//! reads for two seconds. Left out, because nothing here can tell: ACLs, quotas, observers, read-only
//! servers, local sessions, dynamic reconfiguration and containers.
//!
//! One deliberate difference: a leader to which a server with a higher accepted epoch connects steps
//! down, as the ZAB paper has it; ZooKeeper itself turns that server away until the next election.
//!
//! A server knows no clock and no socket: all it does goes through [`Host`].

mod apply;
mod client;
mod desk;
mod discovery;
mod election;
mod follower;
mod host;
mod leader;
mod message;
mod model_session;
mod prepare;
mod reads;
mod server;
mod sessions;
mod storage;
mod synchronize;
#[cfg(test)]
mod tests;
mod tree;
mod txn;
mod variant;
mod watches;
mod weight;
pub mod wording;

pub use client::{Client, ClientTimer};
pub use host::Host;
pub use message::Message;
pub use model_session::{ModelSession, ModelWatched};
pub use server::{Server, Timer};
pub use tree::Tree;
#[cfg(test)]
pub use txn::Txn;
pub use variant::{UnknownVariant, Variant};

use crate::op::{MILLISECOND, Nanos, SECOND};

pub const TICK: Nanos = 500 * MILLISECOND;
/// Ticks that discovery and synchronisation may take.
pub const INIT_LIMIT: u64 = 10;
/// Ticks of silence after which a peer is given up.
pub const SYNC_LIMIT: u64 = 4;
/// Bounds within which a server grants session timeouts.
pub const SESSION_TIMEOUT_MIN: Nanos = 2 * TICK;
pub const SESSION_TIMEOUT_MAX: Nanos = 60 * SECOND;

/// Ports, as in `zoo.cfg`.
pub const CLIENT_PORT: u16 = 2181;
const QUORUM_PORT: u16 = 2888;
const ELECTION_PORT: u16 = 3888;
/// All on which a server listens.
pub const PORTS: [u16; 3] = [CLIENT_PORT, QUORUM_PORT, ELECTION_PORT];

/// A server's `myid`: its position in the topology, from 1.
pub type ServerId = u8;
pub type SessionId = i64;
/// `epoch << 32 | counter`.
pub type Zxid = i64;

fn zxid(epoch: u32, counter: u32) -> Zxid {
    ((epoch as i64) << 32) | counter as i64
}
