//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod cause;
mod conflict;
mod coverage;
mod failovers;
mod fault;
mod guide;
mod needs;
mod node_role;
mod plan;
mod record;
mod schedule;
mod script;
mod spread;
mod target;
mod trigger;
mod waiting;

pub use cause::Cause;
pub use conflict::{Hold, clash};
pub use coverage::{Coverage, CoverageCell, NamedNemesis, SkippedFault, coverage};
pub use failovers::{FailoverLoop, Failovers, HeldFor, Office, Overlap, Pacing, Reign, failovers};
pub use fault::{Fault, FaultKind, NemesisSpec, Order, Shape, Traffic, Turns};
pub use guide::{Guide, Parameter};
pub use needs::{Asker, fault_flaw, needs, watched_nodes};
pub use node_role::role_of;
pub use plan::{Moment, Plan, session_id, with_held};
pub use record::{Deed, FaultRecord, Phase};
pub use schedule::{Due, Entry, Schedule};
pub use script::{Script, ScriptEntry};
pub use spread::Spread;
pub use target::{NamedLink, Party, Pick, Roster, Target};
pub use trigger::{Pace, Sought, Times, ViewChange, When, ZnodeChange};
