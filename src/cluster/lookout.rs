//! What a world looks out for while a scenario runs, and what it then tells.
//!
//! Znodes, views, outcomes and phases need no lookout: the run loop sees them by itself.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cluster::{FaultId, Mechanism, MessageSeen, Pattern, Tap};
use crate::op::NodeName;

/// Numbers the lookouts of one run, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LookoutId(pub u32);

/// What to look out for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A line that a service writes, by a regular expression.
    Log { nodes: BTreeSet<NodeName>, pattern: String },
    /// A request on the wire.
    Message { taps: BTreeSet<Tap>, pattern: Pattern },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookout {
    pub id: LookoutId,
    pub sight: Sight,
}

/// All that the faults of a scenario ask of a world, known before it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Where an interposer must stand from the start, idle until armed.
    pub taps: BTreeSet<Tap>,
    pub lookouts: Vec<Lookout>,
    /// What the kernel and the engine must offer, with the name of a nemesis that needs it.
    pub mechanisms: Vec<(Mechanism, String)>,
    /// What faults that are drawn at random need: without it they are left out.
    pub optional: BTreeSet<Mechanism>,
    /// Services run under our supervisor, which restarts them in place.
    pub supervised: bool,
}

/// Who is told of something observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concerning {
    Lookout(LookoutId),
    /// An armed message fault has hit.
    Fault(FaultId),
}

impl fmt::Display for Concerning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Concerning::Lookout(LookoutId(number)) => write!(f, "lookout {number}"),
            Concerning::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

/// Something that a world has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub concerning: Concerning,
    pub node: NodeName,
    /// The line, or the request.
    pub what: String,
    pub message: Option<MessageSeen>,
    /// How long before it was told it happened, in microseconds, as far as the world knows.
    pub age_us: u64,
}
