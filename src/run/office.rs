//! Offices that outlive their holders: the znode of a controller that fell stays until its session expires,
//! and a new process at the same address looks as if it led.

use std::collections::BTreeMap;

use crate::cluster::{Action, View};
use crate::op::NodeName;

/// Leaders whose process was ended by a fault, with the epoch in which it led.
#[derive(Default)]
pub(super) struct Fallen(BTreeMap<NodeName, u64>);

impl Fallen {
    /// These actions are about to be performed on the cluster as it is seen now.
    pub fn note(&mut self, actions: &[Action], view: &View) {
        for action in actions {
            let (Action::Kill { node } | Action::Stop { node } | Action::Crash { node }) = action
            else {
                continue;
            };
            let leads =
                |seen: &&crate::cluster::NodeView| seen.leads && seen.role.leader_znode().is_some();
            if let Some(epoch) = view.nodes.get(node).filter(leads).and_then(|seen| seen.epoch) {
                self.0.insert(*node, epoch);
            }
        }
    }

    /// The view without claims to an office whose holder is gone.
    pub fn disown(&self, mut view: View) -> View {
        for (name, epoch) in &self.0 {
            let claims = view.nodes.get_mut(name);
            let stale = claims.filter(|seen| seen.leads && seen.epoch == Some(*epoch));
            if let Some(seen) = stale {
                seen.leads = false;
                seen.detail = format!("not the process that was elected: {}", seen.detail);
            }
        }
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{NodeState, NodeView, Role};

    fn view(role: Role, epoch: u64) -> View {
        let seen = NodeView::new(role, NodeState::Serving, "leads");
        let seen = NodeView { leads: true, epoch: Some(epoch), ..seen };
        View { nodes: [("node1".into(), seen)].into() }
    }

    #[test]
    fn who_fell_leads_again_only_when_it_is_elected_again() {
        let mut fallen = Fallen::default();
        let leads =
            |fallen: &Fallen, role, epoch| fallen.disown(view(role, epoch)).nodes["node1"].leads;
        fallen.note(&[Action::Pause { node: "node1".into() }], &view(Role::Controller, 7));
        fallen.note(&[Action::Kill { node: "node2".into() }], &view(Role::Controller, 7));
        assert!(leads(&fallen, Role::Controller, 7));
        fallen.note(&[Action::Kill { node: "node1".into() }], &view(Role::Controller, 7));
        assert!(!leads(&fallen, Role::Controller, 7));
        assert!(leads(&fallen, Role::Controller, 9));
        let disowned = fallen.disown(view(Role::Controller, 7));
        assert_eq!(disowned.nodes["node1"].detail, "not the process that was elected: leads");
        // It was no leader any more when it fell again.
        fallen.note(&[Action::Crash { node: "node1".into() }], &disowned);
        assert!(!leads(&fallen, Role::Controller, 7));
        // Servers of ZooKeeper say themselves who leads.
        let mut fallen = Fallen::default();
        fallen.note(&[Action::Stop { node: "node1".into() }], &view(Role::Zookeeper, 7));
        assert!(leads(&fallen, Role::Zookeeper, 7));
    }
}
