//! The controller against a ZooKeeper and kvrocks nodes in memory: what was recorded of the real one, and
//! what went wrong there.

mod data_node;
mod desk;
mod election;
mod failover;
mod lab;
mod migration;
mod replay;
mod robustness;
mod tree;
mod variants;
mod whole;
mod zookeeper;
