//! Numbers that only grow: no operation may see one of them grown and another one shrunk. As the
//! `monotonic` of Jepsen's TiDB tests, with each process's own order.
//!
//! Who saw a key at one number comes before who saw it at the next higher one. An operation's answer
//! is a number, or a map of keys to numbers; nil is none. O(n log n).

use super::elements::Elements;
use super::graph::{Edge, Graph};
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

/// The tag of an edge from one operation of a process to its next.
const PROCESS: u32 = u32::MAX;

/// Steps of a cycle told in full.
const STEPS: usize = 8;

/// An operation saw a key at a number.
#[derive(Clone, Copy)]
struct Sight {
    key: u32,
    value: i64,
    operation: u32,
}

#[derive(Clone, Default)]
pub(super) struct Monotonic {
    keys: Elements,
    operations: Vec<Moment>,
    sights: Vec<Sight>,
}

impl Monotonic {
    fn see(&mut self, step: &Step, tally: &mut Tally) {
        let operation = self.operations.len() as u32;
        self.operations.push(step.now());
        tally.count("operations", 1);
        if let Some(value) = step.value.as_i64() {
            self.sights.push(Sight { key: u32::MAX, value, operation });
            return;
        }
        let Some(entries) = step.value.entries() else {
            if !step.value.is_nil() {
                let (index, found) = (step.event.index, step.value.to_text());
                tally.broken(|| format!("event {index}: {found:.40}, expected {{key number ...}}"));
            }
            return;
        };
        for (key, value) in entries {
            let key = self.keys.number(key);
            match value.as_i64() {
                Some(value) => self.sights.push(Sight { key, value, operation }),
                None if value.is_nil() => {}
                None => {
                    let (index, found) = (step.event.index, step.value.to_text());
                    tally.broken(|| format!("event {index}: {found:.40}, expected whole numbers"));
                }
            }
        }
    }

    /// A gate stands between who saw a number and who saw the next; its node comes after all others.
    fn edges(&self) -> (usize, Vec<Edge>) {
        let mut order: Vec<u32> = (0..self.sights.len() as u32).collect();
        let of = |sight: u32| &self.sights[sight as usize];
        order.sort_unstable_by_key(|sight| (of(*sight).key, of(*sight).value, *sight));
        let same = |one: &u32, other: &u32| {
            (of(*one).key, of(*one).value) == (of(*other).key, of(*other).value)
        };
        let mut nodes = self.operations.len();
        let mut edges = Vec::with_capacity(2 * order.len() + self.operations.len());
        let mut before = None;
        for run in order.chunk_by(same) {
            let (key, gate) = (of(run[0]).key, nodes as u32);
            nodes += 1;
            for tag in run.iter().copied() {
                let operation = of(tag).operation;
                edges.push(Edge { from: operation, to: gate, tag });
                if let Some((_, gate)) = before.filter(|(of, _)| *of == key) {
                    edges.push(Edge { from: gate, to: operation, tag });
                }
            }
            before = Some((key, gate));
        }
        self.process_edges(&mut edges);
        (nodes, edges)
    }

    fn process_edges(&self, edges: &mut Vec<Edge>) {
        let mut last: rustc_hash::FxHashMap<u32, u32> = Default::default();
        for (operation, moment) in (0_u32..).zip(&self.operations) {
            if let Some(from) = last.insert(moment.process, operation) {
                edges.push(Edge { from, to: operation, tag: PROCESS });
            }
        }
    }

    fn told(&self, cycle: &[Edge]) -> Told {
        let who = |operation: u32| {
            let moment = self.operations[operation as usize];
            format!("process {} at {}", moment.process, at(moment))
        };
        let saw = |tag: u32| {
            let sight = &self.sights[tag as usize];
            let key = match sight.key {
                u32::MAX => String::new(),
                key => format!("{} at ", self.keys.name(key)),
            };
            format!("{} saw {key}{}", who(sight.operation), sight.value)
        };
        let mut lines = Vec::new();
        let mut proof = Vec::new();
        for (position, edge) in cycle.iter().enumerate() {
            let next = &cycle[(position + 1) % cycle.len()];
            if edge.tag == PROCESS {
                lines.push(format!("{} went on to {}", who(edge.from), who(edge.to)));
            } else if (edge.to as usize) >= self.operations.len() {
                lines.push(format!("{}, before {}", saw(edge.tag), saw(next.tag)));
            }
            proof.extend(self.operations.get(edge.from as usize));
        }
        lines.truncate(STEPS);
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

    fn finish(&mut self, tally: &mut Tally) {
        let (nodes, edges) = self.edges();
        for cycle in Graph::new(nodes, edges).cycles() {
            tally.report("nonmonotonic", || self.told(&cycle));
        }
    }

    fn bytes(&self) -> usize {
        self.keys.bytes()
            + self.operations.capacity() * size_of::<Moment>()
            // The edges are made at the end.
            + self.sights.capacity() * (size_of::<Sight>() + 2 * size_of::<Edge>())
    }
}
