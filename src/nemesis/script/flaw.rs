//! What is wrong with a schedule that parses: ends without a beginning, two faults on one process.

use std::collections::BTreeSet;

use super::action_flaw::{check_action, no_node};
use super::{Script, ScriptEntry};
use crate::cluster::{Action, Topology};
use crate::duration::Span;
use crate::nemesis::conflict::{Hold, clash};
use crate::op::{Nanos, NodeName};

/// A field, and what was expected of it.
pub(super) type Flaw = (&'static str, String);

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
