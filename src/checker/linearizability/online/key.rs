//! One register, as far as it must be remembered.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Name;
use crate::op::{Event, Nanos};

/// So many things may come to be known at one event, one after the other.
pub(super) const MOMENTS: u64 = 1 << 10;

/// A moment of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Place in the order of all moments; each event has room for [`MOMENTS`] of them.
    pub at: u64,
    pub time: Nanos,
    pub process: u32,
    /// Index of the operation's invocation.
    pub invocation: u64,
}

impl Mark {
    pub fn of(event: &Event, process: u32, invocation: u64) -> Mark {
        Mark { at: MOMENTS * (event.index + 1), time: event.time, process, invocation }
    }

    /// The event's next moment.
    fn then(self) -> Mark {
        Mark { at: self.at + 1, ..self }
    }

    /// The moment before all others.
    const START: Mark = Mark { at: 0, time: 0, process: 0, invocation: 0 };
}

/// What is known of a value.
#[derive(Clone, Debug)]
enum Known {
    /// Being written, or of unknown outcome; nobody saw it yet. By a compare-and-set, what that must have
    /// found.
    Offered(Mark, Option<Name>),
    /// It was there first at this place among the events.
    Seen(u64),
}

/// A value that was there: from its first completion to its last invocation nothing else can have been,
/// where the one comes before the other.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub name: Name,
    pub first_completion: Mark,
    pub last_invocation: Mark,
}

/// The promise that a key broke.
#[derive(Clone, Debug)]
pub(super) enum Violation {
    /// Nobody writes this value, or it was replaced long ago.
    Absent { name: Name, invoked: Mark, completed: Mark },
    /// The write of a value that had been seen failed.
    Failed { seen: Zone, failed: Mark },
    /// A value was read though another was there after it and was over.
    Stale { read: Zone, completed: Mark, other: Zone },
    /// Two compare-and-sets found the same value and replaced it.
    Taken { name: Name, first: Mark, again: Mark },
}

#[derive(Clone, Debug)]
pub(super) struct Register {
    /// Whether its values cannot be told apart any more, or it has been reported.
    is_silent: bool,
    values: FxHashMap<Name, Known>,
    /// Values that a compare-and-set replaced: when that completed, and what was there then.
    taken: FxHashMap<Name, (Mark, Zone)>,
    /// By place of the first completion.
    zones: BTreeMap<u64, Zone>,
    /// Of what was forgotten, the zone that ended last.
    past: Option<Zone>,
    in_flight: BTreeSet<u64>,
}

impl Register {
    pub fn new(initial: Name) -> Register {
        let name = initial.clone();
        let zone = Zone { name, first_completion: Mark::START, last_invocation: Mark::START };
        Register {
            is_silent: false,
            values: FxHashMap::from_iter([(initial, Known::Seen(0))]),
            taken: FxHashMap::default(),
            zones: BTreeMap::from([(0, zone)]),
            past: None,
            in_flight: BTreeSet::new(),
        }
    }

    /// Says and remembers nothing from now on.
    pub fn give_up(&mut self) {
        *self = Register {
            is_silent: true,
            values: FxHashMap::default(),
            taken: FxHashMap::default(),
            zones: BTreeMap::new(),
            past: None,
            in_flight: BTreeSet::new(),
        };
    }

    /// An operation begins: a write with its value, a compare-and-set with what it expects, too.
    pub fn enter(&mut self, invoked: Mark, writes: Option<Name>, expects: Option<Name>) {
        if self.is_silent {
            return;
        }
        self.in_flight.insert(invoked.at);
        let Some(name) = writes else { return };
        if self.values.insert(name, Known::Offered(invoked, expects)).is_some() {
            self.give_up();
        }
    }

    /// A write or a compare-and-set took effect, if that was not known already.
    pub fn written(&mut self, name: &Name, completed: Mark) -> Option<Violation> {
        let found = self.settle(name, completed);
        match self.values.get(name) {
            _ if found.is_some() => self.give_up(),
            Some(Known::Offered(invoked, _)) => self.see(name.clone(), *invoked, completed),
            _ => {}
        }
        found
    }

    /// A write failed: nobody can have seen its value.
    pub fn unwrite(&mut self, name: &Name, failed: Mark) -> Option<Violation> {
        match self.values.remove(name)? {
            Known::Offered(..) => None,
            Known::Seen(place) => {
                let seen = self.zones.remove(&place)?;
                self.give_up();
                Some(Violation::Failed { seen, failed })
            }
        }
    }

    pub fn read(&mut self, name: Name, invoked: Mark, completed: Mark) -> Option<Violation> {
        if self.is_silent {
            return None;
        }
        let mut violation = self.settle(&name, completed);
        if violation.is_none() && !self.is_silent {
            violation = self.find(name, invoked, completed);
        }
        if violation.is_some() {
            self.give_up();
        }
        violation
    }

