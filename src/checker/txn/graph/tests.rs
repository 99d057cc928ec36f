//! Graphs, orders and components against plain definitions.

use super::*;
use crate::checker::txn::table::{Shape, Table};
use crate::history::Datum;
use crate::op::{Event, Kind, Process};
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

/// A transaction of a random history: its process, how it ended, and when it began and ended.
#[derive(Clone, Copy, Debug)]
struct Span {
    process: u32,
    kind: Kind,
    begun: usize,
    ended: usize,
}

/// Transactions in the order of their beginnings, and the table of them.
fn random_spans(rng: &mut Rng) -> (Vec<Span>, Table) {
    let (mut spans, mut table) = (Vec::new(), Table::new(Shape::Lists));
    let mut open: Vec<Option<usize>> = vec![None; 1 + rng.below(4) as usize];
    for place in 0..4 + rng.below(16) as usize {
        let process = rng.below(open.len() as u64) as usize;
        let kind = match open[process] {
            None => Kind::Invoke,
            Some(_) => *rng.pick(&[Kind::Ok, Kind::Ok, Kind::Info, Kind::Fail]).expect("a kind"),
        };
        match open[process].take() {
            None => {
                open[process] = Some(spans.len());
                let (process, ended) = (process as u32, usize::MAX);
                spans.push(Span { process, kind: Kind::Info, begun: place, ended });
            }
            Some(number) => spans[number] = Span { kind, ended: place, ..spans[number] },
        }
        let process = Process::Client(process as u32);
        let index = place as u64;
        let event = Event { index, ..Event::new(kind, process, "txn") };
        table.take(&event, Datum::Json(&serde_json::json!([["append", "x", place]])));
    }
    (spans, table)
}

/// By pair of nodes whether an edge or several lead from the one to the other.
fn reachable(graph: &Graph) -> Vec<Vec<bool>> {
    let nodes = graph.nodes();
    let mut reach = vec![vec![false; nodes]; nodes];
    for (from, row) in reach.iter_mut().enumerate() {
        graph.out(from as u32).for_each(|(to, _)| row[to as usize] = true);
    }
    for through in 0..nodes {
        let onward = reach[through].clone();
        for row in reach.iter_mut().filter(|row| row[through]) {
            row.iter_mut().zip(&onward).for_each(|(to, further)| *to |= further);
        }
    }
    reach
}

#[test]
fn real_time_leads_from_what_was_over_to_what_began_later_and_nowhere_else() {
    for seed in 0..400 {
        let (spans, table) = random_spans(&mut Rng::from_seed(seed));
        let mut edges = Edges::new(table.len());
        realtime_order(&table, &mut edges);
        assert!(edges.len() <= 3 * spans.len(), "seed {seed}: {} edges", edges.len());
        let reach = reachable(&edges.into_graph());
        for (from, one) in spans.iter().enumerate() {
            for (to, other) in spans.iter().enumerate() {
                let before =
                    one.kind == Kind::Ok && other.kind != Kind::Fail && one.ended < other.begun;
                assert_eq!(reach[from][to], before, "seed {seed}: {one:?} {other:?}");
            }
        }
    }
}

#[test]
fn a_process_leads_from_each_ok_to_what_it_did_until_the_next() {
    for seed in 0..400 {
        let (spans, table) = random_spans(&mut Rng::from_seed(seed));
        let mut edges = Edges::new(table.len());
        process_order(&table, &mut edges);
        let graph = edges.into_graph();
        for (from, one) in spans.iter().enumerate() {
            let later = (from + 1..spans.len()).filter(|to| spans[*to].process == one.process);
            let mut expected: Vec<(u32, u8)> = Vec::new();
            for to in later.filter(|to| one.kind == Kind::Ok && spans[*to].kind != Kind::Fail) {
                expected.push((to as u32, rel::PROCESS));
                if spans[to].kind == Kind::Ok {
                    break;
                }
            }
            assert_eq!(
                graph.out(from as u32).collect::<Vec<_>>(),
                expected,
                "seed {seed}: {spans:?}"
            );
        }
    }
}
