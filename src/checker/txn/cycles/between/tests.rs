//! Ways found from both ends against those found from one.

use super::*;
use crate::checker::txn::cycles::part::parts;
use crate::checker::txn::cycles::search::Search;
use crate::checker::txn::cycles::view::Plain;
use crate::checker::txn::graph::{Edges, components, rel};
use crate::rng::Rng;

fn random(rng: &mut Rng) -> Edges {
    let nodes = 2 + rng.below(40);
    let mut edges = Edges::new(nodes as usize);
    for _ in 0..rng.below(3 * nodes) {
        let kind = [rel::WW, rel::WR, rel::RW][rng.below(3) as usize];
        edges.add(rng.below(nodes) as u32, rng.below(nodes) as u32, kind);
    }
    edges
}

/// Compares some pairs of a component; how many of them are connected.
fn compare(part: &Part, rng: &mut Rng, seed: u64) -> usize {
    let mask = [u8::MAX, rel::WW | rel::WR][rng.below(2) as usize];
    let forbidden = rng.below(part.len() as u64) as u32;
    let allowed = |node: u32| node != forbidden;
    let mut between = Between::new(part, mask, &|| false);
    let mut search = Search::new(part.len(), &|| false);
    let mut found = 0;
    for _ in 0..20 {
        let (from, to) = (rng.below(part.len() as u64) as u32, rng.below(part.len() as u64) as u32);
        if from == to || to == forbidden {
            continue;
        }
        let way = between.way(from, to, allowed);
        let is_way = search.reach(&Plain::new(part, mask), (from, to), allowed);
        let length = is_way.then(|| search.way().len() + 1);
        assert_eq!(way.as_ref().map(Vec::len), length, "seed {seed}: from {from} to {to}");
        let Some(way) = way else { continue };
        found += 1;
        assert_eq!((way[0], way[way.len() - 1]), (from, to), "seed {seed}");
        let is_edge = |step: &[u32]| part.kind(step[0], step[1]) & mask != 0;
        assert!(way.windows(2).all(is_edge), "seed {seed}: {way:?}");
        assert!(way[1..].iter().all(|node| allowed(*node)), "seed {seed}: {way:?}");
    }
    found
}

#[test]
fn a_way_from_both_ends_is_as_short_as_one_from_one_end() {
    let mut found = 0;
    for seed in 0..400 {
        let mut rng = Rng::from_seed(seed);
        let graph = random(&mut rng).into_graph();
        for part in parts(&graph, &components(&Plain::whole(&graph))) {
            found += compare(&part, &mut rng, seed);
        }
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn a_search_ends_with_the_time_and_says_so() {
    let mut edges = Edges::new(10_000);
    (0..10_000).for_each(|node| edges.add(node, (node + 1) % 10_000, rel::WW));
    let graph = edges.into_graph();
    let part = parts(&graph, &components(&Plain::whole(&graph))).next().unwrap();
    let mut between = Between::new(&part, rel::WW, &|| true);
    assert_eq!((between.way(0, 9_999, |_| true), between.effort.gave_up), (None, true));
}
