//! Actions on the simulated cluster, each with the proof that it acted.
//!
//! Links are proven by probe packets through the simulated network, processes by their state and
//! number, clocks by reading them, interposers by probes through them and by what they say.

mod clock;
mod interpose;
mod links;
mod probes;
mod process;
mod session;

use super::SimCluster;
use crate::cluster::{Action, Applied, Check, Proof};
use crate::op::Nanos;
pub(super) use interpose::watching;
use process::Deed;

impl SimCluster {
    pub(super) async fn perform(&self, action: &Action) -> anyhow::Result<Applied> {
        let began = self.world.now();
        let done = match action {
            Action::Cut { fault, links, manner } => {
                self.cut(action, *fault, (links, *manner)).await?
            }
            Action::Join { fault, links, manner } => {
                self.join(action, *fault, (links, *manner)).await?
            }
            Action::Sever { links, port } => self.sever(links, *port).await?,
            Action::Throttle { fault, links, bytes_per_second } => {
                self.throttle(action, *fault, (links, *bytes_per_second)).await?
            }
            Action::Unthrottle { fault, links, bytes_per_second } => {
                self.unthrottle(action, *fault, (links, *bytes_per_second)).await?
            }
            Action::Interpose { fault, taps, effect } => {
                self.interpose(action, *fault, (taps, effect)).await?
            }
            Action::Withdraw { fault, taps, effect } => {
                self.withdraw(action, *fault, (taps, effect)).await?
            }
            Action::Kill { node } => self.change(node, Deed::Kill).await?,
            Action::Stop { node } => self.change(node, Deed::Stop).await?,
            Action::Start { node } => self.change(node, Deed::Start).await?,
            Action::Pause { node } => self.change(node, Deed::Pause).await?,
            Action::Resume { node } => self.change(node, Deed::Resume).await?,
            Action::Crash { node } => self.change(node, Deed::Crash).await?,
            Action::Skew { node, clock, by_ns } => self.skew(node, *clock, *by_ns)?,
            Action::Unskew { node, clock, by_ns } => self.unskew(node, *clock, *by_ns)?,
            Action::Expire { node, session } => self.expire(node, *session).await?,
        };
        Ok(self.judge(began, done))
    }

    fn judge(&self, began: Nanos, done: Done) -> Applied {
        let (checks, packets) = match done {
            Done::Not { why } => return Applied::Skipped { why },
            Done::Tried { checks, packets } => (checks, packets),
        };
        let took_us = (self.world.now() - began) / 1_000;
        let proof = Proof { checks, packets, took_us };
        if proof.holds() {
            return Applied::Installed { proof };
        }
        let failed = proof.checks.iter().find(|check| !check.holds);
        let why = failed.map_or("nothing was checked".to_owned(), |check| {
            format!("{}: expected {}, seen {}", check.what, check.expected, check.seen)
        });
        Applied::Indeterminate { why, proof: Some(proof) }
    }
}

/// What was done, and what was seen of it.
enum Done {
    Not { why: String },
    Tried { checks: Vec<Check>, packets: Option<u64> },
}

impl Done {
    fn not(why: impl Into<String>) -> Done {
        Done::Not { why: why.into() }
    }

    fn tried(checks: Vec<Check>, packets: Option<u64>) -> Done {
        Done::Tried { checks, packets }
    }
}

/// Something that should read like this and does, or does not.
fn check(what: String, expected: impl Into<String>, seen: impl Into<String>) -> Check {
    let (expected, seen) = (expected.into(), seen.into());
    Check { what, holds: expected == seen, expected, seen }
}
