//! Which orders of two writers of a key are forced by what is known.

use super::Goal;
use super::known::{begin, commit};
use super::precedence::{Edge, Precedence, Why};
use crate::checker::txn::weak::committed::{Committed, INITIAL};

/// Who wrote each key, and who read it from whom.
pub(crate) struct Rivals {
    /// By key: its writers, the initial state first, each with its readers.
    pub keys: Vec<Vec<(u32, Vec<u32>)>>,
}

impl Rivals {
    pub fn of(committed: &Committed) -> Rivals {
        let count = committed.registers.table.keys.len();
        let mut keys: Vec<Vec<(u32, Vec<u32>)>> = vec![vec![(INITIAL, Vec::new())]; count];
        for node in 1..committed.len() as u32 {
            for key in committed.writes(node) {
                keys[*key as usize].push((node, Vec::new()));
            }
        }
        for node in 1..committed.len() as u32 {
            for read in committed.reads(node) {
                let writers = &mut keys[read.key as usize];
                // Writers stand in ascending order.
                if let Ok(at) = writers.binary_search_by_key(&read.writer, |(writer, _)| *writer) {
                    writers[at].1.push(node);
                }
            }
        }
        Rivals { keys }
    }
}

/// One pair of writers in the order given, or what else follows.
struct Pair<'a> {
    key: u32,
    goal: Goal,
    one: &'a (u32, Vec<u32>),
    other: &'a (u32, Vec<u32>),
}

/// The edges that follow from what is known and are not known yet.
pub(crate) fn forced(known: &mut Precedence, rivals: &Rivals, goal: Goal) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (key, writers) in (0..).zip(&rivals.keys) {
        known.work += (writers.len() * writers.len()) as u64;
        for one in writers {
            for other in writers.iter().filter(|other| other.0 != one.0) {
                Pair { key, goal, one, other }.follow(known, &mut edges);
            }
        }
    }
    edges
}

impl Pair<'_> {
    fn follow(&self, known: &mut Precedence, edges: &mut Vec<Edge>) {
        let (one, other) = (self.one.0, self.other.0);
        let is_before =
            |one: u32, other: u32| known.reaches(begin(self.goal, one), commit(self.goal, other));
        if is_before(one, other) {
            self.in_order(Some(known), Why::Overwrite { key: self.key }, edges);
        } else if !is_before(other, one) {
            let seen = |reader: &&u32| {
                **reader != other
                    && known.reaches(commit(self.goal, other), begin(self.goal, **reader))
            };
            if let Some(reader) = self.one.1.iter().find(seen) {
                let why = Why::Visible { key: self.key, reader: *reader };
                edges.push(Edge { from: commit(self.goal, other), to: begin(self.goal, one), why });
            }
        }
        known.work += self.one.1.len() as u64;
    }

    /// The one is before the other, and so is whoever read from the one.
    fn in_order(&self, known: Option<&Precedence>, why: Why, edges: &mut Vec<Edge>) {
        let (goal, key) = (self.goal, self.key);
        let (one, other) = (self.one.0, self.other.0);
        let mut add = |from: u32, to: u32, why: Why| {
            if !known.is_some_and(|known| known.reaches(from, to)) {
                edges.push(Edge { from, to, why });
            }
        };
        add(commit(goal, one), begin(goal, other), why);
        for reader in self.one.1.iter().filter(|reader| **reader != other) {
            add(begin(goal, *reader), commit(goal, other), Why::Anti { key, from: one });
        }
    }
}

/// The edges of a choice: these two writers of a key, by their places among its writers, in this order.
/// Without those that are known, if it is said what is.
pub(crate) fn chosen(
    known: Option<&Precedence>,
    rivals: &Rivals,
    goal: Goal,
    (key, one, other): (u32, usize, usize),
) -> Vec<Edge> {
    let writers = &rivals.keys[key as usize];
    let pair = Pair { key, goal, one: &writers[one], other: &writers[other] };
    let mut edges = Vec::new();
    pair.in_order(known, Why::Chosen { key }, &mut edges);
    edges
}
