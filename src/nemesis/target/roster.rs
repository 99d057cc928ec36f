//! The nodes that a target could ever mean.

use super::{Pick, Target};
use crate::cluster::{CLIENTS, Role, Topology};
use crate::name::Name;
use crate::op::NodeName;

/// The nodes of a scenario, and whose leader its word `leader` means.
#[derive(Clone, Copy)]
pub struct Roster<'a> {
    pub topology: &'a Topology,
    pub leader: Role,
}

impl Roster<'_> {
    /// Every node that a target could be resolved to, in topology order. Where the target leaves the
    /// role open, only roles that `fit` the fault count.
    pub fn pool(&self, target: &Target, fits: impl Fn(Role) -> bool) -> Vec<NodeName> {
        let of = |wanted: &dyn Fn(Role) -> bool| {
            let nodes = self.topology.nodes.iter().filter(|node| wanted(node.role));
            nodes.map(|node| node.name).collect()
        };
        match target {
            Target::Of(_, Some(role)) => of(&|one| one == *role),
            Target::Of(Pick::Leader | Pick::Follower | Pick::Master, None) => {
                of(&|role| role == self.leader)
            }
            Target::Of(Pick::All, None) | Target::Cause(_) => of(&fits),
            Target::Of(Pick::One | Pick::Minority | Pick::Majority, None) => {
                // ZooKeeper under another service is not what is tested.
                let rests_on = |role| fits(role) && role != Role::Zookeeper;
                let is_alone = !self.topology.nodes.iter().any(|node| rests_on(node.role));
                of(&|role| if is_alone { fits(role) } else { rests_on(role) })
            }
            Target::Clients => vec![Name::from(CLIENTS)],
            Target::Node(name) => {
                self.topology.node(name).map(|node| node.name).into_iter().collect()
            }
        }
    }

    pub fn role_of(&self, name: &NodeName) -> Option<Role> {
        self.topology.node(name).map(|node| node.role)
    }
}
