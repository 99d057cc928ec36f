//! The node as a whole, over a host in memory.

mod conformance;
mod fleet;
mod split_brain;
