//! Cycles against an enumeration of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::names::{Class, Tag, name};
use super::*;
use crate::checker::txn::consistency::implied_by;
use crate::checker::txn::graph::{Edges, rel};
use crate::rng::Rng;

const CLASSES: [Class; 5] = [Class::G0, Class::G1c, Class::Single, Class::Nonadjacent, Class::G2];
const TAGS: [Tag; 3] = [Tag::Plain, Tag::Process, Tag::Realtime];

/// What kind of cycle steps of these kinds make up.
fn class(kinds: &[u8]) -> (Class, Tag) {
    let has = |kind: u8| kinds.contains(&kind);
    let anti = kinds.iter().filter(|kind| **kind == rel::RW).count();
    let next = kinds.iter().cycle().skip(1);
    let in_a_row = kinds.iter().zip(next).any(|pair| pair == (&rel::RW, &rel::RW));
    let class = match anti {
        0 if has(rel::WR) => Class::G1c,
        0 => Class::G0,
        1 => Class::Single,
        _ if in_a_row => Class::G2,
        _ => Class::Nonadjacent,
    };
    let tag = match (has(rel::REALTIME), has(rel::PROCESS)) {
        (true, _) => Tag::Realtime,
        (false, true) => Tag::Process,
        (false, false) => Tag::Plain,
    };
    (class, tag)
}

/// By pair of transactions all that leads from the one to the other.
type Matrix = Vec<Vec<u8>>;

fn random(rng: &mut Rng) -> Matrix {
    let txns = 2 + rng.below(5) as usize;
    let mut matrix = vec![vec![0u8; txns]; txns];
    let orders = rng.below(4);
    for _ in 0..1 + rng.below(3 * txns as u64) {
        let (from, to) = (rng.below(txns as u64) as usize, rng.below(txns as u64) as usize);
        let kind = match rng.below(6) {
            0 => rel::WW,
            1 => rel::WR,
            2 | 3 => rel::RW,
            _ if from > to || orders == 0 => rel::RW,
            _ if orders == 3 => *rng.pick(&[rel::PROCESS, rel::REALTIME]).expect("an order"),
            _ => [rel::PROCESS, rel::REALTIME][orders as usize - 1],
        };
        if from != to {
            matrix[from][to] |= kind;
        }
    }
    for kinds in matrix.iter_mut().flatten() {
        if *kinds & (rel::WW | rel::WR) != 0 {
            *kinds &= !rel::RW;
        }
    }
    matrix
}

/// A cycle as its steps: from, to, and by what.
type Steps = Vec<(usize, usize, u8)>;

/// All cycles from `start` over transactions of higher numbers.
fn enumerate(matrix: &Matrix, start: usize, path: &mut Steps, all: &mut Vec<Steps>) {
    let here = path.last().map_or(start, |(_, to, _)| *to);
    for to in start..matrix.len() {
        for kind in (0..5).map(|bit| 1 << bit).filter(|kind| matrix[here][to] & kind != 0) {
            let is_new = to != start && path.iter().all(|(_, node, _)| *node != to);
            path.push((here, to, kind));
            if to == start {
                all.push(path.clone());
            } else if is_new {
                enumerate(matrix, start, path, all);
            }
            path.pop();
        }
    }
}

fn component(matrix: &Matrix, of: usize) -> usize {
    let mut edges = Edges::new(matrix.len());
    add(matrix, &mut edges);
    let graph = edges.into_graph();
    components(&Plain::whole(&graph)).of[of] as usize
}

fn add(matrix: &Matrix, edges: &mut Edges) {
    for (from, row) in matrix.iter().enumerate() {
        for (to, kinds) in row.iter().enumerate() {
            for kind in (0..5).map(|bit| 1 << bit).filter(|kind| kinds & kind != 0) {
                edges.add(from as u32, to as u32, kind);
            }
        }
    }
}

