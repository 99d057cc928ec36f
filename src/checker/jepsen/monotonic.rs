//! Numbers that only grow: no operation may see one of them grown and another one shrunk. As the
//! `monotonic` of Jepsen's TiDB tests, with each process's own order.
//!
//! Who saw a key at one number comes before who saw it at the next higher one. An operation's answer
//! is a number, or a map of keys to numbers; nil is none. Told at the answer that leaves no order.
//!
//! Each number of each key has an entry and an exit, and whoever saw it is in between; from the exit of a
//! number it goes on to the entry of the next higher one. O(n log n) where answers come about in order.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::elements::Elements;
use super::levels::{Edge, Levels};
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

/// The tag of an edge from one operation of a process to its next.
const PROCESS: u32 = u32::MAX;

/// The tag of an edge from one number of a key to itself or to the next.
const NUMBER: u32 = u32::MAX - 1;

/// Steps of a cycle told in full.
const STEPS: usize = 8;

/// Cycles that are looked for; one more tells nobody anything new.
const MOST: u32 = 100;

/// An operation saw a key at a number.
#[derive(Clone, Copy)]
struct Sight {
    key: u32,
    value: i64,
}

/// The nodes between which is who saw one number of a key.
#[derive(Clone, Copy)]
struct Gate {
    entry: u32,
    exit: u32,
}

#[derive(Clone, Default)]
pub(super) struct Monotonic {
    keys: Elements,
    gates: FxHashMap<u32, BTreeMap<i64, Gate>>,
    /// Of each node its operation; none of a gate's.
    nodes: Vec<Option<Moment>>,
    order: Levels,
    sights: Vec<Sight>,
    /// The last node of each process.
    last: FxHashMap<u32, u32>,
    cycles: u32,
}

impl Monotonic {
    /// What an answer shows; nothing where it is not what was expected.
    fn sights(&mut self, step: &Step, tally: &mut Tally) -> Vec<Sight> {
        if let Some(value) = step.value.as_i64() {
            return vec![Sight { key: u32::MAX, value }];
        }
        let (index, found) = (step.event.index, step.value);
        let Some(entries) = step.value.entries() else {
            if !found.is_nil() {
                let found = found.to_text();
                tally.broken(|| format!("event {index}: {found:.40}, expected {{key number ...}}"));
            }
            return Vec::new();
        };
        let mut sights = Vec::new();
        for (key, value) in entries {
            let key = self.keys.number(key);
            match value.as_i64() {
                Some(value) => sights.push(Sight { key, value }),
                None if value.is_nil() => {}
                None => {
                    let found = found.to_text();
                    tally.broken(|| format!("event {index}: {found:.40}, expected whole numbers"));
                }
            }
        }
        sights
    }

    /// The gate of a number, between those of its neighbours.
    fn gate(&mut self, sight: Sight) -> Gate {
        let numbers = self.gates.entry(sight.key).or_default();
        if let Some(gate) = numbers.get(&sight.value) {
            return *gate;
        }
        let before = numbers.range(..sight.value).next_back().map(|(_, gate)| gate.exit);
        let after = numbers.range(sight.value..).next().map(|(_, gate)| gate.entry);
        let entry = self.order.add_node(before);
        let exit = self.order.add_node_far_after(entry);
        let gate = Gate { entry, exit };
        numbers.insert(sight.value, gate);
        self.nodes.extend([None, None]);
        let edges = [(before, Some(entry)), (Some(entry), Some(exit)), (Some(exit), after)];
        for (from, to) in edges {
            if let (Some(from), Some(to)) = (from, to) {
                // A new gate has no way back: it closes no cycle.
                self.order.add(Edge { from, to, tag: NUMBER });
            }
        }
        gate
    }

    fn see(&mut self, step: &Step, tally: &mut Tally) {
        tally.count("operations", 1);
        let sights = self.sights(step, tally);
        if self.cycles >= MOST {
            return;
        }
        let gates: Vec<Gate> = sights.iter().map(|sight| self.gate(*sight)).collect();
        let before = self.last.get(&step.process).copied();
        let operation =
            self.order.add_node(before.into_iter().chain(gates.iter().map(|g| g.entry)));
        self.nodes.push(Some(step.now()));
        self.last.insert(step.process, operation);
        let after = before.map(|from| Edge { from, to: operation, tag: PROCESS });
        let mut edges: Vec<Edge> = after.into_iter().collect();
        for (sight, Gate { entry, exit }) in sights.iter().zip(&gates) {
            let tag = self.sights.len() as u32;
            self.sights.push(*sight);
            edges.push(Edge { from: *entry, to: operation, tag });
            edges.push(Edge { from: operation, to: *exit, tag });
        }
        if let Some(cycle) = edges.into_iter().find_map(|edge| self.order.add(edge)) {
            self.cycles += 1;
            tally.report("nonmonotonic", || self.told(cycle));
        }
    }

    /// In words, from the earliest of its operations on.
    fn told(&self, mut cycle: Vec<Edge>) -> Told {
        let moment = |node: u32| self.nodes[node as usize];
        let first = (0..cycle.len()).filter(|at| moment(cycle[*at].from).is_some());
        let first = first.min_by_key(|at| moment(cycle[*at].from).map(|moment| moment.index));
        cycle.rotate_left(first.unwrap_or(0));
        let who = |node: u32| {
            moment(node).map_or(String::new(), |m| format!("process {} at {}", m.process, at(m)))
        };
        let saw = |tag: u32| {
            let sight = &self.sights[tag as usize];
            match sight.key {
                u32::MAX => format!("saw {}", sight.value),
                key => format!("saw {} at {}", self.keys.name(key), sight.value),
            }
        };
        let mut lines = Vec::new();
        let mut entered = None;
        for edge in &cycle {
            match (edge.tag, moment(edge.to)) {
                (NUMBER, _) => {}
                (PROCESS, _) => {
                    lines.push(format!("{} went on to {}", who(edge.from), who(edge.to)))
                }
                (tag, None) => entered = Some(format!("{} {}", who(edge.from), saw(tag))),
                (tag, Some(_)) => {
                    let before = entered.take().unwrap_or_default();
                    lines.push(format!("{before}, before {} {}", who(edge.to), saw(tag)));
                }
            }
        }
        lines.truncate(STEPS);
        let proof = cycle.iter().filter_map(|edge| moment(edge.from)).collect();
        Told { summary: format!("a cycle: {}", lines.join("; ")), details: Vec::new(), proof }
    }
}

impl Workload for Monotonic {
    const NAME: &'static str = "monotonic";
    const OPS: &'static [&'static str] = &[];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        if step.kind() == Kind::Ok {
            self.see(step, tally);
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        let gates: usize = self.gates.values().map(BTreeMap::len).sum();
        self.keys.bytes()
            + self.order.bytes()
            + gates * 2 * size_of::<(i64, Gate)>()
            + self.nodes.capacity() * size_of::<Option<Moment>>()
            + self.sights.capacity() * size_of::<Sight>()
            + self.last.capacity() * 9
    }
}
