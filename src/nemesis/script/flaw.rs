//! What is wrong with a schedule that parses: nodes that are not there, ends without a beginning,
//! two faults on one process.

use std::collections::BTreeSet;

use super::{Script, ScriptEntry};
use crate::cluster::{
    Action, CLIENTS, Effect, Form, Link, Manner, MessageRule, Refusal, Tap, Topology, Toxic,
};
use crate::duration::Span;
use crate::nemesis::conflict::{Hold, clash};
use crate::nemesis::needs::{port_flaw, tap_flaw};
use crate::op::{Nanos, NodeName};

/// A field, and what was expected of it.
type Flaw = (&'static str, String);

impl Script {
    /// The first flaw: the position of its entry, the field, and what was expected.
    pub fn flaw(&self, topology: &Topology) -> Option<(usize, Flaw)> {
        let alone = |(position, entry): (usize, &ScriptEntry)| {
            Some((position, self.check(position, entry, topology).err()?))
        };
        self.entries.iter().enumerate().find_map(alone).or_else(|| self.contradiction())
    }

    fn check(&self, position: usize, entry: &ScriptEntry, topology: &Topology) -> Result<(), Flaw> {
        let absent = entry.targets.iter().find(|name| topology.node(name).is_none());
        if let Some(name) = absent {
            return Err(("targets", no_node(name, topology)));
        }
        if entry.actions.is_empty() {
            return Err(("actions", "expected at least one".into()));
        }
        for action in &entry.actions {
            self.check_direction(position, entry, action)?;
            check_action(action, topology)?;
        }
        check_end(entry)?;
        let mut held = BTreeSet::new();
        match held_nodes(entry).find(|node| !held.insert(*node)) {
            Some(node) => {
                Err(("actions", format!("{node} is acted on twice; one action is enough")))
            }
            None => Ok(()),
        }
    }

    /// Only what begins something may stand here; what is taken back follows from `until`.
    fn check_direction(
        &self,
        position: usize,
        entry: &ScriptEntry,
        action: &Action,
    ) -> Result<(), Flaw> {
        let (node, undone): (Option<&NodeName>, &str) = match action {
            Action::Start { node } => (Some(node), "kill` or `stop"),
            Action::Resume { node } => (Some(node), "pause"),
            Action::Join { .. } => (None, "cut"),
            Action::Unthrottle { .. } => (None, "throttle"),
            Action::Withdraw { .. } => (None, "interpose"),
            Action::Unskew { .. } => (None, "skew"),
            _ => return Ok(()),
        };
        let at = entry.at.nanos();
        let holds = |hold: &Hold| {
            Some(&hold.node) == node && hold.whose != position && hold.from <= at && at < hold.until
        };
        let name = action.name();
        let message = match self.holds().into_iter().find(holds) {
            Some(hold) => format!(
                "`{name}` of {} at {}, which {}; end that by its own `until`",
                hold.node,
                entry.at,
                self.told(&hold)
            ),
            None => format!("`{name}` only takes back; give the `{undone}` an `until` instead"),
        };
        Err(("actions", message))
    }

    fn contradiction(&self) -> Option<(usize, Flaw)> {
        let (first, second) = clash(self.holds())?;
        let entry = &self.entries[second.whose];
        let message = format!(
            "acts on {} at {}, which {}; choose another node or time",
            second.node,
            entry.at,
            self.told(&first)
        );
        Some((second.whose, ("actions", message)))
    }

    fn told(&self, hold: &Hold) -> String {
        let entry = &self.entries[hold.whose];
        let until = entry.until.map_or("the heal".to_owned(), |until| until.to_string());
        let number = hold.whose + 1;
        format!("entry {number} (`{}`) holds from {} until {until}", entry.nemesis, entry.at)
    }

    fn holds(&self) -> Vec<Hold> {
        let mut holds = Vec::new();
        for (whose, entry) in self.entries.iter().enumerate() {
            let from = entry.at.nanos();
            let until = match entry.is_momentary() {
                true => from,
                false => entry.until.map_or(Nanos::MAX, Span::nanos),
            };
            holds.extend(held_nodes(entry).map(|node| Hold { node, from, until, whose }));
        }
        holds
    }
}

/// The nodes whose processes an entry acts on.
fn held_nodes(entry: &ScriptEntry) -> impl Iterator<Item = NodeName> {
    entry.actions.iter().filter_map(|action| match action {
        Action::Kill { node }
        | Action::Stop { node }
        | Action::Pause { node }
        | Action::Crash { node } => Some(*node),
        _ => None,
    })
}

fn check_end(entry: &ScriptEntry) -> Result<(), Flaw> {
    match entry.until {
        Some(_) if entry.is_momentary() => {
            Err(("until", "these actions are over at once; leave it out".into()))
        }
        Some(until) if until <= entry.at => {
            Err(("until", format!("expected a time after `at` ({}), found {until}", entry.at)))
        }
        _ => Ok(()),
    }
}

fn check_action(action: &Action, topology: &Topology) -> Result<(), Flaw> {
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

fn no_node(node: &NodeName, topology: &Topology) -> String {
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
