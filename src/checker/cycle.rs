//! A cycle of transactions as a drawing or a tool takes it: who, what, and why each before the next.

use serde::{Deserialize, Serialize};

use crate::op::{Kind, Nanos};

/// A cycle of bounded length: of a longer one the first steps and the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TxnCycle {
    /// In the order of the cycle, by the names that the explanation gives them.
    pub txns: Vec<CycleTxn>,
    pub edges: Vec<CycleEdge>,
    /// Transactions of the cycle that are not among `txns`.
    #[serde(default)]
    pub left_out: usize,
}

/// A transaction of a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleTxn {
    /// `T1`.
    pub name: String,
    pub process: u32,
    /// The index of its first event.
    pub op: u64,
    /// What it did to the keys that matter, in order: `append 3 7`, `r 4 [.. 1 2]`.
    pub did: Vec<String>,
    pub invoked: Option<Nanos>,
    pub completed: Option<Nanos>,
    pub outcome: Kind,
}

/// Why one transaction comes before another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleEdge {
    /// Positions in `txns`.
    pub from: usize,
    pub to: usize,
    pub kind: CycleEdgeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What was overwritten with, read or missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// In words.
    pub why: String,
}

/// By what one transaction comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CycleEdgeKind {
    /// Its write was overwritten by the other's.
    Ww,
    /// The other read what it wrote.
    Wr,
    /// It did not see what the other wrote.
    Rw,
    /// One process did it before the other.
    Process,
    /// It was over before the other began.
    Realtime,
    /// One of the steps that are left out.
    Omitted,
}

impl CycleEdgeKind {
    pub fn name(self) -> &'static str {
        match self {
            CycleEdgeKind::Ww => "ww",
            CycleEdgeKind::Wr => "wr",
            CycleEdgeKind::Rw => "rw",
            CycleEdgeKind::Process => "process",
            CycleEdgeKind::Realtime => "realtime",
            CycleEdgeKind::Omitted => "omitted",
        }
    }
}
