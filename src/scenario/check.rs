//! What a scenario's faults ask for, held against its topology before anything is started.

use std::net::Ipv4Addr;

use super::{NamedFault, Scenario, ScenarioError};
use crate::cluster::{FaultId, Needs, Node, NodeState, NodeView, Topology, View};
use crate::nemesis::{
    Asker, Cause, Fault, FaultKind, Hold, Moment, Order, Roster, Sought, Target, When, clash,
    fault_flaw, needs, watched_nodes,
};
use crate::op::NodeName;
use crate::rng::Rng;

impl Scenario {
    /// The nodes that this scenario will have, in topology order, at addresses not known yet.
    pub fn topology(&self) -> Topology {
        let mut nodes = Vec::new();
        for (role, count) in &self.workload.services {
            nodes.extend((1..=*count).map(|number| Node {
                name: format!("{role}{number}").into(),
                role: *role,
                address: Ipv4Addr::UNSPECIFIED,
            }));
        }
        Topology { nodes }
    }

    /// All that its faults, or its schedule, ask of a world. Lookouts are numbered by the positions of
    /// the faults, from 1; mechanisms of faults that are drawn at random can be done without.
    pub fn needs(&self) -> Needs {
        let is_random = |nemesis: &str| {
            self.turns.get(nemesis).is_some_and(|turns| turns.order == Order::Random)
        };
        let asker = |named: &'_ NamedFault| is_random(&named.nemesis);
        match &self.script {
            Some(script) => script.needs(),
            None => needs(
                self.faults.iter().map(|named| Asker {
                    nemesis: &named.nemesis,
                    fault: &named.fault,
                    is_optional: asker(named),
                }),
                self.roster(&self.topology()),
            ),
        }
    }

    /// Its nodes, and whose leader `leader` means among them.
    fn roster<'a>(&self, topology: &'a Topology) -> Roster<'a> {
        Roster { topology, leader: self.workload.leader }
    }

    /// The workload's own message, for faults and triggers that leave it to the workload.
    pub(super) fn fill_in_messages(&mut self) -> Result<(), ScenarioError> {
        for NamedFault { nemesis, fault } in &mut self.faults {
            let lacks = fault.fault == FaultKind::Message && fault.message.is_none();
            let sought = fault.when.as_mut().and_then(|when| when.message.as_mut());
            let waits = sought.as_deref() == Some(&Sought::Workload);
            if !lacks && !waits {
                continue;
            }
            let Some(message) = &self.workload.message else {
                let message = format!(
                    "it hits the workload's own `message`, and {} has none; name one in the fault, \
                     such as `message: zookeeper set /sg/*`, or in the workload",
                    self.name
                );
                return Err(ScenarioError::Aim { nemesis: nemesis.clone(), message });
            };
            if lacks {
                fault.message = Some(message.clone());
            }
            if let Some(sought) = sought.filter(|_| waits) {
                *sought = Sought::Request(message.clone());
            }
        }
        Ok(())
    }

    /// What can be known to be wrong before the start.
    pub(super) fn check_faults(&self) -> Result<(), ScenarioError> {
        let topology = self.topology();
        let roster = self.roster(&topology);
        for NamedFault { nemesis, fault } in &self.faults {
            if let Some(target) = absent(fault, &topology) {
                return Err(ScenarioError::Target {
                    nemesis: nemesis.clone(),
                    target: target.to_string(),
                    workload: self.name.clone(),
                    nodes: names(&topology),
                });
            }
            let aim = |message| ScenarioError::Aim { nemesis: nemesis.clone(), message };
            if let Some((field, message)) = fault_flaw(fault, roster) {
                return Err(aim(format!("field `{field}`: {message}")));
            }
            if let Err(why) = plan_in_health(fault, roster) {
                return Err(aim(format!(
                    "it can never act on the nodes of {} ({}): {why}; choose another nemesis or aim, or \
                     change their number with --nodes",
                    self.name,
                    names(&topology)
                )));
            }
        }
        self.check_contradictions(roster)
    }

    /// Two faults that go by the clock and want the same process at the same time.
    fn check_contradictions(&self, roster: Roster) -> Result<(), ScenarioError> {
        let end = self.workload.time.nanos();
        let has_clock = |named: &NamedFault| !self.turns.contains_key(&named.nemesis);
        let clocked = self.faults.iter().enumerate().filter(|(_, named)| has_clock(named));
        let holds = clocked.flat_map(|(position, named)| named.fault.holds(position, roster, end));
        match clash(holds.collect()) {
            None => Ok(()),
            Some((first, second)) => Err(self.contradiction(&first, &second)),
        }
    }

    fn contradiction(&self, first: &Hold, second: &Hold) -> ScenarioError {
        let told = |hold: &Hold| {
            let NamedFault { nemesis, fault } = &self.faults[hold.whose];
            let from = crate::duration::Span(std::time::Duration::from_nanos(hold.from));
            let length = match fault.fault.is_momentary() {
                true => format!("at {from}"),
                false => format!("from {from} for {}", fault.lasts),
            };
            format!("`{nemesis}` ({} {length})", fault.fault.name())
        };
        let message = format!(
            "{} and {} want {} at the same time; aim one of them elsewhere, or give them times that do \
             not overlap",
            told(first),
            told(second),
            first.node
        );
        ScenarioError::Aim { nemesis: self.nemesis.clone(), message }
    }
}