    fn find(&mut self, name: Name, invoked: Mark, completed: Mark) -> Option<Violation> {
        match self.values.get(&name) {
            None => Some(Violation::Absent { name, invoked, completed }),
            Some(Known::Offered(written, _)) => {
                let last = if written.at > invoked.at { *written } else { invoked };
                self.see(name, last, completed);
                None
            }
            Some(Known::Seen(place)) => self.see_again(*place, invoked, completed),
        }
    }

    /// The value was there by now: so a compare-and-set that left it has taken effect, and one before it
    /// that left what it found.
    fn settle(&mut self, name: &Name, by: Mark) -> Option<Violation> {
        let mut swaps: Vec<(Name, Name, Mark)> = Vec::new();
        let mut last = name.clone();
        while let Some(Known::Offered(invoked, Some(from))) = self.values.get(&last) {
            // Too many, or in a circle: the check at the end decides.
            if swaps.len() as u64 + 1 >= MOMENTS {
                self.give_up();
                return None;
            }
            swaps.push((from.clone(), last, *invoked));
            last = from.clone();
        }
        let mut shown = by;
        for (from, to, invoked) in swaps.into_iter().rev() {
            shown = shown.then();
            let violation = self.swap(from, to, invoked, (by, shown));
            if violation.is_some() || self.is_silent {
                return violation;
            }
        }
        None
    }

    /// A compare-and-set had found one value by then and left another, which shows a moment later.
    fn swap(
        &mut self,
        from: Name,
        to: Name,
        invoked: Mark,
        (by, shown): (Mark, Mark),
    ) -> Option<Violation> {
        if !self.values.contains_key(&from) && !self.in_flight.contains(&invoked.at) {
            // It ended long ago, without an outcome: what it found may have been forgotten since.
            self.give_up();
            return None;
        }
        if let Some(violation) = self.find(from.clone(), invoked, by) {
            return Some(violation);
        }
        self.see(to.clone(), invoked, shown);
        let next = self.zone(&to)?.clone();
        if let Some((first, _)) = self.taken.insert(from.clone(), (by, next)) {
            return Some(Violation::Taken { name: from, first, again: by });
        }
        self.replaced(&from, by)
    }

    fn zone(&self, name: &Name) -> Option<&Zone> {
        match self.values.get(name)? {
            Known::Seen(place) => self.zones.get(place),
            Known::Offered(..) => None,
        }
    }

    /// An operation on a value began after that which replaced it had been seen.
    fn replaced(&self, name: &Name, completed: Mark) -> Option<Violation> {
        let (read, (_, other)) = (self.zone(name)?.clone(), self.taken.get(name)?);
        let is_late = read.last_invocation.at > other.first_completion.at;
        is_late.then(|| Violation::Stale { read, completed, other: other.clone() })
    }

    fn see(&mut self, name: Name, last_invocation: Mark, first_completion: Mark) {
        self.values.insert(name.clone(), Known::Seen(first_completion.at));
        let zone = Zone { name, first_completion, last_invocation };
        self.zones.insert(first_completion.at, zone);
    }

    fn see_again(&mut self, place: u64, invoked: Mark, completed: Mark) -> Option<Violation> {
        let zone = self.zones.get_mut(&place)?;
        if invoked.at <= zone.last_invocation.at {
            return None;
        }
        zone.last_invocation = invoked;
        let read = zone.clone();
        // What must come before the read, and after the first sight of what was read.
        let before = self.zones.range(..invoked.at).filter(|(other, _)| **other != place);
        let mut before = before.map(|(_, zone)| zone).chain(&self.past);
        match before.find(|other| other.last_invocation.at > place).cloned() {
            Some(other) => Some(Violation::Stale { read, completed, other }),
            None => self.replaced(&read.name, completed),
        }
    }

    /// An operation is over. What no read to come can see is forgotten.
    pub fn leave(&mut self, invoked: Mark) {
        let was_oldest = self.in_flight.first() == Some(&invoked.at);
        self.in_flight.remove(&invoked.at);
        if was_oldest {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let horizon = self.in_flight.first().copied().unwrap_or(u64::MAX);
        let mut ends: Vec<(u64, u64)> = self
            .zones
            .range(..horizon)
            .map(|(place, zone)| (zone.last_invocation.at, *place))
            .chain(self.past.iter().map(|zone| (zone.last_invocation.at, u64::MAX)))
            .collect();
        ends.sort_unstable_by(|one, other| other.cmp(one));
        ends.truncate(2);
        let is_over = |place: u64| ends.iter().any(|(end, of)| *of != place && *end > place);
        let over: Vec<u64> =
            self.zones.range(..horizon).map(|(place, _)| *place).filter(|p| is_over(*p)).collect();
        for place in over {
            let Some(zone) = self.zones.remove(&place) else { continue };
            self.values.remove(&zone.name);
            self.taken.remove(&zone.name);
            let end = |zone: &Zone| zone.last_invocation.at;
            if self.past.as_ref().is_none_or(|past| end(past) < end(&zone)) {
                self.past = Some(zone);
            }
        }
    }

    /// Values remembered.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.values.len()
    }
}
