//! Stormglass: a fault-injection test-cluster orchestrator with two worlds, containers and simulation.

pub mod checker;
pub mod cluster;
pub mod generator;
pub mod history;
pub mod nemesis;
pub mod op;
pub mod report;
pub mod rng;
pub mod store;
pub mod workload;
