//! From intent to actions: resolves the target against the view of this moment and draws the sides.

mod held;
mod resign;
mod scene;
mod shape;
pub(super) mod tap;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use held::with_held;
pub use scene::Moment;
use scene::{Among, Scene};

use crate::cluster::{
    Action, Clock, Effect, FaultId, Form, Link, MessageRule, Pattern, SessionPick,
};
use crate::nemesis::fault::{Fault, FaultKind};
use crate::nemesis::target::Target;
use crate::nemesis::trigger::Times;
use crate::op::NodeName;
use crate::rng::Rng;

/// What a fault is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The nodes singled out; for a partition the smaller side.
    pub targets: Vec<NodeName>,
    pub actions: Vec<Action>,
}

impl Fault {
    /// Plans this fault now, or says why there is nothing to do (`leader` while nobody leads).
    ///
    /// The fault has no flaw, and a message fault knows its pattern.
    pub fn plan(&self, id: FaultId, moment: &Moment, rng: &mut Rng) -> Result<Plan, String> {
        let Moment { roster, view, cause, session } = *moment;
        // A loop strikes who leads now, not a deposed leader that has not noticed yet.
        let latest = self.pace.map(|_| view.with_latest_leader());
        let view = latest.as_ref().unwrap_or(view);
        let scene = Scene { roster, view, cause, fault: self };
        match self.fault {
            FaultKind::Partition => shape::plan(self, id, &scene, rng),
            FaultKind::Kill => self.each(&scene, rng, |node| Action::Kill { node }),
            FaultKind::Stop => self.each(&scene, rng, |node| Action::Stop { node }),
            FaultKind::Pause => self.each(&scene, rng, |node| Action::Pause { node }),
            FaultKind::Crash => self.each(&scene, rng, |node| Action::Crash { node }),
            FaultKind::Clock => {
                let (clock, by_ns) = (self.clock.unwrap_or(Clock::Wall), lacking(self.by, "by")?.0);
                self.each(&scene, rng, |node| Action::Skew { node, clock, by_ns })
            }
            FaultKind::ExpireSession => {
                let session = self.session_pick(session, rng)?;
                self.each(&scene, rng, |node| Action::Expire { node, session })
            }
            FaultKind::Sever => {
                let (targets, links) = self.links(&scene, true, rng)?;
                Ok(Plan { targets, actions: vec![Action::Sever { links, port: self.port }] })
            }
            FaultKind::Resign => resign::plan(&scene, session, rng),
            FaultKind::Throttle => {
                let (targets, links) = self.links(&scene, false, rng)?;
                let bytes_per_second = lacking(self.bytes_per_second, "bytes_per_second")?;
                let action = Action::Throttle { fault: id, links, bytes_per_second };
                Ok(Plan { targets, actions: vec![action] })
            }
            FaultKind::Message | FaultKind::Toxic => self.interpose(id, &scene, rng),
        }
    }

    fn each(
        &self,
        scene: &Scene,
        rng: &mut Rng,
        action: impl Fn(NodeName) -> Action,
    ) -> Result<Plan, String> {
        let targets = scene.resolve(self.aimed_at()?, Among::Up, &[], rng)?;
        let actions = targets.iter().copied().map(action).collect();
        Ok(Plan { targets, actions })
    }

    fn aimed_at(&self) -> Result<&Target, String> {
        self.target.as_ref().ok_or_else(|| "the fault has no `target`".to_owned())
    }

    /// The links that `link` names, or all between the target's nodes and the others.
    fn links(
        &self,
        scene: &Scene,
        with_clients: bool,
        rng: &mut Rng,
    ) -> Result<(Vec<NodeName>, BTreeSet<Link>), String> {
        if let Some(link) = &self.link {
            return scene.resolve_link(link, rng);
        }
        let targets = scene.resolve(self.aimed_at()?, Among::UpIfAny, &[], rng)?;
        let mut links = scene.links_of(&targets);
        if with_clients {
            links.extend(scene.links_to_clients(&targets));
        }
        match links.is_empty() {
            true => Err("there is no other node to have a link with".into()),
            false => Ok((targets, links)),
        }
    }

    fn interpose(&self, id: FaultId, scene: &Scene, rng: &mut Rng) -> Result<Plan, String> {
        let (targets, taps) = match &self.link {
            Some(link) => {
                let (targets, links) = scene.resolve_link(link, rng)?;
                let taps = tap::on_links(self.port, links.iter().map(ends), scene.roster.topology);
                (targets, taps)
            }
            None => {
                let targets = scene.resolve(self.aimed_at()?, Among::UpIfAny, &[], rng)?;
                let taps = tap::at_nodes(self.port, targets.iter().copied(), scene.roster.topology);
                (targets, taps)
            }
        };
        let action = Action::Interpose { fault: id, taps, effect: self.effect()? };
        Ok(Plan { targets, actions: vec![action] })
    }

    fn effect(&self) -> Result<Effect, String> {
        if self.fault == FaultKind::Toxic {
            return Ok(Effect::Toxic(lacking(self.toxic, "toxic")?));
        }
        let pattern: Pattern = lacking(self.message.clone(), "message")?;
        let form: Form = lacking(self.form, "form")?;
        let nth = self.nth.unwrap_or(1);
        let times = match self.times.unwrap_or_default() {
            Times::Always => None,
            some => Some(u64::from(some.limit())),
        };
        Ok(Effect::Message(MessageRule { pattern, form, nth, times, delay: self.delay }))
    }

    fn session_pick(&self, owner: Option<i64>, rng: &mut Rng) -> Result<SessionPick, String> {
        match &self.session {
            Some(path) if resign::is_path(path) => {
                owner.map(SessionPick::Id).ok_or_else(|| resign::unowned(path))
            }
            Some(text) => session_id(text).map(SessionPick::Id),
            None => Ok(SessionPick::Nth(rng.below(1 << 32))),
        }
    }
}

fn ends(link: &Link) -> (NodeName, NodeName) {
    (link.from, link.to)
}

fn lacking<T>(field: Option<T>, name: &str) -> Result<T, String> {
    field.ok_or_else(|| format!("the fault has no `{name}`"))
}

/// A ZooKeeper session's id as servers write it (`0x100004a2b3c0001`) or as a decimal number.
pub fn session_id(text: &str) -> Result<i64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    };
    parsed
        .ok_or_else(|| format!("expected a session's id such as 0x100004a2b3c0001, found `{text}`"))
}
