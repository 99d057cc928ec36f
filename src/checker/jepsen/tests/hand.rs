//! Minimal good, bad and unknown histories of each model.

mod elle_cli;
mod general;
mod jepsen;
mod kafka;
mod rows;
