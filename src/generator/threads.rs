//! The loop's client threads: which are free, and which process each one currently is.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Crew, To};
use crate::op::Process;

/// The loop's client threads (fixed in number) and the process each one currently is.
///
/// First come the threads that carry data: thread `t` talks to node `t % nodes`. Behind them come the
/// operators, each with a node of its own behind the others' nodes. After an `info`, a thread's process
/// becomes `process + all threads`.
#[derive(Clone, Debug)]
pub struct Threads {
    nodes: usize,
    data: usize,
    processes: Vec<u32>,
    free: Vec<bool>,
    /// Free threads by node, the one that has rested longest first: so every client gets its turn.
    free_by_node: Vec<VecDeque<u32>>,
    free_count: usize,
    pub nemesis_free: bool,
}

impl Threads {
    /// Threads that carry data, and no operators.
    pub fn new(concurrency: usize, nodes: usize) -> Threads {
        Threads::with_operators(concurrency, nodes, 0)
    }

    pub fn of(crew: &Crew) -> Threads {
        Threads::with_operators(crew.data, crew.places.len(), crew.operators.len())
    }

    pub fn with_operators(concurrency: usize, nodes: usize, operators: usize) -> Threads {
        assert!(nodes > 0, "a cluster has at least one node");
        let total = concurrency + operators;
        let mut threads = Threads {
            nodes,
            data: concurrency,
            processes: (0..total as u32).collect(),
            free: vec![true; total],
            free_by_node: vec![VecDeque::new(); nodes + operators],
            free_count: total,
            nemesis_free: true,
        };
        for thread in 0..total {
            let node = threads.node_of(thread);
            threads.free_by_node[node].push_back(thread as u32);
        }
        threads
    }

    /// How many threads carry data.
    pub fn concurrency(&self) -> usize {
        self.data
    }

    /// The operators' threads.
    pub fn operators(&self) -> Range<usize> {
        self.data..self.processes.len()
    }

    /// All threads.
    pub fn total(&self) -> usize {
        self.processes.len()
    }

    /// Nodes of threads that carry data.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    pub fn node_of(&self, thread: usize) -> usize {
        if thread < self.data { thread % self.nodes } else { self.nodes + thread - self.data }
    }

    pub fn process(&self, thread: usize) -> Process {
        Process::Client(self.processes[thread])
    }

    /// The thread that a client process is or was.
    pub fn thread_of(&self, process: u32) -> usize {
        process as usize % self.processes.len()
    }

    pub fn is_free(&self, thread: usize) -> bool {
        self.free[thread]
    }

    pub fn free_count(&self) -> usize {
        self.free_count
    }

    pub fn free_on(&self, node: usize) -> usize {
        self.free_by_node[node].len()
    }

    /// All client threads are free and so is the nemesis.
    pub fn all_free(&self) -> bool {
        self.free_count == self.processes.len() && self.nemesis_free
    }

    /// A free thread that fits, without taking it. The choice is stable: it depends on the state alone.
    pub fn pick(&self, to: To) -> Option<usize> {
        match to {
            To::Thread(thread) => self.free.get(thread).copied().unwrap_or(false).then_some(thread),
            To::Node(node) => self.free_by_node.get(node)?.front().map(|thread| *thread as usize),
            To::Any => {
                let most = (0..self.nodes).max_by_key(|node| {
                    (self.free_by_node[*node].len(), std::cmp::Reverse(*node))
                })?;
                self.free_by_node[most].front().map(|thread| *thread as usize)
            }
        }
    }

    pub fn take(&mut self, thread: usize) {
        assert!(self.free[thread], "thread {thread} is busy");
        self.free[thread] = false;
        self.free_count -= 1;
        let node = self.node_of(thread);
        let list = &mut self.free_by_node[node];
        let position = list
            .iter()
            .position(|other| *other as usize == thread)
            .expect("a free thread is listed");
        list.remove(position);
    }

    pub fn release(&mut self, thread: usize) {
        assert!(!self.free[thread], "thread {thread} is free already");
        self.free[thread] = true;
        self.free_count += 1;
        let node = self.node_of(thread);
        self.free_by_node[node].push_back(thread as u32);
    }

    /// Retires the thread's process and gives the thread the next id.
    pub fn retire(&mut self, thread: usize) {
        self.processes[thread] += self.processes.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_spread_over_nodes() {
        let threads = Threads::new(7, 3);
        assert_eq!((0..3).map(|node| threads.free_on(node)).collect::<Vec<_>>(), [3, 2, 2]);
        assert_eq!(threads.pick(To::Any), Some(0));
        assert_eq!(threads.pick(To::Node(1)), Some(1));
        assert_eq!(threads.pick(To::Thread(7)), None);
    }

    #[test]
    fn a_taken_thread_is_not_picked_until_released() {
        let mut threads = Threads::new(2, 2);
        threads.take(1);
        assert_eq!(threads.pick(To::Node(1)), None);
        assert_eq!(threads.pick(To::Thread(1)), None);
        assert!(!threads.all_free());
        threads.release(1);
        assert_eq!(threads.pick(To::Node(1)), Some(1));
        assert!(threads.all_free());
    }

    #[test]
    fn operators_have_nodes_of_their_own_and_are_never_anybody() {
        let mut threads = Threads::with_operators(2, 2, 2);
        assert_eq!(threads.operators(), 2..4);
        assert_eq!((0..4).map(|thread| threads.node_of(thread)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        threads.take(0);
        threads.take(1);
        assert_eq!(threads.pick(To::Any), None);
        assert_eq!(threads.pick(To::Node(3)), Some(3));
        threads.take(3);
        assert_eq!(threads.pick(To::Thread(3)), None);
        threads.retire(3);
        assert_eq!(threads.process(3), Process::Client(7));
        assert_eq!(threads.thread_of(7), 3);
        for thread in [0, 1, 3] {
            assert!(!threads.all_free());
            threads.release(thread);
        }
        assert!(threads.all_free());
    }

    #[test]
    fn a_retired_process_is_replaced_by_a_new_id_of_the_same_thread() {
        let mut threads = Threads::new(5, 3);
        threads.retire(4);
        threads.retire(4);
        assert_eq!(threads.process(4), Process::Client(14));
        assert_eq!(threads.thread_of(14), 4);
        assert_eq!(threads.process(3), Process::Client(3));
    }
}
