//! From intent to actions: resolves the target against the view of this moment and draws the sides.

use std::collections::BTreeSet;

use crate::cluster::{Action, FaultId, Link, NodeState, Topology, View};
use crate::nemesis::fault::{Fault, FaultKind, Shape, Target};
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
    pub fn plan(
        &self,
        id: FaultId,
        topology: &Topology,
        view: &View,
        rng: &mut Rng,
    ) -> Result<Plan, String> {
        let names: Vec<NodeName> = topology.names().cloned().collect();
        let targets = match self.shape {
            Some(Shape::Halves) => {
                let half = names.len() / 2 + (rng.below(2) as usize) * (names.len() % 2);
                draw(&names, half, rng)
            }
            Some(Shape::MajorityMinority) => draw(&names, names.len().div_ceil(2) - 1, rng),
            _ => self.resolve(&names, topology, view, rng)?,
        };
        let actions = match self.fault {
            FaultKind::Kill => each(&targets, |node| Action::Kill { node }),
            FaultKind::Pause => each(&targets, |node| Action::Pause { node }),
            FaultKind::Stop => each(&targets, |node| Action::Stop { node }),
            FaultKind::Crash => each(&targets, |node| Action::Crash { node }),
            FaultKind::Partition => {
                let links = self.links(&names, &targets);
                if links.is_empty() {
                    return Err(format!(
                        "a partition of {} nodes has nobody on one side",
                        names.len()
                    ));
                }
                vec![Action::Cut { fault: id, links, manner: Default::default() }]
            }
            other => return Err(format!("{other:?} cannot be planned")),
        };
        Ok(Plan { targets, actions })
    }

    fn resolve(
        &self,
        names: &[NodeName],
        topology: &Topology,
        view: &View,
        rng: &mut Rng,
    ) -> Result<Vec<NodeName>, String> {
        let target = self.target.clone().unwrap_or(Target::All);
        let chosen = match &target {
            Target::All => names.to_vec(),
            Target::One => draw(names, 1, rng),
            Target::Minority => draw(names, names.len().div_ceil(2) - 1, rng),
            Target::Majority => draw(names, names.len() / 2 + 1, rng),
            Target::Leader => view.leaders().cloned().collect(),
            Target::Follower | Target::Clients => Vec::new(),
            Target::Role(role) => topology.with_role(*role).map(|node| node.name).collect(),
            Target::Node(name) => topology.node(name).map(|node| node.name).into_iter().collect(),
        };
        if chosen.is_empty() {
            return Err(match target {
                Target::Leader => "no node claims to lead now".into(),
                other => format!("no node fits the target `{other}`"),
            });
        }
        let down = |name: &NodeName| {
            view.nodes
                .get(name)
                .is_some_and(|node| matches!(node.state, NodeState::Down | NodeState::Paused))
        };
        if self.fault != FaultKind::Partition && chosen.iter().all(down) {
            return Err(format!("{} is down or paused already", chosen.join(", ")));
        }
        Ok(chosen)
    }

    fn links(&self, names: &[NodeName], targets: &[NodeName]) -> BTreeSet<Link> {
        let one_way = self.shape == Some(Shape::OneWay);
        let mut links = BTreeSet::new();
        for inside in targets {
            for outside in names.iter().filter(|name| !targets.contains(name)) {
                links.insert(Link { from: *outside, to: *inside });
                if !one_way {
                    links.insert(Link { from: *inside, to: *outside });
                }
            }
        }
        links
    }
}

fn each(targets: &[NodeName], action: impl Fn(NodeName) -> Action) -> Vec<Action> {
    targets.iter().cloned().map(action).collect()
}

