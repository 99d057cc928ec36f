//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod coverage;
mod fault;
mod plan;
mod record;
mod schedule;

pub use coverage::{NamedNemesis, coverage};
pub use fault::{Fault, FaultKind, NemesisSpec, Shape, Target};
pub use plan::Plan;
pub use record::{Deed, FaultRecord, Phase};
pub use schedule::Schedule;
