//! The commit order as far as it must be: session order, who read from whom, and what an isolation
//! level infers; and a cycle in it, if there is one.

use super::committed::{Committed, INITIAL};
use super::plainest::needs_process;

/// Why a commit order must have `from` before `to`: `reader` read `key` from `to`, and by `rule` it
/// would have had to see what `from` wrote there, were that later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inferred {
    pub from: u32,
    pub to: u32,
    pub reader: u32,
    pub key: u32,
    pub rule: Rule,
}

/// What makes the overwritten transaction visible to the reader, weakest level first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// The reader had read from it before.
    ReadBefore,
    /// It is earlier in the reader's session.
    Session,
    /// The reader read from it.
    ReadFrom,
    /// It happened before the reader.
    Causal,
}

/// One step of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The order of a session, or the initial state before all.
    Session {
        from: u32,
        to: u32,
    },
    /// `to` read this version from `from`.
    ReadFrom {
        from: u32,
        to: u32,
        version: u32,
    },
    Inferred(Inferred),
}

impl Step {
    pub fn from(&self) -> u32 {
        match self {
            Step::Session { from, .. } | Step::ReadFrom { from, .. } => *from,
            Step::Inferred(inferred) => inferred.from,
        }
    }
}

/// Which steps a cycle may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Only who read from whom.
    Reads,
    /// Whatever holds without the order of a session.
    NoProcess,
    All,
}

/// The order's edges, each looked up at its end.
pub(crate) struct Order<'a, 'b> {
    pub allowed: Allowed,
    committed: &'b Committed<'a>,
    inferred: Vec<Inferred>,
    starts: Vec<u32>,
}

impl<'a, 'b> Order<'a, 'b> {
    pub fn of(committed: &'b Committed<'a>, inferred: Vec<Inferred>) -> Order<'a, 'b> {
        let mut starts = vec![0_u32; committed.len() + 1];
        for edge in &inferred {
            starts[edge.to as usize + 1] += 1;
        }
        for node in 0..committed.len() {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut sorted = inferred.clone();
        for edge in inferred {
            let slot = &mut next[edge.to as usize];
            sorted[*slot as usize] = edge;
            *slot += 1;
        }
        Order { allowed: Allowed::All, committed, inferred: sorted, starts }
    }

    fn inferred_into(&self, node: u32) -> &[Inferred] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.inferred[start as usize..end as usize]
    }

    /// The `n`th step into a node.
    fn step_into(&self, node: u32, n: usize) -> Option<Step> {
        let session = self.committed.session_predecessor(node);
        let reads = self.committed.reads(node);
        let n = match session {
            Some(from) if n == 0 => return Some(Step::Session { from, to: node }),
            Some(_) => n - 1,
            None => n,
        };
        if let Some(read) = reads.get(n) {
            let (from, version) = (read.writer, read.version);
            return Some(Step::ReadFrom { from, to: node, version });
        }
        self.inferred_into(node).get(n - reads.len()).map(|edge| Step::Inferred(*edge))
    }

    fn steps_into(&self, node: u32) -> impl Iterator<Item = Step> {
        (0..).map_while(move |n| self.step_into(node, n)).filter(|step| self.allows(step))
    }

    fn allows(&self, step: &Step) -> bool {
        match self.allowed {
            Allowed::Reads => matches!(step, Step::ReadFrom { .. }),
            Allowed::NoProcess => !needs_process(self.committed, step),
            Allowed::All => true,
        }
    }

    /// The components that hold cycles, members ascending (Tarjan 1972, linear).
    pub fn knots(&self) -> Vec<Vec<u32>> {
        let mut knots = self.components().knots;
        knots.sort();
        knots
    }

    /// All nodes, each after those before it; none if there is a cycle.
    pub fn topological(&self) -> Option<Vec<u32>> {
        let components = self.components();
        components.knots.is_empty().then_some(components.order)
    }

    fn components(&self) -> Tarjan {
        let mut tarjan = Tarjan {
            index: vec![0; self.committed.len()],
            low: vec![0; self.committed.len()],
            next: 1,
            stack: Vec::new(),
            order: Vec::with_capacity(self.committed.len()),
            knots: Vec::new(),
        };
        for node in 0..self.committed.len() as u32 {
            if tarjan.index[node as usize] == 0 {
                tarjan.visit(self, node);
            }
        }
        tarjan
    }

