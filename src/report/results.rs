//! `results.json`: the verdict of one run and why, for programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClockMove, Hit, TriggerSummary};
use crate::checker::Finding;
use crate::nemesis::{CoverageCell, Failovers, SkippedFault};

/// How many operations of one kind ended how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OpCounts {
    pub ok: u64,
    pub fail: u64,
    pub info: u64,
}

/// One nemesis of the run: did it act, was it felt, was it healed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSummary {
    /// The nemesis's name.
    pub fault: String,
    /// What it was aimed at, as named in the scenario (`leader`, `minority`, `halves`).
    pub target: String,
    /// Installed and proven at least once, and never `indeterminate`.
    pub installed: bool,
    /// Felt by the workload's own traffic at least once.
    pub felt: bool,
    /// Every installation was undone and the heal proven.
    pub healed: bool,
    /// All that it did was over at once and left nothing to undo.
    #[serde(default)]
    pub momentary: bool,
    /// Times it was begun, and times it was skipped.
    pub times: u64,
    pub skipped: u64,
    /// Why any of the three booleans is false; empty otherwise.
    pub why: String,
}

/// What the workload's YAML expects of this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    pub anomaly: String,
    pub found: bool,
}

/// The whole result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// `valid`, `invalid`, `unknown` or `infrastructure`.
    pub verdict: String,
    /// One sentence for the first screen.
    pub why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    pub exit_code: i32,
    pub interrupted: bool,
    pub seed: u64,
    pub world: String,
    pub workload: String,
    pub nemesis: String,
    /// Of servers of our own, by role.
    pub variant: BTreeMap<String, String>,
    /// What services ran from, by role; `reference` is a server of our own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
    pub ops: BTreeMap<String, OpCounts>,
    /// Arrivals that found no free process on their node.
    pub dropped: u64,
    pub checkers: Vec<Finding>,
    pub faults: Vec<FaultSummary>,
    /// Fault × role × phase: how often begun, installed, felt, healed.
    #[serde(default)]
    pub coverage: Vec<CoverageCell>,
    /// Why faults were left out, such as those of a mix that this world lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedFault>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<TriggerSummary>,
    /// Messages that were hit, the first of them where there were many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<Hit>,
    #[serde(default)]
    pub hits_total: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockMove>,
    /// Where the leader changed, or a nemesis meant it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failovers: Option<Failovers>,
    /// Errors of the harness, if any.
    pub harness: Vec<String>,
    /// The exact command that repeats the run.
    pub repro: String,
    pub version: String,
}
