//! Who led the controllers, and for how long no fault kept it from its work.

use std::collections::BTreeMap;

use super::super::evidence::Calm;
use crate::cluster::Role;
use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Nanos, NodeName};

/// One controller led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reign {
    pub leader: NodeName,
    pub from: Nanos,
    pub until: Nanos,
}

impl Reign {
    /// The part of it that lies within a stretch of time.
    pub fn within(&self, from: Nanos, until: Nanos) -> Option<Reign> {
        let part = Reign { from: self.from.max(from), until: self.until.min(until), ..*self };
        (part.from < part.until).then_some(part)
    }
}

/// In order of their beginning. A reign ends when views no longer show it, or when its leader is struck.
pub(super) fn reigns(history: &History, calm: &Calm) -> Vec<Reign> {
    let mut open: BTreeMap<(NodeName, Option<u64>), Nanos> = BTreeMap::new();
    let (mut reigns, mut end) = (Vec::new(), 0);
    for event in history.events() {
        end = event.time.max(end);
        let Some(FaultRecord::View { view }) = FaultRecord::of(event) else { continue };
        let leaders = view.leaders(Role::Controller).map(|name| (*name, view.nodes[name].epoch));
        let leaders: Vec<_> = leaders.collect();
        open.retain(|key, from| {
            let goes_on = leaders.contains(key);
            if !goes_on {
                reigns.push(Reign { leader: key.0, from: *from, until: event.time });
            }
            goes_on
        });
        for key in leaders {
            open.entry(key).or_insert(event.time);
        }
    }
    let rest = open.into_iter().map(|((leader, _), from)| Reign { leader, from, until: end });
    reigns.extend(rest);
    reigns.sort_by_key(|reign| (reign.from, reign.leader));
    reigns.into_iter().filter_map(|reign| untouched(reign, calm)).collect()
}

/// Up to the first fault that touches the leader.
fn untouched(reign: Reign, calm: &Calm) -> Option<Reign> {
    let own = calm
        .strikes
        .iter()
        .filter(|strike| strike.places.contains(&reign.leader) && strike.until > reign.from);
    let until = own.map(|strike| strike.from).min().map_or(reign.until, |at| at.min(reign.until));
    (until > reign.from).then_some(Reign { until, ..reign })
}
