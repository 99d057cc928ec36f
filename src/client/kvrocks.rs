//! Clients of a kvrocks cluster: RESP to its nodes, REST to its controllers.

mod bootstrap;
mod client;
mod command;
mod connection;
mod exchange;
mod fate;
mod kind;
mod operator;
mod rest;
mod slot_map;
#[cfg(test)]
mod tests;

pub use bootstrap::{BootstrapError, Wanted, bootstrap};
pub use client::{Common, Identity, KvrocksClient};
pub use kind::{CasMode, ClientKind};
pub use operator::Operator;
pub use slot_map::{Addresses, SlotMap, seeds};
