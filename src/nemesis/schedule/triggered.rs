//! A fault that begins when something happens: an event that a lookout or a watch tells, an operation's
//! end, a change of the view, a phase.

use std::collections::{BTreeMap, VecDeque};

use crate::cluster::{NodeState, View};
use crate::nemesis::record::Phase;
use crate::nemesis::trigger::{ViewChange, When};
use crate::op::{Event, Kind, Nanos, NodeName};

/// What made a fault begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub by: String,
    /// When it happened, as far as known.
    pub happened: Nanos,
    /// When the run learned of it.
    pub learned: Nanos,
}

pub struct Triggered {
    when: When,
    /// Events before this time do not count.
    after: Nanos,
    left: u32,
    due: VecDeque<(Nanos, Cause)>,
    last_view: Option<View>,
}

impl Triggered {
    pub fn new(when: &When, after: Nanos) -> Triggered {
        let left = when.times.limit();
        Triggered { when: when.clone(), after, left, due: VecDeque::new(), last_view: None }
    }

    pub fn wants_views(&self) -> bool {
        self.when.view.is_some() && self.left > 0
    }

    /// Events beyond the count that was asked for are forgotten.
    pub fn fire(&mut self, cause: Cause) {
        if self.left > 0 && cause.learned >= self.after {
            self.left -= 1;
            self.due.push_back((cause.learned.saturating_add(self.when.then.nanos()), cause));
        }
    }

    pub fn begins_at(&self) -> Option<Nanos> {
        self.due.front().map(|(at, _)| *at)
    }

    pub fn begun(&mut self) -> Option<Cause> {
        self.due.pop_front().map(|(_, cause)| cause)
    }

    fn fire_now(&mut self, now: Nanos, by: String) {
        self.fire(Cause { by, happened: now, learned: now });
    }

    pub fn observe_client(&mut self, event: &Event) {
        let named = self.when.f.as_ref().is_none_or(|f| **f == *event.f);
        if event.kind != Kind::Invoke && self.when.outcome == Some(event.kind) && named {
            let by = format!("{} of process {}: {}", event.f, event.process, event.kind.name());
            self.fire_now(event.time, by);
        }
    }

    pub fn observe_phase(&mut self, now: Nanos, phase: Phase) {
        if self.when.phase == Some(phase) {
            self.fire_now(now, format!("phase {}", phase.name()));
        }
    }

    /// The first view is where changes start from.
    pub fn observe_view(&mut self, now: Nanos, view: &View) {
        let Some(change) = self.when.view else { return };
        let changed = match (&self.last_view, change) {
            (None, _) => None,
            (Some(last), ViewChange::Leader) => new_leader(last, view),
            (Some(last), ViewChange::State) => new_state(last, view),
        };
        self.last_view = Some(view.clone());
        if let Some(by) = changed {
            self.fire_now(now, by);
        }
    }
}

fn new_leader(last: &View, view: &View) -> Option<String> {
    let reigns = |view: &View| -> BTreeMap<NodeName, Option<u64>> {
        let leaders = view.nodes.iter().filter(|(_, node)| node.leads);
        leaders.map(|(name, node)| (*name, node.epoch)).collect()
    };
    let before = reigns(last);
    let (name, epoch) =
        reigns(view).into_iter().find(|(name, epoch)| before.get(name) != Some(epoch))?;
    let epoch = epoch.map_or(String::new(), |epoch| format!(" in epoch {epoch}"));
    Some(format!("{name} leads{epoch}"))
}

fn new_state(last: &View, view: &View) -> Option<String> {
    let state = |state| match state {
        NodeState::Serving => "serving",
        NodeState::Running => "running",
        NodeState::Paused => "paused",
        NodeState::Down => "down",
    };
    let changed = view.nodes.iter().find(|(name, node)| {
        last.nodes.get(*name).is_some_and(|before| before.state != node.state)
    });
    changed.map(|(name, node)| format!("{name} is {}", state(node.state)))
}
