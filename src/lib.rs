//! Stormglass: a fault-injection test-cluster orchestrator with two worlds, containers and simulation.

mod text_form;

pub mod agent;
pub mod catalog;
pub mod checker;
pub mod cli;
pub mod client;
pub mod cluster;
pub mod conclude;
pub mod docker;
pub mod duration;
pub mod generator;
pub mod history;
pub mod http;
pub mod key_space;
pub mod name;
pub mod nemesis;
pub mod node_logs;
pub mod op;
pub mod play;
pub mod progress;
pub mod reference;
pub mod report;
pub mod resp;
pub mod results_folder;
pub mod rng;
pub mod run;
pub mod run_log;
mod say;
pub mod scenario;
pub mod sim;
pub mod store;
pub mod watch;
pub mod wire;
pub mod workload;