fn names(topology: &Topology) -> String {
    topology.names().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A node or role that a fault or its trigger names and that is not there.
fn absent<'a>(fault: &'a Fault, topology: &Topology) -> Option<&'a Target> {
    let watched = fault.when.iter().filter_map(|when| when.node.as_ref());
    let mut named = fault.aims().chain(watched);
    named.find(|target| match target {
        Target::Node(name) => topology.node(name).is_none(),
        Target::Of(_, Some(role)) => topology.with_role(*role).next().is_none(),
        _ => false,
    })
}

/// A fault that cannot be planned while all nodes serve and lead as they should can never be planned.
fn plan_in_health(fault: &Fault, roster: Roster) -> Result<(), String> {
    let topology = roster.topology;
    let seen = |node: &Node| {
        let leads = leads_in_health(node, topology);
        (node.name, NodeView { leads, ..NodeView::new(node.role, NodeState::Serving, "") })
    };
    let view = View { nodes: topology.nodes.iter().map(seen).collect() };
    let cause = fault.when.as_ref().map(|when| cause_in_health(when, roster));
    let moment = Moment { roster, view: &view, cause: cause.as_ref(), session: Some(1) };
    fault.plan(FaultId(1), &moment, &mut Rng::from_seed(0)).map(|_| ())
}

/// Of data nodes every other one is a master, of others the first one leads.
fn leads_in_health(node: &Node, topology: &Topology) -> bool {
    let mut own = topology.with_role(node.role);
    match node.role.elects() {
        true => own.next() == Some(node),
        false => own.position(|other| other == node).is_some_and(|at| at.is_multiple_of(2)),
    }
}

/// An event at one of the nodes that a trigger watches; of messages, sent by another node, best by one
/// of the same role that leads.
fn cause_in_health(when: &When, roster: Roster) -> Cause {
    let watched = watched_nodes(when, roster);
    let hears = |name: &NodeName| match (&when.message, roster.role_of(name)) {
        (Some(Sought::Request(pattern)), Some(role)) => role.client_port().1 == pattern.protocol,
        _ => true,
    };
    let node = watched.into_iter().find(hears);
    let own = node.and_then(|name| roster.role_of(&name));
    let others = roster.topology.nodes.iter().filter(|other| Some(other.name) != node);
    let peer = others
        .min_by_key(|other| (Some(other.role) != own, !leads_in_health(other, roster.topology)));
    Cause { sender: peer.map(|peer| peer.name), ..Cause::now(0, "").at(node) }
}
