//! The loop's client threads: which are free, and which process each one currently is.

use std::collections::VecDeque;

use super::To;
use crate::op::Process;

/// The loop's client threads (fixed in number) and the process each one currently is.
///
/// Thread `t` talks to node `t % nodes`. After an `info`, its process becomes `process + concurrency`.
#[derive(Clone, Debug)]
pub struct Threads {
    nodes: usize,
    processes: Vec<u32>,
    free: Vec<bool>,
    /// Free threads by node, the one that has rested longest first: so every client gets its turn.
    free_by_node: Vec<VecDeque<u32>>,
    free_count: usize,
    pub nemesis_free: bool,
}

impl Threads {
    pub fn new(concurrency: usize, nodes: usize) -> Threads {
        assert!(nodes > 0, "a cluster has at least one node");
        let mut free_by_node = vec![VecDeque::new(); nodes];
        for thread in 0..concurrency {
            free_by_node[thread % nodes].push_back(thread as u32);
        }
        Threads {
            nodes,
            processes: (0..concurrency as u32).collect(),
            free: vec![true; concurrency],
            free_by_node,
            free_count: concurrency,
            nemesis_free: true,
        }
    }

    pub fn concurrency(&self) -> usize {
        self.processes.len()
    }

    pub fn nodes(&self) -> usize {
        self.nodes
    }

    pub fn node_of(&self, thread: usize) -> usize {
        thread % self.nodes
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
        let list = &mut self.free_by_node[thread % self.nodes];
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
        self.free_by_node[thread % self.nodes].push_back(thread as u32);
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
    fn a_retired_process_is_replaced_by_a_new_id_of_the_same_thread() {
        let mut threads = Threads::new(5, 3);
        threads.retire(4);
        threads.retire(4);
        assert_eq!(threads.process(4), Process::Client(14));
        assert_eq!(threads.thread_of(14), 4);
        assert_eq!(threads.process(3), Process::Client(3));
    }
}
