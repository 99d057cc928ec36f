//! Faults as data: what breaks, whom, when; the plan that turns intent into actions; the record of
//! it. Pure: it names no world.

mod coverage;
mod record;

pub use coverage::{NamedNemesis, coverage};
pub use record::{Deed, FaultRecord, Phase};
