//! Stormglass: a fault-injection test-cluster orchestrator with two worlds, containers and simulation.

pub mod agent;
pub mod checker;
pub mod client;
pub mod cluster;
pub mod docker;
pub mod generator;
pub mod history;
pub mod nemesis;
pub mod op;
pub mod report;
pub mod rng;
