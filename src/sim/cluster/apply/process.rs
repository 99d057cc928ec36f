//! Processes killed, stopped, started, frozen and thawed, proven by their state and number.

use std::time::Duration;

use super::super::SimCluster;
use super::{Done, check};
use crate::cluster::Check;
use crate::op::NodeName;
use crate::sim::process::ProcessState;

/// How long a program that is asked to end may take to say goodbye.
const STOP_WITHIN: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
pub(super) enum Deed {
    Kill,
    Stop,
    Start,
    Pause,
    Resume,
    Crash,
}

/// A process as it was seen.
pub(super) type Seen = (ProcessState, Option<u32>);

impl SimCluster {
    pub(super) fn look_at_process(&self, node: u8) -> Seen {
        self.world.with(|world| (world.process_state(node), world.pid(node)))
    }

    pub(super) async fn change(&self, name: &NodeName, deed: Deed) -> anyhow::Result<Done> {
        let node = self.index(name)?;
        let before = self.look_at_process(node);
        if let Some(why) = deed.pointless(name, before.0) {
            return Ok(Done::not(why));
        }
        match deed {
            Deed::Kill => self.world.kill(node),
            Deed::Stop => self.stop(node).await,
            Deed::Start => self.world.with(|world| world.start(node)),
            Deed::Pause => self.world.pause(node),
            Deed::Resume => self.world.resume(node),
            Deed::Crash => self.replace_process(node),
        }
        Ok(Done::tried(deed.checks(name, before.1, self.look_at_process(node)), None))
    }
}

impl SimCluster {
    /// Its supervisor starts another process at once.
    pub(super) fn replace_process(&self, node: u8) {
        self.world.kill(node);
        self.world.with(|world| world.start(node));
    }

    /// A program lets go of all it has: its connections are closed, and its sessions, which is waited for
    /// as long as programs take to end.
    async fn stop(&self, node: u8) {
        if self.world.with(|world| world.is_server(node)) {
            return self.world.with(|world| world.stop_server(node));
        }
        self.world.let_go(node);
        let settled = async {
            while self.world.with(|world| world.has_sessions(node)) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        // What is not settled by then is left to the ensemble, which will miss the process.
        let _ = tokio::time::timeout(STOP_WITHIN, settled).await;
        self.world.kill(node);
    }
}

impl Deed {
    /// Why there is nothing to do, if so.
    fn pointless(self, name: &str, state: ProcessState) -> Option<String> {
        let why = match (self, state) {
            (Deed::Start, ProcessState::Running | ProcessState::Paused) => "runs already",
            (Deed::Start, ProcessState::Down) => return None,
            (_, ProcessState::Down) => "is down",
            (Deed::Pause, ProcessState::Paused) => "is paused already",
            (Deed::Stop, ProcessState::Paused) => "is paused and cannot end by itself",
            (Deed::Resume, ProcessState::Running) => "is not paused",
            _ => return None,
        };
        Some(format!("{name} {why}"))
    }

    pub(super) fn checks(self, name: &str, old: Option<u32>, (state, pid): Seen) -> Vec<Check> {
        let show = |pid: Option<u32>| pid.map_or("none".to_owned(), |pid| pid.to_string());
        let (expected, fits) = match self {
            Deed::Kill | Deed::Stop => ("none".to_owned(), pid.is_none()),
            Deed::Start | Deed::Crash => ("a new one".to_owned(), pid.is_some() && pid != old),
            Deed::Pause | Deed::Resume => (show(old), pid == old),
        };
        let number = Check { what: format!("{name} pid"), expected, seen: show(pid), holds: fits };
        let wanted = match self {
            Deed::Kill | Deed::Stop => ProcessState::Down,
            Deed::Start | Deed::Resume | Deed::Crash => ProcessState::Running,
            Deed::Pause => ProcessState::Paused,
        };
        let word = |state: ProcessState| format!("{state:?}").to_lowercase();
        vec![number, check(format!("{name} state"), word(wanted), word(state))]
    }
}
