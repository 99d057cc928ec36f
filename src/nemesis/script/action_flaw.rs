//! What is wrong with one action of a schedule: nodes, ports and protocols that are not there, numbers
//! that make no sense.

use std::collections::BTreeSet;

use super::flaw::Flaw;
use crate::cluster::{
    Action, CLIENTS, Effect, Form, Link, Manner, MessageRule, Refusal, Tap, Topology, Toxic,
};
use crate::nemesis::needs::{port_flaw, tap_flaw};
use crate::op::NodeName;

pub fn check_action(action: &Action, topology: &Topology) -> Result<(), Flaw> {
    match action {
        Action::Cut { links, manner, .. } => {
            check_links(links, topology)?;
            check_manner(links, *manner, topology)
        }
        Action::Sever { links, port } => {
            check_links(links, topology)?;
            port.and_then(|port| port_flaw(port, topology)).map_or(Ok(()), Err)
        }
        Action::Throttle { links, bytes_per_second, .. } => {
            check_links(links, topology)?;
            at_least_one(*bytes_per_second, "bytes_per_second")
        }
        Action::Interpose { taps, effect, .. } => check_interposer(taps, effect, topology),
        Action::Skew { node, by_ns, .. } => {
            check_node(node, topology)?;
            match by_ns {
                0 => Err(("by_ns", "expected a jump, found 0".into())),
                _ => Ok(()),
            }
        }
        other => super::nodes(other).iter().try_for_each(|node| check_node(node, topology)),
    }
}

fn check_node(node: &NodeName, topology: &Topology) -> Result<(), Flaw> {
    match topology.node(node) {
        Some(_) => Ok(()),
        None => Err(("node", no_node(node, topology))),
    }
}

pub fn no_node(node: &NodeName, topology: &Topology) -> String {
    let names: Vec<String> = topology.names().map(ToString::to_string).collect();
    format!("the topology has no `{node}`; expected one of {}", names.join(", "))
}

fn check_links(links: &BTreeSet<Link>, topology: &Topology) -> Result<(), Flaw> {
    if links.is_empty() {
        return Err(("links", "expected at least one".into()));
    }
    for Link { from, to } in links {
        for (field, end) in [("from", from), ("to", to)] {
            if &**end != CLIENTS && topology.node(end).is_none() {
                return Err((field, format!("{} or {CLIENTS}", no_node(end, topology))));
            }
        }
        if from == to {
            return Err(("to", format!("a link needs two ends, found {from} twice")));
        }
    }
    Ok(())
}

fn check_manner(links: &BTreeSet<Link>, manner: Manner, topology: &Topology) -> Result<(), Flaw> {
    let meets_clients = links.iter().any(|link| [&*link.from, &*link.to].contains(&CLIENTS));
    if meets_clients && manner.refusal == Refusal::Reset {
        let message = "links to clients cannot be refused with reset; expected drop";
        return Err(("refusal", message.into()));
    }
    manner.port.and_then(|port| port_flaw(port, topology)).map_or(Ok(()), Err)
}

fn check_interposer(
    taps: &BTreeSet<Tap>,
    effect: &Effect,
    topology: &Topology,
) -> Result<(), Flaw> {
    if taps.is_empty() {
        return Err(("taps", "expected at least one".into()));
    }
    let pattern = match effect {
        Effect::Message(rule) => {
            check_rule(rule)?;
            Some(&rule.pattern)
        }
        Effect::Toxic(toxic) => {
            check_toxic(*toxic)?;
            None
        }
    };
    for tap in taps {
        check_node(&tap.node, topology)?;
        let is_absent = |peer: &&NodeName| &***peer != CLIENTS && topology.node(peer).is_none();
        if let Some(peer) = tap.peers.iter().find(is_absent) {
            return Err(("peers", format!("{} or {CLIENTS}", no_node(peer, topology))));
        }
        if let Some(flaw) = tap_flaw(tap, pattern, topology) {
            return Err(flaw);
        }
    }
    Ok(())
}

fn check_rule(rule: &MessageRule) -> Result<(), Flaw> {
    at_least_one(rule.nth, "nth")?;
    at_least_one(rule.times.unwrap_or(1), "times")?;
    match rule.form {
        Form::Watch => Err(("form", "a watched message is no fault; expected another form".into())),
        Form::Delay if rule.delay.is_none() => {
            Err(("delay", "the form `delay` needs how late the reply comes".into()))
        }
        _ => Ok(()),
    }
}

fn check_toxic(toxic: Toxic) -> Result<(), Flaw> {
    match toxic {
        Toxic::Bandwidth { bytes_per_second } => at_least_one(bytes_per_second, "bytes_per_second"),
        Toxic::Slicer { bytes, .. } => at_least_one(u64::from(bytes), "bytes"),
        Toxic::Latency { .. } | Toxic::Reset { .. } => Ok(()),
    }
}

fn at_least_one(number: u64, field: &'static str) -> Result<(), Flaw> {
    if number > 0 { Ok(()) } else { Err((field, "expected 1 or more, found 0".into())) }
}
