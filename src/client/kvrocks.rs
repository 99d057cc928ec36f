//! Clients of a kvrocks cluster: RESP to its nodes, REST to its controllers.

mod client;
mod command;
mod connection;
mod exchange;
mod fate;
mod kind;
mod slot_map;
#[cfg(test)]
mod tests;

pub use client::{Common, Identity, KvrocksClient};
pub use kind::{CasMode, ClientKind};
pub use slot_map::{Addresses, SlotMap, seeds};
