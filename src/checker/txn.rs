//! Histories of transactions, judged by their dependencies as Elle does (Kingsbury and Alvaro, "Elle: Inferring
//! Isolation Anomalies from Experimental Observations", VLDB 2020).
//!
//! A table takes the transactions in, an inference says who depends on whom and why, and what is common
//! to all inferences finds the cycles, names them, and tells which consistency models they rule out.

mod consistency;
pub(in crate::checker) mod cycles;
mod explain;
pub(in crate::checker) mod graph;
mod judgement;
mod list_append;
mod rw_register;
mod table;
#[cfg(test)]
mod tests;
mod weak;

pub use consistency::canonical_model;
pub use list_append::LIST_APPEND;
pub use rw_register::RW_REGISTER;
