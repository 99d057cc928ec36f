//! The node as a whole, over a host in memory.

mod conformance;
mod fleet;
mod frames;
mod freeze;
mod lease;
mod migration;
mod random;
mod replication;
mod restart;
mod split_brain;
mod variants;
