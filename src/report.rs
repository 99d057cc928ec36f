//! Reports: what a run found, for people, CI servers and programs. Pure: history in, text out.
//!
//! Nothing here reads a clock or a file: the same input gives the same bytes.

mod availability;
mod digest;
mod headline;
mod junit;
mod page;
mod plot_data;
mod rate;
mod results;
mod scatter;
mod steps;
mod terminal;
mod timeline;
mod words;

pub use junit::junit;
pub use page::{ReportInput, html};
pub use results::{Expected, FaultSummary, OpCounts, Results};
pub use terminal::{Colours, terminal};
