//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod coverage;
mod fault;
mod plan;
mod record;
mod schedule;
mod trigger;

pub use coverage::{NamedNemesis, coverage};
pub use fault::{Fault, FaultKind, NamedLink, NemesisSpec, Order, Shape, Target, Traffic, Turns};
pub use plan::Plan;
pub use record::{Deed, FaultRecord, Phase};
pub use schedule::{Cause, Due, Entry, Schedule};
pub use trigger::{Pace, Times, ViewChange, When, ZnodeChange};
