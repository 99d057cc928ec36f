//! What nodes said of themselves, view by view.

use std::collections::BTreeSet;

use super::slots::Slots;
use crate::cluster::{NodeState, Role, View};
use crate::history::History;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{Nanos, NodeName, SECOND};

/// What a node says in a view may be older than the view by this much: some may not answer at once.
pub(super) const VIEW_TAKES: Nanos = 5 * SECOND;
/// And by this much where all did.
const PROMPT_VIEW_TAKES: Nanos = SECOND / 2;
/// Between two prompt views in turn pass no more than this and their own time.
const LOOK_EVERY: Nanos = SECOND / 2;

/// One data node in one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Seen {
    pub time: Nanos,
    /// It was asked after this moment.
    pub asked: Nanos,
    /// Until then it surely said the same: in main and recover a new view is recorded if it differs.
    pub until: Nanos,
    /// The same where both views were prompt.
    pub steady: Nanos,
    pub node: NodeName,
    pub state: NodeState,
    /// It said that it was a master.
    pub leads: bool,
    /// The version of the topology that it went by.
    pub version: Option<u64>,
    /// The slots that it said it owned.
    pub slots: Option<Slots>,
}

/// Who led, and in which epoch.
type Leaders = BTreeSet<(NodeName, Option<u64>)>;

/// All views of data nodes in order of time, and what they show of others.
#[derive(Clone, Debug, Default)]
pub(in crate::checker) struct Views {
    pub data: Vec<Seen>,
    /// Who led the controllers, and in which epoch, from when on.
    pub controllers: Vec<(Nanos, Leaders)>,
    /// Servers of ZooKeeper that were ever seen.
    pub zookeepers: BTreeSet<NodeName>,
}

impl Views {
    pub fn of(history: &History) -> Views {
        let mut views = Views::default();
        let mut watched = false;
        let mut last = 0;
        let mut prompt = false;
        for event in history.events() {
            let record = FaultRecord::of(event);
            let ends = matches!(record, Some(FaultRecord::View { .. } | FaultRecord::Phase { .. }));
            if ends && watched {
                let until = event.time.saturating_sub(VIEW_TAKES);
                let until_now = |time: &mut Nanos, until: Nanos| *time = until.max(*time);
                views.data[last..].iter_mut().for_each(|seen| until_now(&mut seen.until, until));
                if let Some(FaultRecord::View { view }) = &record
                    && prompt
                    && is_prompt(view)
                {
                    let until = event.time.saturating_sub(PROMPT_VIEW_TAKES + LOOK_EVERY);
                    let steady = views.data[last..].iter_mut().map(|seen| &mut seen.steady);
                    steady.for_each(|time| until_now(time, until));
                }
            }
            match record {
                Some(FaultRecord::Phase { phase }) => {
                    watched = matches!(phase, Phase::Main | Phase::Recover);
                    // What was seen before is not looked at again under the new phase's name.
                    last = views.data.len();
                }
                Some(FaultRecord::View { view }) => {
                    last = views.data.len();
                    prompt = is_prompt(&view);
                    views.take_in(event.time, view);
                }
                _ => {}
            }
        }
        views
    }

    fn take_in(&mut self, time: Nanos, view: View) {
        let mut leaders = BTreeSet::new();
        let takes = if is_prompt(&view) { PROMPT_VIEW_TAKES } else { VIEW_TAKES };
        for (name, node) in view.nodes {
            match node.role {
                Role::Kvrocks => self.data.push(Seen {
                    time,
                    asked: time.saturating_sub(takes),
                    until: time,
                    steady: time,
                    node: name,
                    state: node.state,
                    leads: node.leads,
                    version: node.epoch,
                    slots: node.slots.as_deref().and_then(Slots::parse),
                }),
                Role::Controller if node.leads => {
                    leaders.insert((name, node.epoch));
                }
                Role::Controller => {}
                Role::Zookeeper => {
                    self.zookeepers.insert(name);
                }
            }
        }
        if self.controllers.last().map(|(_, last)| last) != Some(&leaders) {
            self.controllers.push((time, leaders));
        }
    }

    /// Whether what a controller reads in ZooKeeper is what was written last: a single server has
    /// no followers that lag.
    pub fn reads_are_current(&self) -> bool {
        self.zookeepers.len() < 2
    }

    /// When a node was first seen to know a version of the topology, or a later one; never, if it was
    /// seen to have forgotten it again.
    pub fn learned(&self, node: &NodeName, version: u64) -> Option<Nanos> {
        let own = self.data.iter().rev().filter(|seen| seen.node == *node);
        let known = own.filter_map(|seen| Some((seen.time, seen.version?)));
        known.take_while(|(_, known)| *known >= version).last().map(|(time, _)| time)
    }

    /// The versions of the topology that a node may have gone by in this stretch of time: the lowest
    /// and the highest, where something tells.
    pub fn versions_of(
        &self,
        node: &NodeName,
        from: Nanos,
        to: Nanos,
    ) -> (Option<u64>, Option<u64>) {
        let own = |seen: &&Seen| seen.node == *node && seen.version.is_some();
        let later = self.data.partition_point(|seen| seen.time <= from);
        let before = self.data[..later].iter().rposition(|seen| own(&seen));
        let mut known = self.data[before.unwrap_or(later)..].iter().filter(own);
        let after = known.find(|seen| seen.asked >= to || seen.steady >= to);
        let before = before.map(|position| &self.data[position]);
        (before.and_then(|seen| seen.version), after.and_then(|seen| seen.version))
    }
}

/// Everybody answered.
fn is_prompt(view: &View) -> bool {
    view.nodes.values().all(|node| node.state == NodeState::Serving)
}