/// A random subset of this size, in topology order.
fn draw(names: &[NodeName], size: usize, rng: &mut Rng) -> Vec<NodeName> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    rng.shuffle(&mut order);
    order.truncate(size);
    order.sort_unstable();
    order.into_iter().map(|position| names[position]).collect()
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::cluster::{Node, NodeView, Role};
    use crate::duration::Span;

    fn topology(count: usize) -> Topology {
        let node = |number: usize| Node {
            name: format!("zookeeper{number}").into(),
            role: Role::Zookeeper,
            address: [10, 0, 0, number as u8].into(),
        };
        Topology { nodes: (1..=count).map(node).collect() }
    }

    fn view(topology: &Topology, leader: Option<usize>) -> View {
        let nodes = topology.names().enumerate().map(|(position, name)| {
            let leads = leader == Some(position + 1);
            (
                *name,
                NodeView { state: NodeState::Serving, leads, epoch: None, detail: String::new() },
            )
        });
        View { nodes: nodes.collect() }
    }

    fn fault(kind: FaultKind, shape: Option<Shape>, target: Option<Target>) -> Fault {
        let [after, lasts, every] = [5, 10, 20].map(Span::seconds);
        let mut fault = Fault::new(kind);
        fault.shape = shape;
        fault.target = target;
        fault.after = after;
        fault.lasts = lasts;
        fault.every = Some(every);
        fault
    }

    fn plan(fault: &Fault, nodes: usize, leader: Option<usize>, seed: u64) -> Result<Plan, String> {
        let topology = topology(nodes);
        fault.plan(FaultId(1), &topology, &view(&topology, leader), &mut Rng::from_seed(seed))
    }

    fn cut(plan: &Plan) -> &BTreeSet<Link> {
        match &plan.actions[..] {
            [Action::Cut { links, .. }] => links,
            other => panic!("expected one cut, found {other:?}"),
        }
    }

    #[test]
    fn halves_cut_both_ways_between_two_sides_and_nothing_within() {
        let mut sizes = BTreeSet::new();
        for seed in 0..50 {
            let plan = plan(&fault(FaultKind::Partition, Some(Shape::Halves), None), 5, None, seed)
                .unwrap();
            let inside = plan.targets.len();
            sizes.insert(inside);
            let links = cut(&plan);
            assert_eq!(links.len(), 2 * inside * (5 - inside));
            for link in links {
                assert_ne!(plan.targets.contains(&link.from), plan.targets.contains(&link.to));
            }
        }
        assert_eq!(sizes, BTreeSet::from([2, 3]));
    }

    #[test]
    fn the_minority_side_is_a_minority_for_odd_and_even_ensembles() {
        let majority_minority = fault(FaultKind::Partition, Some(Shape::MajorityMinority), None);
        for (nodes, minority) in [(3, 1), (4, 1), (5, 2), (6, 2), (7, 3)] {
            assert_eq!(plan(&majority_minority, nodes, None, 1).unwrap().targets.len(), minority);
        }
    }

    #[test]
    fn one_way_drops_only_what_is_sent_to_the_target() {
        let one_way = fault(FaultKind::Partition, Some(Shape::OneWay), Some(Target::Leader));
        let plan = plan(&one_way, 3, Some(2), 1).unwrap();
        let leader: NodeName = crate::name::Name::from("zookeeper2");
        assert!(cut(&plan).iter().all(|link| link.to == leader));
        assert_eq!(cut(&plan).len(), 2);
    }

    #[test]
    fn targets_are_resolved_late_and_an_absent_one_is_said() {
        let kill = |target| fault(FaultKind::Kill, None, Some(target));
        for (target, count) in
            [(Target::All, 5), (Target::One, 1), (Target::Minority, 2), (Target::Majority, 3)]
        {
            assert_eq!(plan(&kill(target), 5, None, 3).unwrap().actions.len(), count);
        }
        let leader = plan(&kill(Target::Leader), 5, Some(4), 3).unwrap();
        assert_eq!(
            leader.actions,
            vec![Action::Kill { node: crate::name::Name::from("zookeeper4") }]
        );
        let error = plan(&kill(Target::Leader), 5, None, 3).unwrap_err();
        assert_eq!(error, "no node claims to lead now");
        assert!(plan(&kill(Target::Node("nobody".into())), 5, None, 3).is_err());
    }

    #[test]
    fn a_partition_with_an_empty_side_is_refused() {
        let isolate_all = fault(FaultKind::Partition, Some(Shape::Isolate), Some(Target::All));
        assert!(plan(&isolate_all, 3, None, 1).unwrap_err().contains("nobody on one side"));
    }

    #[test]
    fn flaws_name_the_field() {
        assert_eq!(fault(FaultKind::Partition, None, None).flaw().unwrap().0, "shape");
        assert_eq!(fault(FaultKind::Kill, None, None).flaw().unwrap().0, "target");
        assert_eq!(
            fault(FaultKind::Kill, Some(Shape::Halves), Some(Target::One)).flaw().unwrap().0,
            "shape"
        );
        assert_eq!(
            fault(FaultKind::Partition, Some(Shape::Halves), Some(Target::One)).flaw().unwrap().0,
            "target"
        );
        let mut short = fault(FaultKind::Kill, None, Some(Target::One));
        short.every = Some(Span::seconds(1));
        assert_eq!(short.flaw().unwrap().0, "every");
    }
}
