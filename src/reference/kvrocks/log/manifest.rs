//! Which files make up the log: the only file that is ever put in another's place.

use std::fmt;
use std::str::FromStr;

pub const FILE: &str = "log";

/// A generation is a snapshot and the segments behind it. The first one has no snapshot and, until it is
/// left, no manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub generation: u64,
    /// The last sequence number that the snapshot holds.
    pub sequence: u64,
}

impl Manifest {
    pub fn snapshot(self) -> String {
        format!("log-{}-snapshot", self.generation)
    }

    pub fn segment(self, number: usize) -> String {
        format!("log-{}-{number:06}", self.generation)
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "generation {}\nsequence {}", self.generation, self.sequence)
    }
}

impl FromStr for Manifest {
    type Err = ();

    fn from_str(text: &str) -> Result<Manifest, ()> {
        let mut lines = text.lines();
        let mut number = |name: &str| {
            let line = lines.next()?.strip_prefix(name)?;
            line.trim().parse().ok()
        };
        let generation = number("generation ").ok_or(())?;
        Ok(Manifest { generation, sequence: number("sequence ").ok_or(())? })
    }
}
