//! Why there is no order, in words.

use super::drawn::drawn;
use super::known::{begin, commit, node_of};
use super::precedence::{Edge, Why, path};
use super::{Goal, Keep, Refutation, Scene};
use crate::checker::Anomaly;
use crate::checker::txn::rw_register::words::Cast;
use crate::checker::txn::table::{NONE, Table};

/// Steps of a circle, and transactions on a way, that are told.
const STEPS: usize = 16;
const ON_WAY: usize = 6;

pub(super) struct Teller<'a, 'c> {
    pub scene: &'a Scene<'a>,
    pub refuted: &'a Refutation,
    cast: Cast<'c, 'a>,
}

pub(crate) fn explain(scene: &Scene, refuted: &Refutation) -> Anomaly {
    let cast = Cast::of(scene.committed.registers);
    let mut teller = Teller { scene, refuted, cast };
    let mut reasons = Vec::new();
    for edge in refuted.cycle.iter().filter(|edge| edge.why != Why::Begin).take(STEPS) {
        reasons.extend(teller.reason(edge));
    }
    if refuted.cycle.len() > STEPS {
        reasons.push(format!("... {} steps in all", refuted.cycle.len()));
    }
    if let Some(last) = reasons.last_mut() {
        *last += ": a contradiction";
    }
    let what = match refuted.asked.goal {
        Goal::Serial => "no serial order of the transactions",
        Goal::Snapshot => "no order of beginnings and commits, as under snapshot isolation,",
    };
    let keeps = match refuted.asked.keep {
        Keep::Nothing => "",
        Keep::Process => " in which each process does its own one after the other",
        Keep::RealTime => " in which what was over comes before what began then",
    };
    let how = match refuted.tried {
        0 => "all of this follows from the reads".to_owned(),
        1 => "both orders of two writes were tried; one of them comes to this".to_owned(),
        tried => format!("{tried} orders of writes were tried; the first comes to this"),
    };
    let summary =
        format!("{what}{keeps} explains all reads; {how}: {}", reasons.first().map_or("", |r| r));
    let cycle = drawn(&mut teller).map(Box::new);
    Anomaly { cycle, ..teller.cast.anomaly(refuted.asked.anomaly(), summary, reasons) }
}

impl Teller<'_, '_> {
    fn name(&mut self, moment: u32) -> String {
        self.name_node(node_of(self.refuted.asked.goal, moment))
    }

    pub fn name_node(&mut self, node: u32) -> String {
        self.cast.name(self.scene.committed.txns.get(node as usize).copied().unwrap_or(NONE))
    }

    pub fn is_txn(&self, moment: u32) -> bool {
        (node_of(self.refuted.asked.goal, moment) as usize) < self.scene.committed.len()
    }

    /// Nothing where a step leads between moments of real time only.
    fn reason(&mut self, edge: &Edge) -> Option<String> {
        let registers = self.scene.committed.registers;
        if edge.why == Why::RealTime {
            let from = self.is_txn(edge.from).then(|| self.name(edge.from));
            let to = self.is_txn(edge.to).then(|| self.name(edge.to));
            return match (from, to) {
                (Some(from), _) => Some(format!("{from} was over")),
                (None, Some(to)) => Some(format!("before {to} began")),
                (None, None) => None,
            };
        }
        let (one, other) = (self.name(edge.from), self.name(edge.to));
        self.key(edge).into_iter().for_each(|key| self.cast.about(key));
        let key_text = |key: u32| registers.table.key_text(key);
        let why = match edge.why {
            Why::Initial => "the initial state is before everything".to_owned(),
            Why::Process => "the same process did one after the other".to_owned(),
            Why::Begin | Why::RealTime => return None,
            Why::Read { version } => format!("{other} read {} from {one}", registers.told(version)),
            Why::Version { key } => {
                format!(
                    "both wrote {}, whose values are known to follow each other so",
                    key_text(key)
                )
            }
            Why::Overwrite { key } => {
                let way =
                    self.way(begin(self.refuted.asked.goal, self.node(edge.from)), edge.to, edge);
                format!(
                    "both wrote {}, and {one} began before {other} committed{way}",
                    key_text(key)
                )
            }
            Why::Anti { key, from } => {
                let goal = self.refuted.asked.goal;
                let later = commit(goal, self.node(edge.to));
                let way = self.way(begin(goal, from), later, edge);
                let writer = self.name_node(from);
                let key = key_text(key);
                format!("{one} read {key} from {writer}, and {other} wrote it after {writer}{way}")
            }
            Why::Visible { key, reader } => {
                let to = begin(self.refuted.asked.goal, reader);
                let from = commit(self.refuted.asked.goal, self.node(edge.from));
                let way = self.way(from, to, edge);
                let (reader, key) = (self.name_node(reader), key_text(key));
                format!(
                    "both wrote {key}, {reader} read it from {other}, and {one} was before {reader}{way}"
                )
            }
            Why::Chosen { key } => {
                format!("both wrote {}, and this order was tried", key_text(key))
            }
        };
        Some(format!("{one} is before {other}: {why}"))
    }

