//! A schedule as data: what was done to whom and when, so that it can be done again exactly.

mod action_flaw;
mod flaw;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};

use crate::cluster::{Action, Applied, CLIENTS, FaultId, Needs};
use crate::duration::Span;
use crate::history::History;
use crate::nemesis::needs::needs_of_actions;
use crate::nemesis::record::{FaultRecord, Phase};
use crate::op::NodeName;

/// Faults with their nodes and times settled, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub entries: Vec<ScriptEntry>,
}

/// One fault: what is done at `at`, and taken back at `until`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptEntry {
    /// The name under which it is judged and reported.
    pub nemesis: String,
    /// From the start of the main phase.
    pub at: Span,
    /// Nothing of momentary faults; of others, until the heal where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// The nodes singled out; all that the actions name where absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NodeName>,
    #[serde(serialize_with = "as_plain_data")]
    pub actions: Vec<Action>,
}

/// Without YAML's tags, which are lost on the way back through a tagged action.
fn as_plain_data<S: Serializer>(actions: &[Action], serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(actions).map_err(S::Error::custom)?.serialize(serializer)
}

impl Script {
    /// What was really done in a run: actions that were skipped are left out, and faults of nothing
    /// but such actions.
    pub fn of(history: &History) -> Script {
        let mut script = Script::default();
        let mut open: BTreeMap<FaultId, usize> = BTreeMap::new();
        let mut is_main = true;
        for event in history.events() {
            let time = Span(std::time::Duration::from_nanos(event.time));
            match FaultRecord::of(event) {
                Some(FaultRecord::Phase { phase }) => is_main = phase == Phase::Main,
                Some(FaultRecord::Begin { fault, targets, actions }) => {
                    open.insert(fault, script.entries.len());
                    let nemesis = event.f.to_string();
                    script.entries.push(ScriptEntry {
                        nemesis,
                        at: time,
                        until: None,
                        targets,
                        actions,
                    });
                }
                Some(FaultRecord::Began { fault, deeds }) => {
                    if let Some(position) = open.get(&fault) {
                        let done = deeds
                            .into_iter()
                            .filter(|deed| !matches!(deed.outcome, Applied::Skipped { .. }));
                        script.entries[*position].actions = done.map(|deed| deed.action).collect();
                    }
                }
                Some(FaultRecord::End { fault, .. }) if is_main => {
                    if let Some(entry) = open.get(&fault).map(|at| &mut script.entries[*at]) {
                        entry.until = (!entry.is_momentary()).then_some(time);
                    }
                }
                _ => {}
            }
        }
        script.entries.retain(|entry| !entry.actions.is_empty());
        script
    }

    /// What it needs of a world.
    pub fn needs(&self) -> Needs {
        needs_of_actions(
            self.entries.iter().flat_map(|entry| {
                entry.actions.iter().map(|action| (entry.nemesis.as_str(), action))
            }),
        )
    }

    /// The names of its nemeses, each once, with the nodes that they are aimed at, for people.
    pub fn nemeses(&self) -> Vec<(String, String)> {
        let mut order: Vec<&str> = Vec::new();
        let mut nodes: BTreeMap<&str, BTreeSet<NodeName>> = BTreeMap::new();
        for entry in &self.entries {
            if !order.contains(&entry.nemesis.as_str()) {
                order.push(&entry.nemesis);
            }
            nodes.entry(&entry.nemesis).or_default().extend(entry.targets());
        }
        let aim = |name: &str| {
            let names: Vec<String> = nodes[name].iter().map(ToString::to_string).collect();
            (name.to_owned(), names.join(" "))
        };
        order.into_iter().map(aim).collect()
    }
}

impl ScriptEntry {
    /// Its actions as those of this fault.
    pub fn actions_of(&self, id: FaultId) -> Vec<Action> {
        let mut actions = self.actions.clone();
        for action in &mut actions {
            match action {
                Action::Cut { fault, .. }
                | Action::Join { fault, .. }
                | Action::Throttle { fault, .. }
                | Action::Unthrottle { fault, .. }
                | Action::Interpose { fault, .. }
                | Action::Withdraw { fault, .. } => *fault = id,
                _ => {}
            }
        }
        actions
    }

    /// The nodes singled out, in name order where the script does not say.
    pub fn targets(&self) -> Vec<NodeName> {
        match self.targets.is_empty() {
            true => {
                self.actions.iter().flat_map(nodes).collect::<BTreeSet<_>>().into_iter().collect()
            }
            false => self.targets.clone(),
        }
    }

    /// There is nothing to take back.
    pub fn is_momentary(&self) -> bool {
        self.actions.iter().all(|action| action.undo().is_none())
    }
}

/// The nodes that an action names; the clients' place is none.
fn nodes(action: &Action) -> BTreeSet<NodeName> {
    let mut nodes = action.places();
    nodes.retain(|node| &**node != CLIENTS);
    nodes
}
