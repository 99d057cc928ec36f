//! A fault that begins when something happens: an event that a lookout or a watch tells, an operation's
//! end, a change of the view, a phase.

use std::collections::{BTreeMap, VecDeque};

use crate::cluster::{NodeState, NodeView, Role, View};
use crate::nemesis::cause::Cause;
use crate::nemesis::record::Phase;
use crate::nemesis::target::{Pick, Target};
use crate::nemesis::trigger::{ViewChange, When};
use crate::op::{Event, Kind, Nanos, NodeName};

pub struct Triggered {
    when: When,
    /// Whose leader is meant where it names no role.
    leader: Role,
    /// Events before this time do not count.
    after: Nanos,
    left: u32,
    due: VecDeque<(Nanos, Cause)>,
    last_view: Option<View>,
}

impl Triggered {
    pub fn new(when: &When, leader: Role, after: Nanos) -> Triggered {
        let (when, left) = (when.clone(), when.times.limit());
        Triggered { when, leader, after, left, due: VecDeque::new(), last_view: None }
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

    pub fn observe_client(&mut self, event: &Event) {
        let named = self.when.f.as_ref().is_none_or(|f| **f == *event.f);
        if event.kind != Kind::Invoke && self.when.outcome == Some(event.kind) && named {
            let by = format!("{} of process {}: {}", event.f, event.process, event.kind.name());
            let answered = event.route.as_ref().and_then(|route| route.last());
            let node = answered.map(|hop| hop.node).or(event.node);
            self.fire(Cause::now(event.time, by).at(node));
        }
    }

    pub fn observe_phase(&mut self, now: Nanos, phase: Phase) {
        if self.when.phase == Some(phase) {
            self.fire(Cause::now(now, format!("phase {}", phase.name())));
        }
    }

    /// The first view is where changes start from.
    pub fn observe_view(&mut self, now: Nanos, view: &View) {
        let Some(change) = self.when.view else { return };
        let mut view = view.clone();
        view.nodes.retain(|name, node| self.concerns(change, name, node));
        let changed = match (&self.last_view, change) {
            (None, _) => None,
            (Some(last), ViewChange::Leader) => new_leader(last, &view),
            (Some(last), ViewChange::State) => new_state(last, &view),
        };
        self.last_view = Some(view);
        if let Some((node, by)) = changed {
            self.fire(Cause::now(now, by).at(Some(node)));
        }
    }

    /// Leaders of other roles are others' concern.
    fn concerns(&self, change: ViewChange, name: &NodeName, node: &NodeView) -> bool {
        match &self.when.node {
            Some(Target::Node(wanted)) => **name == **wanted,
            Some(Target::Of(Pick::All, Some(role))) => node.role == *role,
            Some(_) => true,
            None => change == ViewChange::State || node.role == self.leader,
        }
    }
}

fn new_leader(last: &View, view: &View) -> Option<(NodeName, String)> {
    let reigns = |view: &View| -> BTreeMap<NodeName, Option<u64>> {
        let leaders = view.nodes.iter().filter(|(_, node)| node.leads);
        leaders.map(|(name, node)| (*name, reign(node))).collect()
    };
    let before = reigns(last);
    let (name, epoch) =
        reigns(view).into_iter().find(|(name, epoch)| before.get(name) != Some(epoch))?;
    let epoch = epoch.map_or(String::new(), |epoch| format!(" in epoch {epoch}"));
    Some((name, format!("{name} leads{epoch}")))
}

/// What tells one time of leading from the next. A master stays the same through all topologies.
fn reign(node: &NodeView) -> Option<u64> {
    node.epoch.filter(|_| node.role.elects())
}

fn new_state(last: &View, view: &View) -> Option<(NodeName, String)> {
    let state = |state| match state {
        NodeState::Serving => "serving",
        NodeState::Running => "running",
        NodeState::Paused => "paused",
        NodeState::Down => "down",
    };
    let changed = view.nodes.iter().find(|(name, node)| {
        last.nodes.get(*name).is_some_and(|before| before.state != node.state)
    });
    changed.map(|(name, node)| (*name, format!("{name} is {}", state(node.state))))
}
