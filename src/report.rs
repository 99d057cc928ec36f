//! Reports: what a run found, for people, CI servers and programs. Pure: history in, text out.
//!
//! Nothing here reads a clock or a file: the same input gives the same bytes.

mod availability;
mod checked;
mod clocks;
mod cycle;
mod digest;
mod fault_kind;
mod headline;
mod hits;
mod in_force;
mod junit;
mod lanes;
mod losses;
mod notes;
mod overlap;
mod page;
mod plot_data;
mod rate;
mod redirects;
mod results;
mod scale;
mod scatter;
mod slots;
mod steps;
mod terminal;
mod timeline;
mod triggers;
mod versions;
mod words;

pub use checked::{Checked, checked_text};
pub use clocks::{ClockMove, Reading, clocks};
pub use hits::{Hit, HitOperation, hits};
pub use in_force::name_faults;
pub use junit::junit;
pub use page::{ReportInput, checked_page, html};
pub use results::{Expected, FaultSummary, OpCounts, Results};
pub use terminal::{Colours, terminal};
pub use triggers::{TriggerSummary, TriggeredBy, triggers};
