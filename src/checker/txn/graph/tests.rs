//! Graphs, orders and components against plain definitions.

use super::*;
use crate::rng::Rng;

impl Successors for Graph {
    fn nodes(&self) -> usize {
        Graph::nodes(self)
    }

    fn range(&self, node: u32) -> std::ops::Range<u32> {
        Graph::range(self, node)
    }

    fn follow(&self, _node: u32, edge: u32) -> Option<u32> {
        Some(self.edge(edge).0)
    }
}

#[test]
fn components_are_the_classes_of_mutual_reachability() {
    for seed in 0..300 {
        let mut rng = Rng::from_seed(seed);
        let nodes = 1 + rng.below(9) as usize;
        let mut edges = Edges::new(nodes);
        let mut reach = vec![vec![false; nodes]; nodes];
        for _ in 0..rng.below(20) {
            let (from, to) = (rng.below(nodes as u64), rng.below(nodes as u64));
            edges.add(from as u32, to as u32, rel::WW);
            reach[from as usize][to as usize] = true;
        }
        for through in 0..nodes {
            let onward = reach[through].clone();
            for row in reach.iter_mut().filter(|row| row[through]) {
                row.iter_mut().zip(&onward).for_each(|(to, further)| *to |= further);
            }
        }
        let found = components(&edges.into_graph());
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        for (from, to) in pairs {
            let mutual = from == to || (reach[from][to] && reach[to][from]);
            assert_eq!(found.same(from as u32, to as u32), mutual, "seed {seed}");
            let later = reach[from][to] && found.of[to] > found.of[from];
            assert!(!later, "seed {seed}: an edge to a higher number");
        }
    }
}