/// The kinds of cycles that are to be found, and how many anti-dependencies close one of that kind.
fn expected(matrix: &Matrix) -> BTreeMap<&'static str, u64> {
    let mut all = Vec::new();
    for start in 0..matrix.len() {
        enumerate(matrix, start, &mut Vec::new(), &mut all);
    }
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    let numbers: BTreeSet<usize> = all.iter().map(|steps| component(matrix, steps[0].0)).collect();
    for number in numbers {
        let here = all.iter().filter(|steps| component(matrix, steps[0].0) == number);
        let classes = here.map(|steps| {
            let kinds: Vec<u8> = steps.iter().map(|(.., kind)| *kind).collect();
            (class(&kinds), steps)
        });
        let here: Vec<((Class, Tag), &Steps)> = classes.collect();
        let mut implied: Vec<&str> = Vec::new();
        for (tag, kind) in TAGS.iter().flat_map(|tag| CLASSES.iter().map(move |kind| (*tag, *kind)))
        {
            let name = name(kind, tag);
            let of_kind: Vec<&Steps> =
                here.iter().filter(|(class, _)| *class == (kind, tag)).map(|(_, s)| *s).collect();
            if !of_kind.is_empty() && !implied.contains(&name) {
                let steps = of_kind.into_iter().flatten();
                let closing: BTreeSet<_> = steps.filter(|(.., by)| *by == rel::RW).collect();
                *names.entry(name).or_default() += closing.len() as u64;
                implied.extend(implied_by(name));
            }
        }
    }
    names
}

/// Each cycle that is told is one, of transactions that differ, and of the kind that its name says.
fn check_told(matrix: &Matrix, cycles: &Cycles, seed: u64) {
    for cycle in &cycles.told {
        let kinds: Vec<u8> = cycle.steps.iter().map(|step| step.kind).collect();
        let (class, tag) = class(&kinds);
        assert_eq!(name(class, tag), cycle.name, "seed {seed}: {cycle:?}");
        for (step, next) in cycle.steps.iter().zip(cycle.steps.iter().cycle().skip(1)) {
            assert!(matrix[step.from as usize][step.to as usize] & step.kind != 0, "seed {seed}");
            assert_eq!(step.to, next.from, "seed {seed}: {cycle:?}");
        }
        let members: BTreeSet<u32> = cycle.steps.iter().map(|step| step.from).collect();
        assert_eq!(members.len(), cycle.steps.len(), "seed {seed}: {cycle:?}");
    }
}

#[test]
fn every_kind_of_cycle_is_found_exactly_where_there_is_one() {
    let seeds =
        std::env::var("STORMGLASS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000);
    for seed in 0..seeds {
        let matrix = random(&mut Rng::from_seed(seed));
        let mut edges = Edges::new(matrix.len());
        add(&matrix, &mut edges);
        let cycles = find_cycles(&edges.into_graph(), &Budget::UNBOUNDED);
        let found: BTreeSet<&str> = cycles.counts.keys().copied().collect();
        let expected = expected(&matrix);
        // A way around that comes by a transaction twice shows a worse cycle, and is none itself.
        if !found.contains("G1c") && !found.contains("G0") {
            let names: BTreeSet<&str> = expected.keys().copied().collect();
            assert_eq!(found, names, "seed {seed}: {matrix:?}");
            for tag in TAGS {
                let single = name(Class::Single, tag);
                assert_eq!(
                    cycles.counts.get(single),
                    expected.get(single),
                    "seed {seed}: {matrix:?}"
                );
            }
        }
        let mut missed = expected.keys().filter(|name| !found.contains(*name));
        assert!(missed.all(|name| !name.starts_with("G0")), "seed {seed}: {matrix:?}");
        assert_eq!(cycles.undecided, None);
        check_told(&matrix, &cycles, seed);
    }
}

fn cycles_of(txns: usize, edges: &[(u32, u32, u8)], budget: &Budget) -> Cycles {
    let mut all = Edges::new(txns);
    for (from, to, kind) in edges {
        all.add(*from, *to, *kind);
    }
    find_cycles(&all.into_graph(), budget)
}

#[test]
fn circles_of_dependencies_are_counted_by_group() {
    // Two pairs, and three transactions that depend on each other only by an anti-dependency.
    let pairs = [(0, 1, rel::WW), (1, 0, rel::WW), (2, 3, rel::WW), (3, 2, rel::WW)];
    let around =
        [(1, 4, rel::WR), (4, 5, rel::WR), (5, 2, rel::WR), (3, 6, rel::WR), (6, 0, rel::RW)];
    let cycles = cycles_of(7, &[&pairs[..], &around].concat(), &Budget::UNBOUNDED);
    assert_eq!(cycles.counts.get("G0"), Some(&2));
    let read = pairs.map(|(from, to, _)| (from, to, rel::WR));
    let cycles = cycles_of(7, &[&read[..], &around].concat(), &Budget::UNBOUNDED);
    assert_eq!((cycles.counts.get("G0"), cycles.counts.get("G1c")), (None, Some(&2)));
}

#[test]
fn what_the_time_did_not_suffice_for_is_said() {
    const TXNS: u32 = 20_000;
    let ring = |anti: &[u32]| -> Vec<(u32, u32, u8)> {
        let kind = |from: &u32| if anti.contains(from) { rel::RW } else { rel::WR };
        (0..TXNS).map(|from| (from, (from + 1) % TXNS, kind(&from))).collect()
    };
    for (anti, kind) in
        [(&[17][..], "G-single-item"), (&[17, 9_000], "G-nonadjacent-item"), (&[17, 18], "G2-item")]
    {
        let cycles = cycles_of(TXNS as usize, &ring(anti), &Budget::UNBOUNDED);
        assert_eq!(cycles.counts.keys().collect::<Vec<_>>(), [&kind]);
        assert_eq!(cycles.undecided, None);
        // The first look, before any search, finds time left.
        let looks = AtomicU64::new(0);
        let gone = || looks.fetch_add(1, Relaxed) > 0;
        let budget = Budget { exhausted: &gone, ..Budget::UNBOUNDED };
        let cycles = cycles_of(TXNS as usize, &ring(anti), &budget);
        assert!(cycles.counts.is_empty() && cycles.told.is_empty(), "{:?}", cycles.counts);
        let why = cycles.undecided.unwrap_or_default();
        assert!(why.contains(&format!("whether {TXNS} transactions show G")), "{kind}: {why}");
    }
    // That there is a circle is seen without a search; it is only not told.
    let looks = AtomicU64::new(0);
    let gone = || looks.fetch_add(1, Relaxed) > 0;
    let budget = Budget { exhausted: &gone, ..Budget::UNBOUNDED };
    let cycles = cycles_of(TXNS as usize, &ring(&[]), &budget);
    assert_eq!((cycles.counts.get("G1c"), cycles.told.len()), (Some(&1), 0));
}

/// Circles of a large group: all are told, though a worse one implies those of lesser kinds.
fn kinds_of_large(more: &[(u32, u32, u8)]) -> Vec<&'static str> {
    let ring = (0..100).map(|from| (from, (from + 1) % 100, rel::WR));
    let edges: Vec<_> = ring.chain(more.iter().copied()).collect();
    let cycles = cycles_of(102, &edges, &Budget::UNBOUNDED);
    for cycle in &cycles.told {
        let kinds: Vec<u8> = cycle.steps.iter().map(|step| step.kind).collect();
        let (class, tag) = class(&kinds);
        assert_eq!(name(class, tag), cycle.name, "{cycle:?}");
    }
    cycles.counts.keys().copied().collect()
}

