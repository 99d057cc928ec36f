//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod coverage;
mod failovers;
mod fault;
mod node_role;
mod plan;
mod record;
mod schedule;
mod spread;
mod trigger;

pub use coverage::{Coverage, CoverageCell, NamedNemesis, SkippedFault, coverage};
pub use failovers::{FailoverLoop, Failovers, HeldFor, Overlap, Pacing, Reign, failovers};
pub use fault::{Fault, FaultKind, NamedLink, NemesisSpec, Order, Shape, Target, Traffic, Turns};
pub use node_role::role_of;
pub use plan::Plan;
pub use record::{Deed, FaultRecord, Phase};
pub use schedule::Schedule;
pub use spread::Spread;
pub use trigger::{Pace, Times, ViewChange, When, ZnodeChange};
