//! The partial order of the versions of each key, from several sources, as Elle infers it.
//!
//! A source whose edges would close a cycle on a key is left out there, and the cycle is an anomaly:
//! `cyclic-versions`. Linear in the edges.

use super::versions::Registers;
use crate::checker::txn::graph::{Successors, components};

/// Why one version comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The one was there at first.
    Initial,
    /// A transaction read the one and then wrote the other.
    WritesFollowReads,
    /// A process met the one and later the other.
    Sequential,
    /// The one was met before a transaction began that met the other.
    Linearizable,
    /// The order of their writers was stated.
    Stated,
    /// The writer of the other had read the one, and a circle of reads is not allowed.
    OwnRead,
    /// The writer of the other came after one of its process that had met the one.
    Process,
    /// The writer of the other began after one was over that had met the one.
    RealTime,
}

impl Source {
    /// As the option that asks for it, if one does.
    pub fn name(self) -> &'static str {
        match self {
            Source::Initial => "initial-state",
            Source::WritesFollowReads => "wfr-keys",
            Source::Sequential => "sequential-keys",
            Source::Linearizable => "linearizable-keys",
            Source::Stated => "transaction-order",
            Source::OwnRead => "own-reads",
            Source::Process => "process-order",
            Source::RealTime => "real-time-order",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionEdge {
    pub from: u32,
    pub to: u32,
    pub source: Source,
}

/// Versions of a key that come before each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionCycle {
    pub key: u32,
    pub steps: Vec<VersionEdge>,
}

/// The order that was found, and where it could not be.
#[derive(Debug, Default)]
pub(crate) struct VersionOrder {
    starts: Vec<u32>,
    /// By origin.
    edges: Vec<VersionEdge>,
    pub cycles: Vec<VersionCycle>,
}

impl VersionOrder {
    /// From the edges of each source, the most trusted source first.
    pub fn of(registers: &Registers, sources: Vec<Vec<VersionEdge>>) -> VersionOrder {
        let nodes = registers.versions.len();
        let all = VersionOrder::sorted(nodes, sources.iter().flatten().copied());
        if all.knots(registers).is_empty() {
            return all;
        }
        let (mut accepted, mut cycles) = (Vec::new(), Vec::new());
        for edges in sources {
            let tried = VersionOrder::sorted(nodes, accepted.iter().chain(&edges).copied());
            let mut is_cyclic = vec![false; registers.table.keys.len()];
            for knot in tried.knots(registers) {
                let key = registers.key(knot[0]);
                is_cyclic[key as usize] = true;
                cycles.push(VersionCycle { key, steps: tried.cycle(&knot) });
            }
            let kept = edges.into_iter().filter(|edge| {
                let key = registers.key(edge.from);
                !is_cyclic[key as usize]
            });
            accepted.extend(kept);
        }
        VersionOrder { cycles, ..VersionOrder::sorted(nodes, accepted.into_iter()) }
    }

    fn sorted(nodes: usize, edges: impl Iterator<Item = VersionEdge> + Clone) -> VersionOrder {
        let mut starts = vec![0_u32; nodes + 1];
        for edge in edges.clone() {
            starts[edge.from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let nothing = VersionEdge { from: 0, to: 0, source: Source::Initial };
        let mut sorted = vec![nothing; starts[nodes] as usize];
        for edge in edges {
            let place = &mut next[edge.from as usize];
            sorted[*place as usize] = edge;
            *place += 1;
        }
        VersionOrder { starts, edges: sorted, cycles: Vec::new() }
    }

    /// What is known to come after a version.
    pub fn after(&self, version: u32) -> &[VersionEdge] {
        let (start, end) = (self.starts[version as usize], self.starts[version as usize + 1]);
        &self.edges[start as usize..end as usize]
    }

    /// Strongly connected versions, by key.
    fn knots(&self, registers: &Registers) -> Vec<Vec<u32>> {
        let found = components(self);
        if !found.any_cycle() {
            return Vec::new();
        }
        let mut knots: std::collections::BTreeMap<(u32, u32), Vec<u32>> = Default::default();
        for version in (0..registers.versions.len() as u32).filter(|v| found.is_cyclic(*v)) {
            let knot = (registers.key(version), found.of[version as usize]);
            knots.entry(knot).or_default().push(version);
        }
        knots.into_values().collect()
    }

    /// A short cycle in a knot: a shortest one through its first version.
    fn cycle(&self, knot: &[u32]) -> Vec<VersionEdge> {
        let root = knot[0];
        let place = |version: u32| knot.binary_search(&version).ok();
        let mut into: Vec<Option<VersionEdge>> = vec![None; knot.len()];
        let mut queue = std::collections::VecDeque::from([root]);
        while let Some(version) = queue.pop_front() {
            for edge in self.after(version) {
                let Some(at) = place(edge.to) else { continue };
                if into[at].is_none() {
                    into[at] = Some(*edge);
                    queue.push_back(edge.to);
                }
            }
        }
        let mut steps: Vec<VersionEdge> = Vec::new();
        let mut at = root;
        while let Some(edge) = place(at).and_then(|at| into[at]) {
            steps.push(edge);
            at = edge.from;
            if at == root {
                break;
            }
        }
        steps.reverse();
        steps
    }
}

impl Successors for VersionOrder {
    fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn range(&self, node: u32) -> std::ops::Range<u32> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    fn follow(&self, _node: u32, edge: u32) -> Option<u32> {
        Some(self.edges[edge as usize].to)
    }
}
