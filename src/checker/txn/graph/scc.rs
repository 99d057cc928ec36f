//! Strongly connected components, without recursion (Tarjan, "Depth-First Search and Linear Graph
//! Algorithms", 1972). Linear time.

use crate::checker::txn::table::NONE;

/// A graph as seen by whoever walks it: edges can be forbidden, and nodes be more than they are below.
pub trait Successors {
    fn nodes(&self) -> usize;

    /// The numbers of the edges out of a node.
    fn range(&self, node: u32) -> std::ops::Range<u32>;

    /// Where an edge leads from this node; `None` if it is not to be taken.
    fn follow(&self, node: u32, edge: u32) -> Option<u32>;
}

/// By node the number of its component. An edge never leads to a component of a higher number.
#[derive(Debug)]
pub struct Components {
    pub of: Vec<u32>,
    pub sizes: Vec<u32>,
}

impl Components {
    /// Whether a node lies on a cycle. There are no edges from a node to itself.
    pub fn is_cyclic(&self, node: u32) -> bool {
        self.sizes[self.of[node as usize] as usize] > 1
    }

    pub fn any_cycle(&self) -> bool {
        self.sizes.iter().any(|size| *size > 1)
    }

    /// Whether one can go from one to the other and back.
    pub fn same(&self, one: u32, other: u32) -> bool {
        self.of[one as usize] == self.of[other as usize]
    }
}

struct Tarjan<'a, G> {
    graph: &'a G,
    /// By node the time of its discovery; 0: not yet.
    found: Vec<u32>,
    low: Vec<u32>,
    clock: u32,
    stack: Vec<u32>,
    /// The nodes under way, each with its next edge.
    path: Vec<(u32, u32)>,
    components: Components,
}

/// The strongly connected components of a graph.
pub fn components<G: Successors>(graph: &G) -> Components {
    let nodes = graph.nodes();
    let mut tarjan = Tarjan {
        graph,
        found: vec![0; nodes],
        low: vec![0; nodes],
        clock: 0,
        stack: Vec::new(),
        path: Vec::new(),
        components: Components { of: vec![NONE; nodes], sizes: Vec::new() },
    };
    for root in 0..nodes as u32 {
        if tarjan.found[root as usize] == 0 {
            tarjan.discover(root);
            tarjan.walk();
        }
    }
    tarjan.components
}

impl<G: Successors> Tarjan<'_, G> {
    fn discover(&mut self, node: u32) {
        self.clock += 1;
        self.found[node as usize] = self.clock;
        self.low[node as usize] = self.clock;
        self.stack.push(node);
        self.path.push((node, self.graph.range(node).start));
    }

    fn walk(&mut self) {
        while let Some((node, next)) = self.path.last_mut() {
            let (node, edge) = (*node, *next);
            if edge == self.graph.range(node).end {
                self.leave(node);
                continue;
            }
            *next += 1;
            let Some(target) = self.graph.follow(node, edge) else { continue };
            if self.found[target as usize] == 0 {
                self.discover(target);
            } else if self.components.of[target as usize] == NONE {
                let low = &mut self.low[node as usize];
                *low = (*low).min(self.found[target as usize]);
            }
        }
    }

    fn leave(&mut self, node: u32) {
        self.path.pop();
        let low = self.low[node as usize];
        if let Some((parent, _)) = self.path.last() {
            let above = &mut self.low[*parent as usize];
            *above = (*above).min(low);
        }
        if low != self.found[node as usize] {
            return;
        }
        let number = self.components.sizes.len() as u32;
        let mut size = 0;
        while let Some(member) = self.stack.pop() {
            self.components.of[member as usize] = number;
            size += 1;
            if member == node {
                break;
            }
        }
        self.components.sizes.push(size);
    }
}
