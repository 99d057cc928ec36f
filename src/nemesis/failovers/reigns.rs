//! Reigns, overlaps and elections from a sequence of views.

use std::collections::BTreeMap;

use super::{Office, Overlap, Reign, held_for};
use crate::cluster::{Role, View};
use crate::history::History;
use crate::nemesis::{FaultRecord, Spread};
use crate::op::{Nanos, NodeName};

/// Each role that elects has leaders of its own. A reign lasts from the first view that shows it to the
/// first that does not.
pub(super) fn offices(history: &History) -> Vec<Office> {
    let end = history.events().iter().map(|event| event.time).max().unwrap_or(0);
    let mut watches: BTreeMap<Role, Watch> = BTreeMap::new();
    for event in history.events() {
        let Some(FaultRecord::View { view }) = FaultRecord::of(event) else { continue };
        for (role, leaders) in leaders_by_role(&view) {
            watches.entry(role).or_default().look(event.time, &leaders);
        }
    }
    let office = |(role, mut watch): (Role, Watch)| {
        watch.close(end);
        let mut reigns = watch.reigns;
        reigns.sort_by_key(|reign| (reign.from, reign.leader));
        Office {
            role,
            held_for: held_for(&reigns),
            reigns,
            overlaps: watch.overlaps,
            elections_ms: Spread::of(watch.elections),
        }
    };
    watches.into_iter().map(office).collect()
}

type Leaders = BTreeMap<NodeName, Option<u64>>;

fn leaders_by_role(view: &View) -> BTreeMap<Role, Leaders> {
    let mut roles: BTreeMap<Role, Leaders> = BTreeMap::new();
    for (name, node) in view.nodes.iter().filter(|(_, node)| node.role.elects()) {
        let leaders = roles.entry(node.role).or_default();
        if node.leads {
            leaders.insert(*name, node.epoch);
        }
    }
    roles
}

/// The leadership of one role, view by view.
#[derive(Default)]
struct Watch {
    reigns: Vec<Reign>,
    overlaps: Vec<Overlap>,
    /// How long nobody led between two reigns.
    elections: Vec<Nanos>,
    /// Who leads now, and the place of that reign.
    held: BTreeMap<NodeName, usize>,
    vacant_since: Option<Nanos>,
    /// Several lead now, and this is where it is noted.
    contested: bool,
}

impl Watch {
    fn look(&mut self, now: Nanos, leaders: &Leaders) {
        self.end_those_gone(now, leaders);
        let was_vacant = self.held.is_empty();
        for (leader, epoch) in leaders {
            if !self.held.contains_key(leader) {
                self.begin(now, *leader, *epoch, was_vacant);
            }
        }
        self.note_overlap(now);
        match self.held.is_empty() {
            false => self.vacant_since = None,
            true if !self.reigns.is_empty() => {
                self.vacant_since.get_or_insert(now);
            }
            true => {}
        }
    }

    /// A node that leads in another epoch than before has begun a new reign. One that says none goes on.
    fn end_those_gone(&mut self, now: Nanos, leaders: &Leaders) {
        let reigns = &mut self.reigns;
        self.held.retain(|leader, position| {
            let reign = &mut reigns[*position];
            let goes_on = leaders.get(leader).is_some_and(|epoch| match (reign.epoch, epoch) {
                (Some(old), Some(new)) => old == *new,
                _ => true,
            });
            if goes_on {
                reign.epoch = reign.epoch.or(leaders[leader]);
            } else {
                (reign.until, reign.ended) = (now, true);
            }
            goes_on
        });
    }

    fn begin(&mut self, now: Nanos, leader: NodeName, epoch: Option<u64>, was_vacant: bool) {
        let last = self.reigns.len().wrapping_sub(1);
        // The same epoch again with nobody in between: it only could not be seen for a while.
        if let Some(reign) = self.reigns.last_mut()
            && was_vacant
            && (reign.leader, reign.epoch) == (leader, epoch)
            && epoch.is_some()
        {
            reign.ended = false;
            self.held.insert(leader, last);
            self.vacant_since = None;
            return;
        }
        if let (true, Some(since)) = (was_vacant, self.vacant_since.take()) {
            self.elections.push(now.saturating_sub(since));
        }
        self.held.insert(leader, self.reigns.len());
        self.reigns.push(Reign { leader, epoch, from: now, until: now, ended: false });
    }

    fn note_overlap(&mut self, now: Nanos) {
        let leaders: Vec<NodeName> = self.held.keys().copied().collect();
        let open = if self.contested { self.overlaps.last_mut() } else { None };
        match open {
            Some(overlap) if overlap.leaders == leaders => return,
            Some(overlap) => overlap.until = now,
            None => {}
        }
        self.contested = leaders.len() > 1;
        if self.contested {
            self.overlaps.push(Overlap { leaders, from: now, until: now });
        }
    }

    fn close(&mut self, end: Nanos) {
        for position in self.held.values() {
            self.reigns[*position].until = end;
        }
        if let (true, Some(overlap)) = (self.contested, self.overlaps.last_mut()) {
            overlap.until = end;
        }
    }
}
