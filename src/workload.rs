//! Workloads: what clients do, as generators of calls, and the clients that perform them.
//!
//! Pure: no clock, socket or file, and no async runtime. Clients are async over the seams in
//! `cluster` only.

pub mod kvrocks;
pub mod register;
pub mod register_client;