    pub fn node(&self, moment: u32) -> u32 {
        node_of(self.refuted.asked.goal, moment)
    }

    /// By which transactions one moment was known to come before another when an edge was concluded.
    fn way(&mut self, from: u32, to: u32, edge: &Edge) -> String {
        let way = path(self.known_before(edge), from, to, |_| true);
        let mut nodes: Vec<u32> = way.iter().map(|edge| edge.to).collect();
        nodes.pop();
        nodes.retain(|moment| self.is_txn(*moment));
        let mut nodes: Vec<u32> = nodes.into_iter().map(|moment| self.node(moment)).collect();
        nodes.dedup();
        nodes.retain(|node| *node != self.node(from) && *node != self.node(to));
        if nodes.is_empty() {
            return String::new();
        }
        let shown: Vec<String> =
            nodes.iter().take(ON_WAY).map(|node| self.name_node(*node)).collect();
        let more = if nodes.len() > ON_WAY { ", ..." } else { "" };
        format!(" (by way of {}{more})", shown.join(", "))
    }

    /// What was known when an edge was concluded.
    pub fn known_before(&self, edge: &Edge) -> &'_ [Edge] {
        let known = self.refuted.edges.iter().position(|other| other == edge);
        &self.refuted.edges[..known.unwrap_or(self.refuted.edges.len())]
    }

    pub fn table(&self) -> &'_ Table {
        self.scene.committed.registers.table
    }

    /// The key that an edge is about.
    pub fn key(&self, edge: &Edge) -> Option<u32> {
        match edge.why {
            Why::Read { version } => Some(self.scene.committed.registers.key(version)),
            Why::Version { key }
            | Why::Overwrite { key }
            | Why::Anti { key, .. }
            | Why::Visible { key, .. }
            | Why::Chosen { key } => Some(key),
            Why::Initial | Why::Begin | Why::Process | Why::RealTime => None,
        }
    }

    /// What was read, or else what the later one wrote to the key.
    pub fn value(&self, to: u32, edge: &Edge) -> Option<String> {
        let registers = self.scene.committed.registers;
        let version = match edge.why {
            Why::Read { version } => Some(version),
            _ => {
                let writes =
                    self.scene.prints.writes.of(*self.scene.committed.txns.get(to as usize)?);
                let key = self.key(edge)?;
                writes.iter().copied().find(|version| registers.key(*version) == key)
            }
        };
        version.map(|version| registers.value_text(version).into_owned())
    }

    /// Why the one transaction is before the other.
    pub fn hop_reason(&mut self, from: u32, to: u32, edge: &Edge) -> String {
        if edge.why == Why::RealTime {
            let (one, other) = (self.name_node(from), self.name_node(to));
            return format!("{one} was over before {other} began");
        }
        self.reason(edge).unwrap_or_default()
    }
}
