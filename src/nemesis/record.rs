//! What the nemesis and the run loop write into the history, as the `value` of nemesis events.
//!
//! Every fault leaves four lines: `begin` (written and flushed before anything is touched), `began`
//! (with proof), `end`, `ended` (with proof of the heal). The event's `f` is the fault's name; phase
//! marks have `f` = `phase`.

use serde::{Deserialize, Serialize};

use crate::cluster::{Action, Applied, Check, FaultId, MessageSeen, View};
use crate::op::{Event, Nanos, NodeName, Process, Value};

/// The phases of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Up,
    /// Workload and nemesis.
    Main,
    /// Undo every fault exactly and prove it.
    Heal,
    /// Await a healthy view, bounded, with the workload still running.
    Recover,
    /// Final reads.
    Drain,
    Down,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Up => "up",
            Phase::Main => "main",
            Phase::Heal => "heal",
            Phase::Recover => "recover",
            Phase::Drain => "drain",
            Phase::Down => "down",
        }
    }
}

/// An action and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    pub action: Action,
    pub outcome: Applied,
}

impl Deed {
    /// It may have changed something that has to be taken back.
    pub fn is_in_force(&self) -> bool {
        !matches!(self.outcome, Applied::Skipped { .. }) && self.action.undo().is_some()
    }
}

/// The value of a nemesis event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum FaultRecord {
    /// A new phase begins.
    Phase { phase: Phase },
    /// A fault is about to be installed on these nodes.
    Begin { fault: FaultId, targets: Vec<NodeName>, actions: Vec<Action> },
    /// What made it begin, if it was not the clock: told before its `begin`.
    Triggered {
        fault: FaultId,
        /// `znode /sg/go created`, `log at zookeeper1: …`.
        by: String,
        /// When that happened, as far as known; from there to `began` is the trigger's latency.
        happened: Nanos,
        /// When the run loop learned of it.
        learned: Nanos,
    },
    /// It has been tried; whether it is installed stands in the deeds.
    Began { fault: FaultId, deeds: Vec<Deed> },
    /// An armed message fault has hit a message.
    Hit {
        fault: FaultId,
        node: NodeName,
        /// The node that sent it; `None` where that was a client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sender: Option<NodeName>,
        message: MessageSeen,
        /// When it did, as far as known.
        happened: Nanos,
    },
    /// What the system itself shows of a hit: the write is there though its reply was lost.
    Verified { fault: FaultId, check: Check },
    /// It is about to be undone.
    End { fault: FaultId, actions: Vec<Action> },
    /// It has been undone; whether the heal is proven stands in the deeds.
    Ended { fault: FaultId, deeds: Vec<Deed> },
    /// A fault could not be planned (no leader to isolate, nothing to kill).
    Skipped { fault: FaultId, why: String },
    /// The cluster as seen now.
    View { view: View },
    /// The loop counted arrivals that found no free process, by node.
    Dropped { node: NodeName, count: u64 },
    /// The user asked to stop, for the `count`-th time.
    Interrupted { count: u32 },
    /// A checker that watches the run saw a promise broken, and the main phase ends.
    Violation { kind: String, summary: String },
    /// The harness itself failed; sticky.
    Harness { error: String },
}

impl FaultRecord {
    pub fn to_value(&self) -> Value {
        Value::Json(Box::new(serde_json::to_value(self).expect("records are plain data")))
    }

    /// The record in a nemesis event; `None` for client events and foreign nemesis events.
    pub fn of(event: &Event) -> Option<FaultRecord> {
        match (&event.process, &event.value) {
            (Process::Nemesis, Value::Json(json)) => serde_json::from_value((**json).clone()).ok(),
            _ => None,
        }
    }
}
