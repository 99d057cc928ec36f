//! Cycles of a directed graph: strongly connected components (Tarjan 1972, without recursion), and a
//! short cycle in each. O(nodes + edges), and as much again for each component that has a cycle.

/// From how many nodes of a component a shortest cycle is sought.
const STARTS: usize = 16;

const NONE: u32 = u32::MAX;

/// An edge, and what it means to whoever drew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    pub tag: u32,
}

pub(super) struct Graph {
    /// Sorted by where they start.
    edges: Vec<Edge>,
    /// Where the edges of each node start in `edges`.
    starts: Vec<u32>,
}

impl Graph {
    pub fn new(nodes: usize, mut edges: Vec<Edge>) -> Graph {
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to, edge.tag));
        let mut starts = vec![0_u32; nodes + 1];
        for edge in &edges {
            starts[edge.from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        Graph { edges, starts }
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn out(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// A short cycle of each component that has one, as its edges in order.
    pub fn cycles(&self) -> Vec<Vec<Edge>> {
        let (component, members) = self.components();
        let cyclic = members.into_iter().enumerate();
        cyclic
            .filter_map(|(number, nodes)| self.shortest(&component, number as u32, &nodes))
            .collect()
    }

    /// The number of each node's component, and of those with more than one node or an edge to
    /// itself, the nodes.
    fn components(&self) -> (Vec<u32>, Vec<Vec<u32>>) {
        let mut search = Search::new(self.nodes());
        for root in 0..self.nodes() as u32 {
            if search.order[root as usize] == NONE {
                search.from(self, root);
            }
        }
        (search.component, search.members)
    }

    /// Breadth first within the component, from a few of its nodes.
    fn shortest(&self, component: &[u32], number: u32, nodes: &[u32]) -> Option<Vec<Edge>> {
        let every = nodes.len().div_ceil(STARTS);
        let found = nodes.iter().step_by(every.max(1));
        found.filter_map(|start| self.back_to(component, number, *start)).min_by_key(Vec::len)
    }

    fn back_to(&self, component: &[u32], number: u32, start: u32) -> Option<Vec<Edge>> {
        let mut by: rustc_hash::FxHashMap<u32, usize> = Default::default();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for position in self.out(node) {
                let to = self.edges[position].to;
                if component[to as usize] != number || by.contains_key(&to) {
                    continue;
                }
                by.insert(to, position);
                if to == start {
                    return Some(self.path(&by, start));
                }
                queue.push_back(to);
            }
        }
        None
    }

    fn path(&self, by: &rustc_hash::FxHashMap<u32, usize>, start: u32) -> Vec<Edge> {
        let mut path = Vec::new();
        let mut node = start;
        while let Some(position) = by.get(&node) {
            let edge = self.edges[*position];
            path.push(edge);
            node = edge.from;
            if node == start {
                break;
            }
        }
        path.reverse();
        path
    }
}

/// Tarjan's search with a stack of its own.
struct Search {
    order: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<u32>,
    members: Vec<Vec<u32>>,
    next: u32,
    alone: u32,
}

impl Search {
    fn new(nodes: usize) -> Search {
        Search {
            order: vec![NONE; nodes],
            low: vec![0; nodes],
            component: vec![NONE; nodes],
            stack: Vec::new(),
            members: Vec::new(),
            next: 0,
            // Components of one node need no number of their own: they have no cycle.
            alone: NONE - 1,
        }
    }

    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.stack.push(node);
    }

    fn from(&mut self, graph: &Graph, root: u32) {
        let mut calls = vec![(root, graph.out(root))];
        self.enter(root);
        while let Some((node, edges)) = calls.last_mut() {
            let node = *node;
            if let Some(position) = edges.next() {
                let to = graph.edges[position].to;
                if self.order[to as usize] == NONE {
                    self.enter(to);
                    calls.push((to, graph.out(to)));
                } else if self.component[to as usize] == NONE {
                    self.low[node as usize] = self.low[node as usize].min(self.order[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                let caller = *caller as usize;
                self.low[caller] = self.low[caller].min(self.low[node as usize]);
            }
            if self.low[node as usize] == self.order[node as usize] {
                self.close(graph, node);
            }
        }
    }

    /// All on the stack from this node on are one component.
    fn close(&mut self, graph: &Graph, node: u32) {
        let from = self.stack.iter().rposition(|other| *other == node).unwrap_or(0);
        let mut nodes = self.stack.split_off(from);
        let to_itself = || graph.out(node).any(|position| graph.edges[position].to == node);
        let cyclic = nodes.len() > 1 || to_itself();
        let number = if cyclic { self.members.len() as u32 } else { self.alone };
        for member in &nodes {
            self.component[*member as usize] = number;
        }
        if cyclic {
            nodes.sort_unstable();
            self.members.push(nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        let edge = |&(from, to)| Edge { from, to, tag: 0 };
        Graph::new(nodes, edges.iter().map(edge).collect())
    }

    #[test]
    fn a_path_has_no_cycle_and_a_ring_has_one() {
        assert!(graph(4, &[(0, 1), (1, 2), (0, 3)]).cycles().is_empty());
        let cycles = graph(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (4, 4)]).cycles();
        assert_eq!(cycles.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        let deep: Vec<(u32, u32)> = (0..100_000).map(|n| (n, (n + 1) % 100_000)).collect();
        assert_eq!(graph(100_000, &deep).cycles()[0].len(), 100_000);
    }

    /// Whether some node is back at itself after so many steps.
    fn returns(nodes: usize, edges: &[(u32, u32)], steps: usize) -> bool {
        (0..nodes as u32).any(|start| {
            let mut reached = vec![start];
            for _ in 0..steps {
                let next = edges.iter().filter(|(from, _)| reached.contains(from));
                reached = next.map(|(_, to)| *to).collect();
            }
            reached.contains(&start)
        })
    }

    #[test]
    fn a_cycle_is_found_if_and_only_if_some_node_reaches_itself() {
        let mut rng = Rng::from_seed(3);
        for _ in 0..2000 {
            let nodes = rng.between(1, 7);
            let edges: Vec<(u32, u32)> = (0..rng.below(14))
                .map(|_| (rng.below(nodes) as u32, rng.below(nodes) as u32))
                .collect();
            let mut reach = vec![vec![false; nodes as usize]; nodes as usize];
            for (from, to) in &edges {
                reach[*from as usize][*to as usize] = true;
            }
            for via in 0..nodes as usize {
                for from in 0..nodes as usize {
                    for to in 0..nodes as usize {
                        reach[from][to] |= reach[from][via] && reach[via][to];
                    }
                }
            }
            let cycles = graph(nodes as usize, &edges).cycles();
            assert_eq!(!cycles.is_empty(), (0..nodes as usize).any(|node| reach[node][node]));
            let shortest = cycles.iter().map(Vec::len).min();
            assert_eq!(shortest, (1..=7).find(|steps| returns(nodes as usize, &edges, *steps)));
            for cycle in cycles {
                let next = cycle.iter().skip(1).chain(cycle.first());
                assert!(cycle.iter().zip(next).all(|(one, other)| one.to == other.from));
                assert!(cycle.iter().all(|edge| edges.contains(&(edge.from, edge.to))));
            }
        }
    }
}
