//! The ensemble model: what single transactions do, and what an ensemble promises under faults.

mod clients;
mod faults;
mod lab;
mod transactions;
mod variants;
