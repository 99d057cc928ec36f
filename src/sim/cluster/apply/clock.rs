//! Clocks moved and put right again, proven by reading all clocks of all nodes before and after.

use super::super::SimCluster;
use super::process::Deed;
use super::{Done, check};
use crate::cluster::{Check, Clock};
use crate::op::NodeName;

impl SimCluster {
    pub(super) fn skew(&self, name: &NodeName, clock: Clock, by_ns: i64) -> anyhow::Result<Done> {
        let node = self.index(name)?;
        if self.world.with(|world| world.pid(node)).is_none() {
            return Ok(Done::not(format!("{name} is down")));
        }
        let before = self.read_clocks();
        self.world.with(|world| world.bump(node, clock, by_ns));
        Ok(Done::tried(self.moved(&before, (name, clock), by_ns), None))
    }

    /// A process keeps what it took from its monotonic clock: only a restart heals that.
    pub(super) fn unskew(&self, name: &NodeName, clock: Clock, by_ns: i64) -> anyhow::Result<Done> {
        let node = self.index(name)?;
        let before = self.read_clocks();
        let old = self.look_at_process(node).1;
        let Some(readings) = self.world.with(|world| world.unbump(node, clock, by_ns)) else {
            let by = seconds(by_ns);
            return Ok(Done::not(format!("{name}'s {clock} clock was not moved by {by}")));
        };
        let mut checks = Vec::new();
        if clock == Clock::Monotonic && old.is_some() {
            self.replace_process(node);
            checks = Deed::Crash.checks(name, old, self.look_at_process(node));
        }
        checks.extend(self.moved(&before, (name, clock), by_ns.saturating_neg()));
        Ok(Done::tried(checks, Some(readings)))
    }

    fn read_clocks(&self) -> Vec<[i64; 2]> {
        let nodes = 0..self.topology.nodes.len() as u8;
        let read = |node| {
            self.world.with(|world| {
                [Clock::Wall, Clock::Monotonic].map(|clock| world.shows_ns(node, clock))
            })
        };
        nodes.map(read).collect()
    }

    /// One clock of one node must have moved by so much since, and no other one. No time has passed.
    fn moved(
        &self,
        before: &[[i64; 2]],
        (moved, its): (&NodeName, Clock),
        by_ns: i64,
    ) -> Vec<Check> {
        let after = self.read_clocks();
        let mut checks = Vec::new();
        for (place, name) in self.topology.names().enumerate() {
            for (which, clock) in [Clock::Wall, Clock::Monotonic].into_iter().enumerate() {
                let expected = if name == moved && clock == its { by_ns } else { 0 };
                let seen = after[place][which].wrapping_sub(before[place][which]);
                let what = format!("{name} {clock} clock");
                checks.push(check(what, seconds(expected), seconds(seen)));
            }
        }
        checks
    }
}

fn seconds(ns: i64) -> String {
    format!("{:+.6} s", ns as f64 / 1e9)
}
