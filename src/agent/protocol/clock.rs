//! What is told of the clocks of processes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a process's clocks are off; positive is ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offsets {
    pub wall_ns: i64,
    pub monotonic_ns: i64,
}

impl Offsets {
    /// Whether these, read with an error of so much, may be those.
    pub fn agree(self, expected: Offsets, error_ns: u64) -> bool {
        let near = |read: i64, wanted: i64| read.abs_diff(wanted) <= error_ns;
        near(self.wall_ns, expected.wall_ns) && near(self.monotonic_ns, expected.monotonic_ns)
    }
}

/// The clocks of all processes of a container, asked one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReport {
    pub processes: Vec<ProcessClock>,
    /// Until the last of them was changed, or all were asked where nothing was to change.
    pub took_us: u64,
}

impl ClockReport {
    /// Every process shows these offsets, as it says itself.
    pub fn shows(&self, expected: Offsets) -> bool {
        !self.processes.is_empty()
            && self.processes.iter().all(|process| process.shown.agrees(expected))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessClock {
    pub pid: u32,
    pub start_ticks: u64,
    pub comm: String,
    /// Its clock functions go by our code.
    pub detoured: bool,
    /// What that code adds.
    pub ordered: Offsets,
    pub shown: Shown,
    /// Wall readings that the program itself has had while its wall clock was off; a few may have gone
    /// uncounted. A child begins with its parent's count.
    pub wall_calls: u64,
    pub monotonic_calls: u64,
}

/// What a process's own clock functions return, against the agent's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    Read { offsets: Offsets, error_ns: u64 },
    Unread { why: String },
}

impl Shown {
    pub fn agrees(&self, expected: Offsets) -> bool {
        match self {
            Shown::Read { offsets, error_ns } => offsets.agree(expected, *error_ns),
            Shown::Unread { .. } => false,
        }
    }
}

/// A process whose wall clock was put right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealedClock {
    pub pid: u32,
    pub comm: String,
    /// Its clock functions still go by our code.
    pub detoured: bool,
    /// How far its monotonic clock stays ahead until it starts anew: it must not go back.
    pub monotonic_ns: i64,
}

impl fmt::Display for HealedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clock of {} ({})", self.pid, self.comm)?;
        match self.monotonic_ns {
            0 => Ok(()),
            ahead => write!(f, ", monotonic {} ms ahead until it restarts", ahead / 1_000_000),
        }
    }
}

/// How long it took to skew the clock of a child of the agent's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTrial {
    pub injection_us: u64,
    pub change_us: u64,
}
