//! What faults ask of a world, known before it starts: interposers, lookouts, mechanisms. Every node
//! that a target could be resolved to counts.

mod wire;

use std::collections::BTreeSet;

pub use wire::{fault_flaw, port_flaw, tap_flaw};

use crate::cluster::{
    Action, Lookout, LookoutId, Mechanism, Needs, Pattern, Refusal, Sight, Tap, Topology,
};
use crate::nemesis::fault::{Fault, FaultKind};
use crate::nemesis::plan::tap;
use crate::nemesis::target::{NamedLink, Roster, Target};
use crate::nemesis::trigger::{Sought, When};
use crate::op::NodeName;

/// A fault of a scenario, for [`needs`].
pub struct Asker<'a> {
    pub nemesis: &'a str,
    pub fault: &'a Fault,
    /// It is one of several that are drawn, so a world that lacks its mechanism can do without it.
    pub is_optional: bool,
}

/// What these faults need. Lookouts are numbered by the faults' positions, from 1.
pub fn needs<'a>(faults: impl IntoIterator<Item = Asker<'a>>, roster: Roster) -> Needs {
    let mut needs = Needs::default();
    for (position, Asker { nemesis, fault, is_optional }) in faults.into_iter().enumerate() {
        needs.taps.extend(possible_taps(fault, roster));
        if let Some(sight) = fault.when.as_ref().and_then(|when| sight(when, roster)) {
            if let Sight::Message { taps, .. } = &sight {
                needs.taps.extend(taps.iter().cloned());
            }
            let id = LookoutId(u32::try_from(position + 1).unwrap_or(u32::MAX));
            needs.lookouts.push(Lookout { id, sight });
        }
        match is_optional {
            true => needs.optional.extend(fault.mechanisms(roster.leader)),
            false => {
                let mechanisms = fault.mechanisms(roster.leader).into_iter();
                mechanisms.for_each(|one| ask(&mut needs, one, nemesis));
            }
        }
        needs.supervised |= fault.fault == FaultKind::Crash;
    }
    needs
}

/// What these actions need, each told with the name of a nemesis.
pub fn needs_of_actions<'a>(actions: impl IntoIterator<Item = (&'a str, &'a Action)>) -> Needs {
    let mut needs = Needs::default();
    for (nemesis, action) in actions {
        if let Action::Interpose { taps, .. } = action {
            needs.taps.extend(taps.iter().cloned());
        }
        if let Some(mechanism) = mechanism(action) {
            ask(&mut needs, mechanism, nemesis);
        }
        needs.supervised |= matches!(action, Action::Crash { .. });
    }
    needs
}

fn ask(needs: &mut Needs, mechanism: Mechanism, nemesis: &str) {
    if !needs.mechanisms.iter().any(|(known, _)| *known == mechanism) {
        needs.mechanisms.push((mechanism, nemesis.to_owned()));
    }
}

fn mechanism(action: &Action) -> Option<Mechanism> {
    match action {
        Action::Cut { manner, .. } | Action::Join { manner, .. } => Some(match manner.refusal {
            Refusal::Drop => Mechanism::BridgeTables,
            Refusal::Reset => Mechanism::Reject,
        }),
        Action::Pause { .. } | Action::Resume { .. } => Some(Mechanism::Freeze),
        Action::Sever { .. } => Some(Mechanism::CloseSockets),
        Action::Throttle { .. } | Action::Unthrottle { .. } => Some(Mechanism::Shape),
        Action::Interpose { .. } | Action::Withdraw { .. } => Some(Mechanism::Redirect),
        Action::Skew { .. } | Action::Unskew { .. } => Some(Mechanism::Trace),
        Action::Kill { .. }
        | Action::Stop { .. }
        | Action::Start { .. }
        | Action::Crash { .. }
        | Action::Expire { .. } => None,
    }
}

/// Every tap at which a fault could arm an interposer.
pub fn possible_taps(fault: &Fault, roster: Roster) -> BTreeSet<Tap> {
    let topology = roster.topology;
    match (fault.fault, &fault.link, &fault.target) {
        (FaultKind::Message | FaultKind::Toxic, Some(link), _) => {
            tap::on_links(fault.port, possible_links(fault, link, roster), topology)
        }
        (FaultKind::Message | FaultKind::Toxic, None, Some(target)) => {
            tap::at_nodes(fault.port, fault.pool(target, roster), topology)
        }
        _ => BTreeSet::new(),
    }
}

/// What a trigger has to be looked out for; `None` for events that the run loop sees by itself.
fn sight(when: &When, roster: Roster) -> Option<Sight> {
    let nodes = watched_nodes(when, roster);
    match (&when.log, &when.message) {
        (Some(pattern), _) => {
            Some(Sight::Log { nodes: nodes.into_iter().collect(), pattern: pattern.clone() })
        }
        (None, Some(Sought::Request(pattern))) => Some(Sight::Message {
            taps: watched_taps(nodes, pattern, roster.topology),
            pattern: pattern.clone(),
        }),
        _ => None,
    }
}

/// A request is watched where clients are served in its protocol.
fn watched_taps(nodes: Vec<NodeName>, pattern: &Pattern, topology: &Topology) -> BTreeSet<Tap> {
    let speaks = |name: &NodeName| {
        topology.node(name).is_some_and(|node| node.role.client_port().1 == pattern.protocol)
    };
    tap::at_nodes(None, nodes.into_iter().filter(speaks), topology)
}

/// Where a trigger looks out.
pub fn watched_nodes(when: &When, roster: Roster) -> Vec<NodeName> {
    roster.pool(when.node.as_ref().unwrap_or(&Target::ALL), |_| true)
}

fn possible_links(fault: &Fault, link: &NamedLink, roster: Roster) -> Vec<(NodeName, NodeName)> {
    let (from, to) = (fault.pool(&link.from, roster), fault.pool(&link.to, roster));
    let mut links = Vec::new();
    for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
        if from != to {
            links.push((from, to));
            links.extend(link.both_ways.then_some((to, from)));
        }
    }
    links
}

#[cfg(test)]
mod tests;
