//! Properties of plans, for ensembles of one to nine nodes and many seeds.

mod aim;
mod roles;
mod sides;

use std::collections::BTreeSet;

use super::*;
use crate::cluster::{Node, NodeState, NodeView, Role, Topology, View};
use crate::duration::Span;
use crate::name::Name;
use crate::nemesis::fault::Shape;
use crate::nemesis::target::Roster;

const SEEDS: u64 = 20;

fn topology(count: usize) -> Topology {
    let node = |number: usize| Node {
        name: format!("zookeeper{number}").into(),
        role: Role::Zookeeper,
        address: [10, 0, 0, number as u8].into(),
    };
    Topology { nodes: (1..=count).map(node).collect() }
}

/// All nodes serve, and the one of this number leads.
fn view(topology: &Topology, leader: Option<usize>) -> View {
    let nodes = topology.names().enumerate().map(|(position, name)| {
        let leads = leader == Some(position + 1);
        let state = NodeState::Serving;
        (*name, NodeView { leads, ..NodeView::new(Role::Zookeeper, state, String::new()) })
    });
    View { nodes: nodes.collect() }
}

/// A fault as its file says it.
fn fault(yaml: &str) -> Fault {
    serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"))
}

fn partition(shape: Shape) -> Fault {
    let mut fault = Fault::new(FaultKind::Partition);
    fault.shape = Some(shape);
    fault.lasts = Span::seconds(1);
    fault
}

fn plan(fault: &Fault, nodes: usize, leader: Option<usize>, seed: u64) -> Result<Plan, String> {
    let topology = topology(nodes);
    plan_at(fault, &topology, &view(&topology, leader), seed)
}

fn plan_at(fault: &Fault, topology: &Topology, view: &View, seed: u64) -> Result<Plan, String> {
    let roster = Roster { topology, leader: Role::Zookeeper };
    let moment = Moment { roster, view, cause: None, session: None };
    fault.plan(FaultId(1), &moment, &mut Rng::from_seed(seed))
}

fn node(number: usize) -> NodeName {
    Name::from(format!("zookeeper{number}").as_str())
}

fn links(pairs: &[(&str, &str)]) -> BTreeSet<Link> {
    pairs.iter().map(|(from, to)| Link { from: Name::from(*from), to: Name::from(*to) }).collect()
}

fn cut(plan: &Plan) -> &BTreeSet<Link> {
    match &plan.actions[..] {
        [Action::Cut { links, .. }] => links,
        other => panic!("expected one cut, found {other:?}"),
    }
}
