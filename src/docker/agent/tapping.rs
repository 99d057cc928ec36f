//! Asks an agent's interposers, and hears what they see.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{ANSWER_WITHIN, Agent, ask, unexpected};
use crate::agent::protocol::{Answer, Command, Spent, TapProbe, TapState};
use crate::cluster::{Concerning, Effect, Observed, Tap};
use crate::op::NodeName;

impl Agent {
    /// Puts interposers in place that pass everything on; their rules as the kernel then shows them.
    pub async fn tap(&self, taps: BTreeSet<Tap>) -> anyhow::Result<Vec<TapState>> {
        match self.ask(Command::Tap { taps }).await? {
            Answer::Tap { taps } => Ok(taps),
            answer => unexpected("tap", &answer),
        }
    }

    /// Has the interposers at these taps act; they must be in place.
    pub async fn arm(
        &self,
        concerning: Concerning,
        taps: BTreeSet<Tap>,
        effect: Effect,
    ) -> anyhow::Result<()> {
        match self.ask(Command::Arm { concerning, taps, effect }).await? {
            Answer::Arm => Ok(()),
            answer => unexpected("arm", &answer),
        }
    }

    /// Takes exactly that back; what it did, or `None` where it was no longer in force.
    pub async fn disarm(&self, concerning: Concerning) -> anyhow::Result<Option<Spent>> {
        match self.ask(Command::Disarm { concerning }).await? {
            Answer::Disarm { spent } => Ok(spent),
            answer => unexpected("disarm", &answer),
        }
    }

    /// Opens a connection through a tap: inbound from this node, outbound to it.
    pub async fn probe_tap(
        &self,
        tap: Tap,
        with: NodeName,
        bound: Duration,
    ) -> anyhow::Result<TapProbe> {
        let command = Command::ProbeTap { tap, with, bound_ms: bound.as_millis() as u64 };
        match ask(&self.questions, command, bound + ANSWER_WITHIN).await? {
            Answer::ProbeTap { probe } => Ok(probe),
            answer => unexpected("probe-tap", &answer),
        }
    }

    /// The next thing that an interposer sees; waits for ever once the agent is gone.
    pub async fn sighting(&self) -> Observed {
        match self.sightings.lock().await.recv().await {
            Some(observed) => observed,
            None => std::future::pending().await,
        }
    }
}
