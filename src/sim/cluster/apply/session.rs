//! Sessions ended by somebody who takes them over: their clients learn that they are expired.

use std::time::Duration;

use super::super::SimCluster;
use super::{Done, check};
use crate::cluster::SessionPick;
use crate::op::NodeName;

/// How long the ensemble may take to agree on a session's end.
const GONE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(2);

impl SimCluster {
    pub(super) async fn expire(&self, name: &NodeName, pick: SessionPick) -> anyhow::Result<Done> {
        let node = self.index(name)?;
        if !self.world.with(|world| world.is_server(node)) {
            return Ok(Done::not(format!("{name} is no ZooKeeper server and holds no session")));
        }
        let held = self.world.with(|world| world.server(node).sessions_held());
        let picked = match pick {
            SessionPick::Nth(_) if held.is_empty() => None,
            SessionPick::Nth(nth) => held.get((nth % held.len() as u64) as usize).copied(),
            SessionPick::Id(id) => held.contains(&id).then_some(id),
        };
        let Some(session) = picked else {
            let why = match pick {
                SessionPick::Nth(_) => format!("{name} holds no session"),
                SessionPick::Id(id) => format!("{name} does not hold session 0x{id:x}"),
            };
            return Ok(Done::not(why));
        };
        self.world.with(|world| world.usurp(node, session));
        let is_open =
            || self.world.with(|world| world.server(node).tree().sessions().contains_key(&session));
        let end = tokio::time::Instant::now() + GONE_WITHIN;
        while is_open() && tokio::time::Instant::now() < end {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let seen = if is_open() { "open" } else { "gone" };
        Ok(Done::tried(vec![check(format!("session 0x{session:x} at {name}"), "gone", seen)], None))
    }
}