    /// A shortest cycle through one of the first members of a knot, in the order of commits.
    pub fn cycle(&self, knot: &[u32]) -> Vec<Step> {
        let mut best: Vec<Step> = Vec::new();
        let mut visits = 0;
        let roots = knot.iter().filter(|node| **node != INITIAL || knot.len() == 1);
        for root in roots.chain(knot.first()) {
            let (cycle, seen) = self.cycle_through(*root, knot, best.len());
            visits += seen;
            if !cycle.is_empty() && (best.is_empty() || cycle.len() < best.len()) {
                best = cycle;
            }
            let is_enough = best.len() == 2 || visits > SEARCHED_STEPS;
            if is_enough && !best.is_empty() {
                break;
            }
        }
        best
    }

    /// By breadth, backwards; gives up where it could only be as long as `bound`.
    fn cycle_through(&self, root: u32, knot: &[u32], bound: usize) -> (Vec<Step>, usize) {
        let place = |node: u32| knot.binary_search(&node).ok();
        let mut after: Vec<Option<Step>> = vec![None; knot.len()];
        let (mut queue, mut seen) = (std::collections::VecDeque::from([(root, 0_usize)]), 0);
        while let Some((node, depth)) = queue.pop_front() {
            if bound > 0 && depth + 1 >= bound {
                break;
            }
            for step in self.steps_into(node) {
                seen += 1;
                let Some(at) = place(step.from()) else { continue };
                if after[at].is_none() {
                    after[at] = Some(step);
                    queue.push_back((step.from(), depth + 1));
                }
                if step.from() == root {
                    return (self.walk(root, &after, place), seen);
                }
            }
        }
        (Vec::new(), seen)
    }

    fn walk(
        &self,
        root: u32,
        after: &[Option<Step>],
        place: impl Fn(u32) -> Option<usize>,
    ) -> Vec<Step> {
        let mut cycle = Vec::new();
        let mut node = root;
        while let Some(step) = place(node).and_then(|at| after[at]) {
            cycle.push(step);
            node = match step {
                Step::Session { to, .. } | Step::ReadFrom { to, .. } => to,
                Step::Inferred(inferred) => inferred.to,
            };
            if node == root {
                break;
            }
        }
        cycle
    }
}

/// Steps looked at for a shorter cycle in a knot, once there is one.
const SEARCHED_STEPS: usize = 2_000_000;

struct Tarjan {
    /// 0: not yet; counts from 1; done ones are `u32::MAX`.
    index: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    stack: Vec<u32>,
    /// As the components are done, those before others first.
    order: Vec<u32>,
    knots: Vec<Vec<u32>>,
}

const DONE: u32 = u32::MAX;

impl Tarjan {
    fn enter(&mut self, node: u32) {
        self.index[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.stack.push(node);
    }

    fn visit(&mut self, order: &Order, root: u32) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, n)) = path.last_mut() {
            let node = *node;
            match order.step_into(node, *n) {
                Some(step) if !order.allows(&step) => *n += 1,
                Some(step) => {
                    *n += 1;
                    let other = step.from();
                    match self.index[other as usize] {
                        0 => {
                            self.enter(other);
                            path.push((other, 0));
                        }
                        DONE => {}
                        index => self.lower(node, index),
                    }
                }
                None => {
                    path.pop();
                    let low = self.low[node as usize];
                    if let Some((parent, _)) = path.last() {
                        self.lower(*parent, low);
                    }
                    self.leave(node);
                }
            }
        }
    }

    fn lower(&mut self, node: u32, to: u32) {
        let low = &mut self.low[node as usize];
        *low = to.min(*low);
    }

    /// Takes a whole component from the stack, if the node is its first.
    fn leave(&mut self, node: u32) {
        if self.low[node as usize] != self.index[node as usize] {
            return;
        }
        let start = self.stack.iter().rposition(|other| *other == node).unwrap_or_default();
        let mut knot = self.stack.split_off(start);
        for member in &knot {
            self.index[*member as usize] = DONE;
        }
        self.order.extend(&knot);
        if knot.len() > 1 {
            knot.sort_unstable();
            self.knots.push(knot);
        }
    }
}
