//! The node as a whole, over a host in memory.

mod conformance;
mod fleet;
mod random;
mod split_brain;
