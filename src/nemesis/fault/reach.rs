//! Whom a fault could reach: the roles that its targets may mean, and the nodes of those.

use super::{Fault, FaultKind};
use crate::cluster::Role;
use crate::nemesis::target::{Party, Roster, Target};
use crate::op::NodeName;

impl Fault {
    /// Whether nodes of a role may be meant where a target leaves the role open: only ZooKeeper's servers
    /// hold sessions, and a message passes only where its protocol is spoken.
    fn fits(&self, role: Role) -> bool {
        match (self.fault, &self.message) {
            (FaultKind::ExpireSession, _) => role == Role::Zookeeper,
            (FaultKind::Message, Some(pattern)) if self.port.is_none() => {
                role.client_port().1 == pattern.protocol
            }
            _ => true,
        }
    }

    /// Every node that one of its targets could be resolved to.
    pub fn pool(&self, target: &Target, roster: Roster) -> Vec<NodeName> {
        roster.pool(target, |role| self.fits(role))
    }

    /// Whose leaders its target means, where it means leaders.
    pub fn led_role(&self, leader: Role) -> Role {
        match self.target {
            Some(Target::Of(_, Some(role))) => role,
            _ => leader,
        }
    }

    /// All targets that it names: its own, or the ends of its link.
    pub fn aims(&self) -> impl Iterator<Item = &Target> {
        let ends = self.link.iter().flat_map(|link| link.ends());
        self.target.iter().chain(ends)
    }

    /// The parties of its trigger that it is aimed at.
    pub fn parties(&self) -> impl Iterator<Item = Party> {
        self.aims().filter_map(|target| match target {
            Target::Cause(party) => Some(*party),
            _ => None,
        })
    }
}
