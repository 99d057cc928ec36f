//! Which part of what clients asked for was answered: overall, by node, by key, and under each fault.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::FaultId;
use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Event, Key, Kind, Nanos, NodeName};

/// Keys that are told, those with the smallest part first.
const KEYS_TOLD: usize = 3;

/// Operations asked for, and how many of them were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub asked: u64,
    pub answered: u64,
}

impl Share {
    fn add(&mut self, is_answered: bool) {
        self.asked += 1;
        self.answered += u64::from(is_answered);
    }

    /// From 0 to 1; all where nothing was asked for.
    pub fn fraction(self) -> f64 {
        if self.asked == 0 { 1.0 } else { self.answered as f64 / self.asked as f64 }
    }
}

/// Shares of the operations that were invoked within a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered {
    pub all: Share,
    nodes: BTreeMap<NodeName, Share>,
    keys: BTreeMap<Key, Share>,
    /// By nemesis; an operation counts for each whose fault was in force when it was invoked.
    faults: BTreeMap<String, Share>,
    calm: Share,
}

impl Answered {
    pub fn of(history: &History, (from, to): (Nanos, Nanos)) -> Answered {
        let (mut answered, faults) = (Answered::default(), InForce::of(history));
        for (invocation, completion) in history.operations() {
            if (from..=to).contains(&invocation.time) {
                answered.add(invocation, completion.is_some_and(is_answer), &faults);
            }
        }
        answered
    }

    fn add(&mut self, invocation: &Event, is_answered: bool, faults: &InForce) {
        self.all.add(is_answered);
        if let Some(node) = invocation.node {
            self.nodes.entry(node).or_default().add(is_answered);
        }
        if let Some(key) = &invocation.key {
            self.keys.entry(key.clone()).or_default().add(is_answered);
        }
        let names = faults.at(invocation.index);
        if names.is_empty() {
            self.calm.add(is_answered);
        }
        for name in names {
            match self.faults.get_mut(name) {
                Some(share) => share.add(is_answered),
                None => self.faults.entry(name.to_owned()).or_default().add(is_answered),
            }
        }
    }

    /// By name: `answered`, `answered.NODE`, `answered.under.NEMESIS`, `answered.under-no-fault`,
    /// and `answered.key.KEY` of the keys with the smallest parts.
    pub fn figures(&self) -> impl Iterator<Item = (String, f64)> {
        let nodes = self.nodes.iter().map(|(node, share)| (format!("answered.{node}"), *share));
        let faults =
            self.faults.iter().map(|(name, share)| (format!("answered.under.{name}"), *share));
        let mut keys: Vec<(&Key, Share)> =
            self.keys.iter().map(|(key, share)| (key, *share)).collect();
        keys.retain(|(_, share)| share.answered < share.asked);
        keys.sort_by(|one, other| one.1.fraction().total_cmp(&other.1.fraction()));
        let keys = keys
            .into_iter()
            .take(KEYS_TOLD)
            .map(|(key, share)| (format!("answered.key.{key}"), share));
        let calm = (!self.faults.is_empty()).then(|| ("answered.under-no-fault".into(), self.calm));
        [("answered".to_owned(), self.all)]
            .into_iter()
            .chain(nodes)
            .chain(faults)
            .chain(calm)
            .chain(keys)
            .map(|(name, share)| (name, share.fraction()))
    }
}

/// The system decided, be it that a precondition did not hold.
pub fn is_answer(completion: &Event) -> bool {
    match completion.kind {
        Kind::Ok => true,
        Kind::Fail => completion.error.as_ref().is_some_and(|error| error.contains("precondition")),
        Kind::Invoke | Kind::Info => false,
    }
}

/// The faults in force, by the indices of the events that change them.
struct InForce {
    changes: Vec<(u64, Vec<String>)>,
}

impl InForce {
    fn of(history: &History) -> InForce {
        let mut open: BTreeMap<FaultId, String> = BTreeMap::new();
        let mut changes = Vec::new();
        for event in history.events() {
            match FaultRecord::of(event) {
                Some(FaultRecord::Began { fault, deeds })
                    if deeds.iter().any(crate::nemesis::Deed::is_in_force) =>
                {
                    open.insert(fault, event.f.to_string());
                }
                Some(FaultRecord::Ended { fault, .. }) => drop(open.remove(&fault)),
                _ => continue,
            }
            let names: BTreeSet<&String> = open.values().collect();
            changes.push((event.index, names.into_iter().cloned().collect()));
        }
        InForce { changes }
    }

    fn at(&self, index: u64) -> &[String] {
        let later = self.changes.partition_point(|(from, _)| *from <= index);
        later.checked_sub(1).map_or(&[], |last| &self.changes[last].1)
    }
}
