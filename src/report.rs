//! Reports: what a run found, for people, CI servers and programs. Pure: history in, text out.

mod results;

pub use results::{Expected, FaultSummary, OpCounts, Results};
