//! The node as a whole, over a host in memory.

mod fleet;
mod migration;
mod replication;
mod split_brain;
