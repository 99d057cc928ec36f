//! Tests across modules, one binary.

mod fixture;
mod page;
mod report;
