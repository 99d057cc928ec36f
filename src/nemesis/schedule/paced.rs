//! A fault that hits each new leader, at a pace: a loop of failovers.
//!
//! Strikes are planned at even distances. A reign that begins later than its strike was planned is
//! struck at once, and strikes that fell behind are caught up with, but never faster than allowed.

use crate::cluster::{Role, View};
use crate::nemesis::cause::Cause;
use crate::nemesis::trigger::Pace;
use crate::op::{MILLISECOND, Nanos, NodeName, SECOND};

/// After a strike that found nobody to hit, so long until the next try.
const TRY_AGAIN: Nanos = 200 * MILLISECOND;

struct Reign {
    leader: NodeName,
    epoch: Option<u64>,
    since: Nanos,
    is_struck: bool,
    /// As last seen: one that kept its office when it was struck is struck again.
    leads: bool,
}

pub struct Paced {
    /// Whose leaders it hits.
    role: Role,
    period: Nanos,
    shortest: Nanos,
    first: Nanos,
    strikes: u64,
    last_strike: Option<Nanos>,
    not_before: Nanos,
    reign: Option<Reign>,
}

impl Paced {
    pub fn new(pace: Pace, role: Role, after: Nanos) -> Paced {
        let every = |per_minute: u32| 60 * SECOND / u64::from(per_minute.max(1));
        Paced {
            role,
            period: every(pace.per_minute),
            shortest: every(pace.at_most),
            first: after,
            strikes: 0,
            last_strike: None,
            not_before: 0,
            reign: None,
        }
    }

    pub fn begins_at(&self) -> Option<Nanos> {
        let reign = self.reign.as_ref().filter(|reign| !reign.is_struck || reign.leads)?;
        let planned = self.first.saturating_add(self.strikes.saturating_mul(self.period));
        let allowed = self.last_strike.map_or(0, |last| last + self.shortest);
        Some(reign.since.max(planned).max(allowed).max(self.not_before))
    }

    pub fn begun(&mut self, now: Nanos) -> Option<Cause> {
        self.strikes += 1;
        self.last_strike = Some(now);
        let reign = self.reign.as_mut()?;
        reign.is_struck = true;
        let epoch = reign.epoch.map_or(String::new(), |epoch| format!(" in epoch {epoch}"));
        let by = format!("{} leads{epoch}", reign.leader);
        // It waited for its time, not for us: what counts is how long the strike takes from here.
        Some(Cause::now(now, by).at(Some(reign.leader)))
    }

    pub fn skipped(&mut self, now: Nanos) {
        self.strikes = self.strikes.saturating_sub(1);
        self.not_before = now + TRY_AGAIN;
        if let Some(reign) = &mut self.reign {
            reign.is_struck = false;
        }
    }

    /// Where two claim to lead, the one of the higher epoch does.
    pub fn observe_view(&mut self, now: Nanos, view: &View) {
        let leaders = view.nodes.iter().filter(|(_, node)| node.role == self.role && node.leads);
        let latest = leaders.max_by_key(|(_, node)| node.epoch);
        let is_known = |reign: &Reign| {
            latest.is_some_and(|(name, node)| reign.leader == *name && reign.epoch == node.epoch)
        };
        match (&mut self.reign, latest) {
            (Some(reign), _) if is_known(reign) => reign.leads = true,
            (_, Some((leader, node))) => {
                let (leader, epoch) = (*leader, node.epoch);
                let (since, is_struck) = (now, false);
                self.reign = Some(Reign { leader, epoch, since, is_struck, leads: true });
            }
            (Some(reign), None) => reign.leads = false,
            (None, None) => {}
        }
    }
}
