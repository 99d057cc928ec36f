//! The docker world: real software in containers on one Docker engine, driven through its API.
//!
//! It touches only containers, networks and volumes that carry a run's label. It knows no workload,
//! no nemesis and no checker, and nothing of the simulation.

mod ability;
pub mod agent;
mod archive;
mod cluster;
mod controller;
pub mod doctor;
mod engine;
mod heal;
pub mod images;
mod kvrocks;
mod logs;
mod network;
mod node;
mod outfit;
mod owner;
mod question;
pub mod self_image;
mod subnet;
mod sweep;
mod zookeeper;

pub use ability::abilities;
pub use cluster::{ClusterSpec, DockerCluster, Limits, UpError};
pub use engine::{Engine, EngineError};
pub use heal::{Health, Patient, Treatment, heal, patients};
pub use network::NetworkError;
pub use owner::{Life, NODE, Owner, ROLE, RUN, RunId};
pub use subnet::Subnet;
pub use sweep::{FoundRun, Swept, Which, remove, runs, sweep};

/// Told what is being done now, in words for people.
pub type Progress<'a> = &'a (dyn Fn(&str) + Send + Sync);
