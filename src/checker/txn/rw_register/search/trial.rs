//! The search: conclude what is forced, take an order that keeps it, and where that fails choose.

use super::Goal;
use super::forced::{Rivals, chosen, forced};
use super::known::{begin, commit, node_of};
use super::precedence::{Edge, Precedence};
use crate::checker::Budget;
use crate::checker::txn::table::NONE;
use crate::checker::txn::weak::committed::Committed;

pub(crate) enum Tried {
    Ordered,
    Impossible {
        cycle: Vec<Edge>,
        tried: u64,
    },
    /// So many pairs of writers had no order yet.
    Undecided {
        open: usize,
    },
}

/// A pair of writers of a key, by their places among its writers.
type Choice = (u32, usize, usize);

/// A choice that was made, and how many edges there were before.
struct Made {
    choice: Choice,
    edges: usize,
}

/// How many choices are made at once at most.
const AT_ONCE: usize = 1024;

pub(crate) struct Trial<'a> {
    committed: &'a Committed<'a>,
    rivals: &'a Rivals,
    goal: Goal,
    known: Precedence,
    made: Vec<Made>,
    tried: u64,
    /// How many choices are made at once, and were the last time.
    at_once: usize,
    last: usize,
    steps: u64,
    budget: &'a Budget<'a>,
}

impl<'a> Trial<'a> {
    pub fn new(
        committed: &'a Committed<'a>,
        rivals: &'a Rivals,
        goal: Goal,
        known: Precedence,
        steps: u64,
        budget: &'a Budget<'a>,
    ) -> Trial<'a> {
        let (made, tried, at_once, last) = (Vec::new(), 0, AT_ONCE, 0);
        Trial { committed, rivals, goal, known, made, tried, at_once, last, steps, budget }
    }

    pub fn into_edges(self) -> Vec<Edge> {
        self.known.edges
    }

    pub fn run(&mut self) -> Tried {
        let mut first_cycle = Vec::new();
        loop {
            if self.known.work > self.steps || (self.budget.exhausted)() {
                return Tried::Undecided { open: self.open() };
            }
            if !self.conclude() {
                if first_cycle.is_empty() || self.made.is_empty() {
                    first_cycle = self.known.cycle();
                }
                if !self.go_back() {
                    return Tried::Impossible { cycle: first_cycle, tried: self.tried };
                }
            } else if self.known.work <= self.steps {
                let choices = self.failing();
                if choices.is_empty() {
                    return Tried::Ordered;
                }
                self.choose(choices);
            }
        }
    }

    /// All that is forced; false if it has a cycle.
    fn conclude(&mut self) -> bool {
        while self.known.close() {
            let edges = forced(&mut self.known, self.rivals, self.goal);
            let is_done = edges.is_empty() || self.known.work > self.steps;
            self.known.edges.extend(edges);
            if is_done {
                return true;
            }
        }
        false
    }

    /// Many choices at once save time where all of them are right, which shows at the next conclusion.
    fn choose(&mut self, mut choices: Vec<Choice>) {
        if self.last > 0 {
            self.at_once = AT_ONCE.min(self.at_once * 2);
        }
        choices.truncate(self.at_once);
        self.last = choices.len();
        for choice in choices {
            self.tried += 1;
            self.made.push(Made { choice, edges: self.known.edges.len() });
            let edges = chosen(Some(&self.known), self.rivals, self.goal, choice);
            self.known.edges.extend(edges);
        }
    }

    /// Takes the last choice back: then the other order is forced. Of many choices at once nobody knows
    /// which was wrong; fewer are made next time.
    fn go_back(&mut self) -> bool {
        if self.last > 1 {
            self.at_once = self.last / 2;
            let kept = self.made.len() - self.last;
            self.known.edges.truncate(self.made[kept].edges);
            self.made.truncate(kept);
            self.last = 0;
            return true;
        }
        self.last = 0;
        let Some(Made { choice: (key, one, other), edges }) = self.made.pop() else { return false };
        self.known.edges.truncate(edges);
        let edges = chosen(None, self.rivals, self.goal, (key, other, one));
        self.known.edges.extend(edges);
        true
    }

    /// Pairs of writers, at most one of each key, that an order which keeps all that is known has the wrong way.
    fn failing(&self) -> Vec<Choice> {
        let Some(order) = self.known.topological(|moment| self.rank(moment)) else {
            return Vec::new();
        };
        let mut place = vec![0_u32; self.known.nodes];
        for (at, moment) in (0..).zip(order) {
            place[moment as usize] = at;
        }
        let keys = 0..self.rivals.keys.len() as u32;
        keys.filter_map(|key| self.failing_of(key, &place)).collect()
    }

    fn failing_of(&self, key: u32, place: &[u32]) -> Option<Choice> {
        let begins = |node: u32| place[begin(self.goal, node) as usize];
        let commits = |node: u32| place[commit(self.goal, node) as usize];
        let writers = &self.rivals.keys[key as usize];
        let mut by_place: Vec<usize> = (0..writers.len()).collect();
        by_place.sort_by_key(|at| commits(writers[*at].0));
        let fails = |pair: &&[usize]| {
            let ((one, readers), (other, _)) = (&writers[pair[0]], &writers[pair[1]]);
            let overlap = self.goal == Goal::Snapshot && commits(*one) > begins(*other);
            let is_late = |reader: &u32| reader != other && begins(*reader) > commits(*other);
            overlap || readers.iter().any(is_late)
        };
        by_place.windows(2).find(fails).map(|pair| (key, pair[0], pair[1]))
    }

    /// By the middle of its time, which is near to the moment of its effect.
    fn rank(&self, moment: u32) -> u64 {
        let node = node_of(self.goal, moment);
        let txn = self.committed.txns.get(node as usize).copied().unwrap_or(NONE);
        if txn == NONE {
            return 0;
        }
        let txn = self.committed.registers.table.txn(txn);
        let (first, last) = (txn.event(), txn.completed.unwrap_or(txn.event()));
        first.index + last.index
    }

    /// Pairs of writers without an order.
    fn open(&self) -> usize {
        let is_before = |one: u32, other: u32| {
            self.known.reaches(begin(self.goal, one), commit(self.goal, other))
        };
        let of_key = |writers: &Vec<(u32, Vec<u32>)>| {
            let pairs = writers
                .iter()
                .enumerate()
                .flat_map(|(at, one)| writers[at + 1..].iter().map(move |other| (one.0, other.0)));
            pairs
                .filter(|(one, other)| !is_before(*one, *other) && !is_before(*other, *one))
                .count()
        };
        self.rivals.keys.iter().map(of_key).sum()
    }
}
