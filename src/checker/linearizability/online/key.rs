//! One register, as far as it must be remembered.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Name;
use crate::op::{Event, Nanos};

/// A moment of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Place among the events, from 1.
    pub at: u64,
    pub time: Nanos,
    pub process: u32,
    /// Index of the operation's invocation.
    pub invocation: u64,
}

impl Mark {
    pub fn of(event: &Event, process: u32, invocation: u64) -> Mark {
        Mark { at: event.index + 1, time: event.time, process, invocation }
    }

    /// The moment before all others.
    const START: Mark = Mark { at: 0, time: 0, process: 0, invocation: 0 };
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// Being written, or of unknown outcome; nobody saw it yet.
    Offered(Mark),
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
}

#[derive(Clone, Debug)]
pub(super) struct Register {
    /// Whether its values cannot be told apart any more, or it has been reported.
    is_silent: bool,
    values: FxHashMap<Name, Known>,
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
            zones: BTreeMap::new(),
            past: None,
            in_flight: BTreeSet::new(),
        };
    }

    /// An operation begins; a write with its value.
    pub fn enter(&mut self, invoked: Mark, writes: Option<Name>) {
        if self.is_silent {
            return;
        }
        self.in_flight.insert(invoked.at);
        let Some(name) = writes else { return };
        if self.values.insert(name, Known::Offered(invoked)).is_some() {
            self.give_up();
        }
    }

    pub fn written(&mut self, name: &Name, invoked: Mark, completed: Mark) {
        if let Some(Known::Offered(_)) = self.values.get(name) {
            self.see(name.clone(), invoked, completed);
        }
    }

    /// A write failed: nobody can have seen its value.
    pub fn unwrite(&mut self, name: &Name, failed: Mark) -> Option<Violation> {
        match self.values.remove(name)? {
            Known::Offered(_) => None,
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
        let violation = match self.values.get(&name).copied() {
            None => Some(Violation::Absent { name, invoked, completed }),
            Some(Known::Offered(written)) => {
                let last = if written.at > invoked.at { written } else { invoked };
                self.see(name, last, completed);
                None
            }
            Some(Known::Seen(place)) => self.see_again(place, invoked, completed),
        };
        if violation.is_some() {
            self.give_up();
        }
        violation
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
        let other = before.find(|other| other.last_invocation.at > place)?.clone();
        Some(Violation::Stale { read, completed, other })
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
