//! Who leads loses the office and keeps its process: the connections over which it is followed, or the
//! session that owns the znode of its office.

use super::Plan;
use super::scene::{Among, Scene};
use crate::cluster::{Action, Role, SessionPick};
use crate::nemesis::fault::{Fault, FaultKind};
use crate::nemesis::target::Target;
use crate::op::NodeName;
use crate::rng::Rng;

impl Fault {
    /// The znode whose owner's session it ends, if it ends the session of an owner.
    pub fn office(&self, leader: Role) -> Option<&str> {
        match (self.fault, self.session.as_deref()) {
            (FaultKind::Resign, _) => self.led_role(leader).leader_znode(),
            (FaultKind::ExpireSession, session) => session.filter(|session| is_path(session)),
            _ => None,
        }
    }
}

/// Where an id of a session is expected, this is a znode instead.
pub(super) fn is_path(session: &str) -> bool {
    session.starts_with('/')
}

pub(super) fn plan(scene: &Scene, session: Option<i64>, rng: &mut Rng) -> Result<Plan, String> {
    let target = scene.fault.target.as_ref().unwrap_or(&Target::LEADER);
    let leaders = scene.resolve(target, Among::Up, &[], rng)?;
    let role = scene.fault.led_role(scene.roster.leader);
    let actions = match (role.leader_znode(), role.leader_port()) {
        (Some(znode), _) => expiries(scene, session.ok_or_else(|| unowned(znode))?),
        (None, Some(port)) => leaders.iter().filter_map(|one| severed(scene, one, port)).collect(),
        (None, None) => return Err(format!("a {role} has no office that it could lose")),
    };
    match actions.is_empty() {
        true => Err("the leader has no followers to lose".into()),
        false => Ok(Plan { targets: leaders, actions }),
    }
}

pub(super) fn unowned(znode: &str) -> String {
    format!("no session owns {znode} now")
}

/// Only the server that holds a session can end it, and which one that is nobody says.
fn expiries(scene: &Scene, session: i64) -> Vec<Action> {
    let servers = scene.roster.topology.with_role(Role::Zookeeper);
    let session = SessionPick::Id(session);
    servers.map(|server| Action::Expire { node: server.name, session }).collect()
}

fn severed(scene: &Scene, leader: &NodeName, port: u16) -> Option<Action> {
    let own = scene.roster.role_of(leader);
    let mut links = scene.links_of(std::slice::from_ref(leader));
    // Others have no connections of members.
    links.retain(|link| [link.from, link.to].iter().all(|end| scene.roster.role_of(end) == own));
    (!links.is_empty()).then_some(Action::Sever { links, port: Some(port) })
}
