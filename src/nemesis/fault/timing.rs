//! When a fault begins and how long it lasts: which of these fields go together.

use std::time::Duration;

use super::flaw::{Flaw, is_some_time, require};
use super::{Fault, FaultKind, Shape};
use crate::cluster::Role;
use crate::duration::Span;
use crate::nemesis::target::{Pick, Target};

const MINUTE_MS: u64 = 60_000;

const SHORTEST_EVERY: Span = Span(Duration::from_millis(100));

impl Fault {
    pub(super) fn check_timing(&self) -> Result<(), Flaw> {
        self.check_length()?;
        if let Some(every) = self.every {
            require(every >= SHORTEST_EVERY, "every", || {
                format!("expected {SHORTEST_EVERY} or more: nothing acts, or recovers, faster")
            })?;
            require(every >= self.lasts, "every", || {
                let lasts = self.lasts;
                format!("expected at least `for` ({lasts}), since a fault cannot overlap itself")
            })?;
        }
        require(self.jitter.is_none() || self.every.is_some(), "jitter", || {
            "expected `every` as well: each of several beginnings is late by chance".into()
        })?;
        require(self.weight != Some(0), "weight", || "expected 1 or more".into())?;
        match (&self.when, &self.pace) {
            (Some(_), Some(_)) => Err((
                "pace",
                "expected a trigger in `when` or a `pace`, found both; leave one out".into(),
            )),
            (Some(_), None) => self.check_trigger(),
            (None, Some(_)) => self.check_pace(),
            (None, None) => Ok(()),
        }
    }

    fn check_length(&self) -> Result<(), Flaw> {
        let lasts = is_some_time(self.lasts);
        let is_momentary = self.fault.is_momentary();
        require(!is_momentary || !lasts, "for", || {
            format!("{} is over at once and lasts no time; leave it out", self.fault.name())
        })?;
        require(is_momentary || lasts, "for", || {
            "a fault of no duration cannot be felt; expected more than 0s".into()
        })
    }

    fn check_trigger(&self) -> Result<(), Flaw> {
        self.check_clockless("when")?;
        self.when.as_ref().and_then(|when| when.flaw()).map_or(Ok(()), Err)
    }

    fn check_clockless(&self, instead: &str) -> Result<(), Flaw> {
        require(self.every.is_none(), "every", || {
            format!("`{instead}` says when the fault begins; leave `every` out")
        })
    }

    fn check_pace(&self) -> Result<(), Flaw> {
        let Some(pace) = self.pace else { return Ok(()) };
        self.check_clockless("pace")?;
        let deposes = match self.fault {
            FaultKind::Kill | FaultKind::Stop | FaultKind::Pause | FaultKind::Crash => true,
            FaultKind::Resign => true,
            FaultKind::Partition => matches!(self.shape, Some(Shape::Isolate | Shape::OneWay)),
            _ => false,
        };
        require(deposes, "pace", || {
            "expected a fault that deposes a leader: kill, stop, pause, crash, resign, or a partition \
             of shape isolate"
                .into()
        })?;
        let at_leader = match &self.target {
            None => self.fault == FaultKind::Resign,
            Some(Target::Of(Pick::Leader, role)) => role.is_none_or(Role::elects),
            Some(_) => false,
        };
        require(at_leader, "target", || {
            "a fault with `pace` hits leaders that are elected; expected leader, leader:controller or \
             leader:zookeeper"
                .into()
        })?;
        let in_order = pace.at_least <= pace.per_minute && pace.per_minute <= pace.at_most;
        require(in_order && pace.per_minute > 0, "pace", || {
            let (least, wanted, most) = (pace.at_least, pace.per_minute, pace.at_most);
            format!(
                "expected at_least <= per_minute <= at_most and 1 a minute or more, found at_least \
                 {least}, per_minute {wanted}, at_most {most}"
            )
        })?;
        let cycle = Span(Duration::from_millis(MINUTE_MS / u64::from(pace.per_minute)));
        require(self.lasts <= cycle, "for", || {
            let wanted = pace.per_minute;
            format!("{wanted} failovers a minute leave {cycle} for each, found {}", self.lasts)
        })
    }
}
