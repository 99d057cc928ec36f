//! The docker world: real software in containers on one Docker engine, driven through its API.
//!
//! It touches only containers, networks and volumes that carry a run's label. It knows no workload,
//! no nemesis and no checker, and nothing of the simulation.

mod archive;
mod engine;
pub mod images;

pub use engine::{Engine, EngineError};

/// Told what is being done now, in words for people.
pub type Progress<'a> = &'a (dyn Fn(&str) + Send + Sync);
