//! What is kept of ways: the shortest, and each transaction once.

use super::CycleStep;
use super::search::Search;
use crate::checker::txn::graph::{Components, Successors};

/// How many cycles of a kind are told of one component.
const TOLD: usize = 4;

/// In how many places the shortest cycle is looked for before the shortest so far is told.
pub const TRIED: usize = 32;

/// The shortest ways seen so far.
#[derive(Default)]
pub struct Shortest {
    pub ways: Vec<Vec<u32>>,
}

impl Shortest {
    pub fn offer(&mut self, way: Vec<u32>) {
        let place = self.ways.partition_point(|other| other.len() <= way.len());
        if place < TOLD {
            self.ways.insert(place, way);
            self.ways.truncate(TOLD);
        }
    }
}

/// The shortest of the ways between these pairs. `true`: the end is not the start, and belongs to the way.
pub fn shortest<G: Successors>(
    search: &mut Search,
    graph: &G,
    pairs: impl Iterator<Item = (u32, u32, bool)>,
    allowed: impl Fn(u32, u32) -> bool,
) -> Vec<Vec<u32>> {
    let mut best = Shortest::default();
    for (from, to, apart) in pairs.take(TRIED) {
        if search.reach(graph, (from, to), |node| allowed(from, node)) {
            let mut way = search.way();
            way.extend(apart.then_some(to));
            best.offer(way);
        }
        if search.effort.gave_up {
            break;
        }
    }
    best.ways
}

/// As many as are tried, from all over the list.
pub fn spread(pairs: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32)> {
    pairs.iter().step_by((pairs.len() / TRIED).max(1)).copied()
}

/// The members of some components with cycles, smallest first.
pub fn cyclic_members(found: &Components) -> Vec<Vec<u32>> {
    let mut cyclic: Vec<u32> =
        (0..found.sizes.len() as u32).filter(|number| found.sizes[*number as usize] > 1).collect();
    cyclic.sort_by_key(|number| found.sizes[*number as usize]);
    cyclic.truncate(TOLD);
    let mut members = vec![Vec::new(); cyclic.len()];
    for node in 0..found.of.len() as u32 {
        let number = found.of[node as usize];
        if let Some(at) = cyclic.iter().position(|other| *other == number) {
            members[at].push(node);
        }
    }
    members
}

/// Cuts a way around where it comes by a transaction twice.
///
/// A shortest way does so only where an anti-dependency led to the transaction first, and none the second
/// time, to go on by one: so in the circle between the two they stay apart.
pub fn without_repetition(steps: Vec<CycleStep>) -> Vec<CycleStep> {
    match repetition(&steps) {
        Some((start, end)) => steps[start..end].to_vec(),
        None => steps,
    }
}

/// Two steps from the same transaction, the closest ones.
fn repetition(steps: &[CycleStep]) -> Option<(usize, usize)> {
    for end in 0..steps.len() {
        if let Some(start) = steps[..end].iter().rposition(|step| step.from == steps[end].from) {
            return Some((start, end));
        }
    }
    None
}
