//! What nodes said of themselves, view by view.

use std::collections::BTreeSet;

use super::slots::Slots;
use crate::cluster::{NodeState, Role, View};
use crate::history::History;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{Nanos, NodeName, SECOND};

/// What a node says in a view may be older than the view by this much: some may not answer at once.
pub(super) const VIEW_TAKES: Nanos = 5 * SECOND;

/// One data node in one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Seen {
    pub time: Nanos,
    /// Until then it surely said the same: in main and recover a new view is recorded if it differs.
    pub until: Nanos,
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
        for event in history.events() {
            let record = FaultRecord::of(event);
            let ends = matches!(record, Some(FaultRecord::View { .. } | FaultRecord::Phase { .. }));
            if ends && watched {
                let until = event.time.saturating_sub(VIEW_TAKES);
                views.data[last..].iter_mut().for_each(|seen| seen.until = seen.until.max(until));
            }
            match record {
                Some(FaultRecord::Phase { phase }) => {
                    watched = matches!(phase, Phase::Main | Phase::Recover);
                    // What was seen before is not looked at again under the new phase's name.
                    last = views.data.len();
                }
                Some(FaultRecord::View { view }) => {
                    last = views.data.len();
                    views.take_in(event.time, view);
                }
                _ => {}
            }
        }
        views
    }

    fn take_in(&mut self, time: Nanos, view: View) {
        let mut leaders = BTreeSet::new();
        for (name, node) in view.nodes {
            match node.role {
                Role::Kvrocks => self.data.push(Seen {
                    time,
                    until: time,
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

    /// The last version of the topology that a node admitted by then.
    pub fn version_of(&self, node: &NodeName, by: Nanos) -> Option<u64> {
        let known = self.data.iter().take_while(|seen| seen.time <= by);
        known.filter(|seen| seen.node == *node).filter_map(|seen| seen.version).last()
    }

    /// When a node was first seen to know a version of the topology, or a later one.
    pub fn learned(&self, node: &NodeName, version: u64) -> Option<Nanos> {
        let knows = |seen: &&Seen| seen.node == *node && seen.version >= Some(version);
        self.data.iter().find(knows).map(|seen| seen.time)
    }
}
