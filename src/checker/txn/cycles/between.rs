//! Shortest ways from one node to another, from both ends at once.
//!
//! A level of the smaller side at a time: where each step has a few successors, that visits about the
//! square root of what a search from one end does, and where there is no way, the smaller side ends it.

#[cfg(test)]
mod tests;

use super::effort::Effort;
use super::part::Part;
use crate::checker::txn::table::NONE;

/// The tables of the searches, for one component and edges of some kinds.
pub struct Between<'a> {
    part: &'a Part,
    mask: u8,
    /// By node where the edges that lead to it begin in `sources`.
    starts: Vec<u32>,
    sources: Vec<u32>,
    marks: Vec<Mark>,
    sides: [Side; 2],
    round: u32,
    pub effort: Effort<'a>,
}

/// What is known of a node, by side.
#[derive(Clone, Copy)]
struct Mark {
    /// The search that saw it last.
    seen: [u32; 2],
    /// The node next to it on the way to the end.
    nearer: [u32; 2],
}

/// What was reached from one end.
#[derive(Default)]
struct Side {
    /// All that was reached; what is to be gone on from begins at `open`.
    reached: Vec<u32>,
    open: usize,
}

const AHEAD: usize = 0;
const BACK: usize = 1;

impl<'a> Between<'a> {
    pub fn new(part: &'a Part, mask: u8, exhausted: &'a dyn Fn() -> bool) -> Between<'a> {
        let nodes = part.len();
        let taken = |edge: &usize| part.kinds[*edge] & mask != 0;
        let mut starts = vec![0_u32; nodes + 1];
        let edges = 0..part.targets.len();
        edges.clone().filter(taken).for_each(|edge| starts[part.targets[edge] as usize + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut sources = vec![NONE; starts[nodes] as usize];
        for node in 0..nodes as u32 {
            for edge in part.range(node).map(|edge| edge as usize).filter(taken) {
                let place = &mut free[part.targets[edge] as usize];
                sources[*place as usize] = node;
                *place += 1;
            }
        }
        let marks = vec![Mark { seen: [0; 2], nearer: [NONE; 2] }; nodes];
        let (sides, effort) = (Default::default(), Effort::new(exhausted));
        Between { part, mask, starts, sources, marks, sides, round: 0, effort }
    }

    /// The nodes of a shortest way between two that differ, both ends included, through nodes that are
    /// `allowed`.
    pub fn way(&mut self, from: u32, to: u32, allowed: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        self.round += 1;
        for (side, end) in [(AHEAD, from), (BACK, to)] {
            self.sides[side].open = 0;
            self.sides[side].reached.clear();
            self.reach(side, end, NONE);
        }
        loop {
            let [ahead, back] = self.sides.each_ref().map(Side::width);
            if ahead == 0 || back == 0 || self.effort.gave_up {
                return None;
            }
            if let Some(middle) = self.widen(if ahead <= back { AHEAD } else { BACK }, &allowed) {
                return Some(self.through(middle));
            }
        }
    }

    /// Goes one step on from all that is open on a side; to where the other side has been.
    fn widen(&mut self, side: usize, allowed: &impl Fn(u32) -> bool) -> Option<u32> {
        let end = self.sides[side].reached.len();
        while self.sides[side].open < end {
            let node = self.sides[side].reached[self.sides[side].open];
            self.sides[side].open += 1;
            if self.effort.spent() {
                return None;
            }
            let edges = match side {
                AHEAD => self.part.range(node),
                _ => self.starts[node as usize]..self.starts[node as usize + 1],
            };
            for edge in edges.map(|edge| edge as usize) {
                if side == AHEAD && self.part.kinds[edge] & self.mask == 0 {
                    continue;
                }
                let next = if side == AHEAD { self.part.targets[edge] } else { self.sources[edge] };
                let seen = self.marks[next as usize].seen;
                if seen[side] == self.round || !allowed(next) {
                    continue;
                }
                self.reach(side, next, node);
                if seen[1 - side] == self.round {
                    return Some(next);
                }
            }
        }
        None
    }

    fn reach(&mut self, side: usize, node: u32, nearer: u32) {
        let mark = &mut self.marks[node as usize];
        (mark.seen[side], mark.nearer[side]) = (self.round, nearer);
        self.sides[side].reached.push(node);
    }

    fn through(&self, middle: u32) -> Vec<u32> {
        let known = |node: u32| (node != NONE).then_some(node);
        let to_end = |side: usize| {
            std::iter::successors(Some(middle), move |node| {
                known(self.marks[*node as usize].nearer[side])
            })
        };
        let mut way: Vec<u32> = to_end(AHEAD).collect();
        way.reverse();
        way.extend(to_end(BACK).skip(1));
        way
    }
}

impl Side {
    /// How many nodes are to be gone on from.
    fn width(&self) -> usize {
        self.reached.len() - self.open
    }
}
