//! The real world: containers of a Docker engine, and the agent that works on its host.

pub mod agent;
pub mod self_image;
