//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod coverage;
mod fault;
mod plan;
mod record;
mod schedule;
mod target;
mod trigger;

pub use coverage::{NamedNemesis, coverage};
pub use fault::{Fault, FaultKind, NemesisSpec, Order, Shape, Traffic, Turns};
pub use plan::{Plan, session_id};
pub use record::{Deed, FaultRecord, Phase};
pub use schedule::Schedule;
pub use target::{NamedLink, Target};
pub use trigger::{Pace, Sought, Times, ViewChange, When, ZnodeChange};
