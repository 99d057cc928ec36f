//! The session guarantees of Terry and others (1994) over registers whose values are written once each:
//! read your writes, monotonic reads, monotonic writes, writes follow reads.
//!
//! Each guarantee orders the values of a key that one process met one after the other. If no order of
//! the values is right for all, there is a cycle, told by the guarantee of its last step when that is
//! taken. A read of nil after a value is one at once. O(operations) where values are met about in order.

use rustc_hash::{FxHashMap, FxHashSet};

use super::elements::Elements;
use super::levels::{Edge, Levels};
use super::parts::{self, Access};
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

/// Steps of a cycle told in full.
const STEPS: usize = 8;

/// Cycles that are looked for; one more tells nobody anything new.
const MOST: u32 = 100;

/// What a process did last with a key.
#[derive(Clone, Copy)]
struct Last {
    node: u32,
    writes: bool,
    moment: Moment,
}

/// One process met one value after another.
#[derive(Clone, Copy)]
struct Met {
    before: Last,
    after: Last,
}

impl Met {
    fn guarantee(&self) -> &'static str {
        match (self.before.writes, self.after.writes) {
            (true, false) => "read-your-writes",
            (false, false) => "monotonic-reads",
            (true, true) => "monotonic-writes",
            (false, true) => "writes-follow-reads",
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Session {
    keys: Elements,
    values: Elements,
    /// A value of a key as one number.
    nodes: FxHashMap<(u32, u32), u32>,
    of_node: Vec<(u32, u32)>,
    written: FxHashSet<u32>,
    last: FxHashMap<(u32, u32), Last>,
    met: Vec<Met>,
    /// The values, each after those that somebody met before it.
    order: Levels,
    cycles: u32,
}

impl Session {
    fn key(&mut self, access: &Access) -> u32 {
        // The event's own key is the one of this state.
        access.key.map_or(u32::MAX, |key| self.keys.number(key))
    }

    fn node(&mut self, key: u32, access: &Access) -> u32 {
        let value = self.values.number(access.value);
        let next = self.of_node.len() as u32;
        let node = *self.nodes.entry((key, value)).or_insert(next);
        if node == next {
            self.of_node.push((key, value));
            self.order.add_node([]);
        }
        node
    }

    fn begin(&mut self, step: &Step, access: &Access, tally: &mut Tally) {
        let key = self.key(access);
        let node = self.node(key, access);
        if !self.written.insert(node) {
            let (index, value) =
                (step.event.index, self.values.name(self.of_node[node as usize].1));
            tally.broken(|| format!("event {index}: {value} is written to one key a second time"));
        }
    }

    fn meet(&mut self, step: &Step, access: &Access, tally: &mut Tally) {
        tally.count(if access.writes { "writes" } else { "reads" }, 1);
        let key = self.key(access);
        let before = self.last.get(&(step.process, key)).copied();
        if access.value.is_nil() {
            if let Some(before) = before {
                let kind = if before.writes { "read-your-writes" } else { "monotonic-reads" };
                tally.report(kind, || self.vanished(before, step.now()));
            }
            return;
        }
        let after =
            Last { node: self.node(key, access), writes: access.writes, moment: step.now() };
        self.last.insert((step.process, key), after);
        if let Some(before) = before.filter(|before| before.node != after.node) {
            self.follow(Met { before, after }, tally);
        }
    }

    /// The value met comes after the one before it.
    fn follow(&mut self, met: Met, tally: &mut Tally) {
        if self.cycles >= MOST || !tally.wants(met.guarantee()) {
            return;
        }
        let tag = self.met.len() as u32;
        self.met.push(met);
        let edge = Edge { from: met.before.node, to: met.after.node, tag };
        if let Some(cycle) = self.order.add(edge) {
            self.cycles += 1;
            let (kind, told) = self.cycle(&cycle);
            tally.report(kind, || told);
        }
    }

    fn value(&self, last: &Last) -> String {
        let (key, value) = self.of_node[last.node as usize];
        let value = self.values.name(value);
        match key {
            u32::MAX => value.to_string(),
            key => format!("{value} of {}", self.keys.name(key)),
        }
    }

    fn did(&self, last: &Last) -> String {
        let verb = if last.writes { "wrote" } else { "read" };
        format!("{verb} {} at {}", self.value(last), at(last.moment))
    }

    fn vanished(&self, before: Last, now: Moment) -> Told {
        let (process, moment) = (now.process, at(now));
        Told {
            summary: format!("process {process} {} and read nil at {moment}", self.did(&before)),
            proof: vec![before.moment, now],
            ..Told::default()
        }
    }

    fn cycle(&self, cycle: &[Edge]) -> (&'static str, Told) {
        let met = cycle.iter().map(|edge| &self.met[edge.tag as usize]);
        let mut met: Vec<&Met> = met.collect();
        met.sort_unstable_by_key(|met| met.after.moment.index);
        let kind = met.last().map_or("monotonic-reads", |met| met.guarantee());
        let line = |met: &&Met| {
            let process = met.after.moment.process;
            format!("process {process} {}, then {}", self.did(&met.before), self.did(&met.after))
        };
        let lines: Vec<String> = met.iter().rev().take(STEPS).map(line).collect();
        let proof = met.iter().flat_map(|met| [met.before.moment, met.after.moment]).collect();
        let summary = format!("no order of the values is right for all: {}", lines.join("; "));
        (kind, Told { summary, details: Vec::new(), proof })
    }
}

impl Workload for Session {
    const NAME: &'static str = "session";
    const OPS: &'static [&'static str] = &["read", "write", "txn"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        let all = match parts::accesses(step) {
            Ok(all) => all,
            Err(expected) if step.kind() == Kind::Ok => {
                let (index, found) = (step.event.index, step.value.to_text());
                tally.broken(|| format!("event {index}: {found:.40}, {expected}"));
                return;
            }
            Err(_) => return,
        };
        for access in &all {
            match step.kind() {
                Kind::Invoke if access.writes => self.begin(step, access, tally),
                Kind::Ok => self.meet(step, access, tally),
                _ => {}
            }
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.keys.bytes()
            + self.values.bytes()
            + self.nodes.capacity() * 32
            + self.last.capacity() * (size_of::<Last>() + 16)
            + self.met.capacity() * size_of::<Met>()
            + self.order.bytes()
    }
}
