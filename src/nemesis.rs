//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod conflict;
mod coverage;
mod fault;
mod guide;
mod needs;
mod plan;
mod record;
mod schedule;
mod script;
mod target;
mod trigger;

pub use conflict::{Hold, clash};
pub use coverage::{NamedNemesis, coverage};
pub use fault::{Fault, FaultKind, NemesisSpec, Order, Shape, Traffic, Turns};
pub use guide::{Guide, Parameter};
pub use needs::{Asker, fault_flaw, needs};
pub use plan::{Plan, session_id};
pub use record::{Deed, FaultRecord, Phase};
pub use schedule::{Cause, Due, Entry, Schedule};
pub use script::{Script, ScriptEntry};
pub use target::{NamedLink, Target};
pub use trigger::{Pace, Sought, Times, ViewChange, When, ZnodeChange};
