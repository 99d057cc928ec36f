//! Who waits for an answer, and since when.

use std::fmt;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::checker::jepsen::streaming::Moment;
use crate::op::{Nanos, NodeName};

type Map<K, V> = IndexMap<K, V, FxBuildHasher>;

/// First answers of which the time is remembered.
const SAMPLES: usize = 10_000;

/// One who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Process(u32),
    /// Those of one node, or all where nobody tells of nodes.
    Clients(Option<NodeName>),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Process(process) => write!(f, "process {process}"),
            Who::Clients(Some(node)) => write!(f, "clients of {node}"),
            Who::Clients(None) => write!(f, "clients"),
        }
    }
}

/// A wait that is too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overdue {
    pub who: Who,
    pub since: Moment,
    /// When it was seen.
    pub seen: Nanos,
}

#[derive(Clone, Copy)]
struct Wait {
    since: Moment,
    is_told: bool,
}

/// A process that has asked for something since the last change.
#[derive(Clone, Copy, Default)]
struct Process {
    node: Option<NodeName>,
    wait: Option<Wait>,
    is_answered: bool,
    asks: Asking,
}

/// The clients of one node.
#[derive(Clone, Copy, Default)]
struct Clients {
    /// The longest wait of those that ended unanswered.
    left: Option<Wait>,
    answered: Option<Moment>,
    asks: Asking,
}

/// How many operations are open, and when that was last so.
#[derive(Clone, Copy, Default)]
struct Asking {
    open: u32,
    until: Nanos,
}

impl Asking {
    fn begin(&mut self) {
        self.open += 1;
    }

    fn end(&mut self, now: Nanos) {
        self.open = self.open.saturating_sub(1);
        self.until = now;
    }

    /// Nobody has asked for so long that whoever waited has given up.
    fn is_over(&self, now: Nanos, bound: Nanos) -> bool {
        self.open == 0 && now.saturating_sub(self.until) > bound
    }
}

pub(super) struct Waits {
    bound: Nanos,
    processes: Map<u32, Process>,
    clients: Map<Option<NodeName>, Clients>,
    /// No wait is too long before.
    next: Nanos,
    /// How long processes waited for their first answers since the last change; of the first of them.
    first: Vec<Nanos>,
    answered: u64,
    /// Processes that ended without any.
    ended: u64,
}

impl Waits {
    pub fn new(bound: Nanos) -> Waits {
        let (processes, clients) = (Map::default(), Map::default());
        Waits {
            bound,
            processes,
            clients,
            next: Nanos::MAX,
            first: Vec::new(),
            answered: 0,
            ended: 0,
        }
    }

    /// From now on everything counts anew: who has an operation open waits from now.
    pub fn reset(&mut self, now: Moment) {
        self.next = self.due(now);
        (self.answered, self.ended) = (0, 0);
        self.first.clear();
        self.clients.values_mut().for_each(|clients| clients.left = None);
        self.processes.retain(|process, state| {
            let operation = state.wait.map_or(now.operation, |wait| wait.since.operation);
            let since = Moment { operation, process: *process, ..now };
            state.wait = Some(Wait { since, is_told: false });
            state.is_answered = false;
            state.asks.open > 0
        });
    }

    fn due(&self, since: Moment) -> Nanos {
        since.time.saturating_add(self.bound)
    }

    pub fn ask(&mut self, now: Moment, node: Option<NodeName>) {
        let bound = self.bound;
        let clients = self.clients.entry(node).or_default();
        clients.left = clients.left.filter(|_| !clients.asks.is_over(now.time, bound));
        clients.asks.begin();
        let left = clients.left.map(|wait| wait.since);
        let state = self.processes.entry(now.process).or_default();
        state.node = node;
        state.wait = state.wait.filter(|_| !state.asks.is_over(now.time, bound));
        state.asks.begin();
        let wait = state.wait.get_or_insert(Wait { since: now, is_told: false }).since;
        let due = left.into_iter().chain([wait]).map(|since| self.due(since)).min();
        self.next = due.unwrap_or(self.next).min(self.next);
    }

    /// An operation completes; what it said is no answer yet.
    pub fn complete(&mut self, now: Moment) -> Option<NodeName> {
        let state = self.processes.get_mut(&now.process)?;
        state.asks.end(now.time);
        if let Some(clients) = self.clients.get_mut(&state.node) {
            clients.asks.end(now.time);
        }
        state.node
    }

    pub fn answer(&mut self, now: Moment) {
        let node = self.complete(now);
        let clients = self.clients.entry(node).or_default();
        (clients.left, clients.answered) = (None, Some(now));
        let Some(state) = self.processes.get_mut(&now.process) else { return };
        let wait = state.wait.take();
        if let (Some(wait), false) = (wait, state.is_answered) {
            state.is_answered = true;
            self.answered += 1;
            if self.first.len() < SAMPLES {
                self.first.push(now.time.saturating_sub(wait.since.time));
            }
        }
    }

    /// The process asks for nothing more, or begins anew.
    pub fn end(&mut self, now: Moment) {
        let node = self.complete(now);
        let Some(state) = self.processes.swap_remove(&now.process) else { return };
        self.ended += u64::from(!state.is_answered);
        let Some(mut wait) = state.wait else { return };
        let clients = self.clients.entry(node).or_default();
        if let Some(answered) = clients.answered.filter(|ok| ok.time > wait.since.time) {
            wait.since = answered;
        }
        let earlier = clients.left.filter(|left| left.since.time <= wait.since.time);
        clients.left = Some(earlier.unwrap_or(wait));
    }

    /// Waits that are too long by now, each once; of those only who still asks.
    pub fn overdue(&mut self, now: Nanos) -> Vec<Overdue> {
        if now <= self.next {
            return Vec::new();
        }
        let (bound, mut next, mut found) = (self.bound, Nanos::MAX, Vec::new());
        let mut look = |who: Who, wait: &mut Wait| {
            let due = wait.since.time.saturating_add(bound);
            if now <= due {
                next = next.min(due);
            } else if !wait.is_told {
                wait.is_told = true;
                found.push(Overdue { who, since: wait.since, seen: now });
            }
        };
        for (process, state) in self.processes.iter_mut().filter(|(_, state)| state.asks.open > 0) {
            if let Some(wait) = &mut state.wait {
                look(Who::Process(*process), wait);
            }
        }
        for (node, clients) in self.clients.iter_mut().filter(|(_, clients)| clients.asks.open > 0)
        {
            if let Some(wait) = &mut clients.left {
                look(Who::Clients(*node), wait);
            }
        }
        self.next = next;
        found.sort_unstable_by_key(|overdue| (overdue.since.time, overdue.since.index));
        found
    }

    /// Processes that were answered since the last change.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    pub fn first_answers(&self) -> &[Nanos] {
        &self.first
    }

    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.processes.len() + self.clients.len() + self.first.len()
    }

    /// Processes that asked since the last change and got no answer.
    pub fn unanswered(&self) -> u64 {
        let waiting = self.processes.values().filter(|state| !state.is_answered);
        waiting.count() as u64 + self.ended
    }
}