#[test]
fn two_anti_dependencies_in_a_row_are_seen_beside_a_worse_circle() {
    let in_a_row = [(0, 100, rel::RW), (100, 50, rel::RW)];
    assert_eq!(kinds_of_large(&in_a_row), ["G1c", "G2-item"]);
    // Past the middle there must be a way back.
    let back = [(100, 0, rel::WR), (101, 100, rel::WR)];
    let only_through = [(0, 100, rel::RW), (100, 101, rel::RW)];
    assert_eq!(kinds_of_large(&[&only_through[..], &back].concat()), ["G1c", "G-single-item"]);
    // A way back in real time makes it one of real time.
    let late = [(0, 100, rel::RW), (100, 101, rel::RW), (101, 50, rel::REALTIME)];
    assert_eq!(kinds_of_large(&late), ["G1c", "G2-item-realtime"]);
    let of_process = [(0, 100, rel::RW), (100, 101, rel::RW), (101, 50, rel::PROCESS)];
    assert_eq!(kinds_of_large(&of_process), ["G1c", "G2-item-process"]);
}

#[test]
fn an_order_beside_the_dependencies_is_no_anti_dependency() {
    let edges = [
        (0, 1, rel::RW),
        (1, 2, rel::WR),
        (2, 3, rel::PROCESS),
        (3, 4, rel::WR),
        (4, 5, rel::RW),
        (5, 0, rel::WR),
    ];
    let cycles = cycles_of(6, &edges, &Budget::UNBOUNDED);
    assert_eq!(cycles.counts.keys().collect::<Vec<_>>(), [&"G-nonadjacent-item-process"]);
    let in_time = edges.map(|(from, to, kind)| {
        (from, to, if kind == rel::PROCESS { rel::REALTIME } else { kind })
    });
    let cycles = cycles_of(6, &in_time, &Budget::UNBOUNDED);
    assert_eq!(cycles.counts.keys().collect::<Vec<_>>(), [&"G-nonadjacent-item-realtime"]);
}
