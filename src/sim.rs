//! The simulated world: deterministic, seeded, many times faster than the real one.
//!
//! Everything lives in one thread, in a tokio runtime whose clock stands still while there is work and
//! jumps to the next timer when there is none. The same seed gives the same events to the byte.
//!
//! ZooKeeper's servers are models, moved by events. Our own servers are the very programs that run in
//! containers, over a simulated host: their tasks run between two events, at exact virtual times.

mod agenda;
mod clock;
mod cluster;
mod disk;
mod driver;
mod event;
mod executor;
mod host;
mod interposer;
mod network;
mod parcel;
mod process;
mod program;
mod sightings;
mod sockets;
mod stream;
#[cfg(test)]
mod tests;
mod world;
mod zookeeper;

use std::future::Future;

pub use cluster::{SimCluster, SimSpec, Variants};
pub use host::SimHost;
pub use stream::{SimListener, SimStream};
pub use zookeeper::{ModelSession, ModelWatched, UnknownVariant, Variant};

/// The runtime that a simulation needs: one thread, a paused clock, no sockets.
pub fn runtime() -> std::io::Result<tokio::runtime::LocalRuntime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build_local(tokio::runtime::LocalOptions::default())
}

/// Runs a simulation to its end.
pub fn run<T>(simulation: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(runtime()?.block_on(simulation))
}
