//! Servers of our own that stand in for real ones: a kvrocks node and its controller.
//!
//! They are ordinary servers over a small seam, [`Host`]: the same code runs as a process in a container,
//! speaking the real protocols, and inside the simulation. They have the real ones' defects, and proposed
//! fixes and planted bugs beside them as named variants.

pub mod controller;
pub mod host;
pub mod kvrocks;
pub mod process;
#[cfg(test)]
pub mod testing;
mod variant;

pub use variant::{ControllerVariant, NodeVariant, UnknownVariant};
