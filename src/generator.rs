//! Generators say what happens next. They are pure: no clock, no socket, all chance from a seeded stream.
//!
//! A generator is asked at a moment (`Context`) and answers with something to do *now*, with the time
//! from which it should be asked again, or that it is done. It may be asked as often as the loop likes:
//! answering `Wait` changes nothing that matters.

use std::sync::Arc;

use crate::op::{Call, Event, Nanos, Process};

/// The moment at which a generator is asked.
pub struct Context<'a> {
    /// Time since the start.
    pub time: Nanos,
    /// Which threads are free.
    pub threads: &'a Threads,
}

/// The loop's client threads (fixed in number) and the process each one currently is.
///
/// Thread `t` talks to node `t % nodes`. After an `info`, its process becomes `process + concurrency`.
#[derive(Clone, Debug)]
pub struct Threads {
    nodes: usize,
    processes: Vec<u32>,
    free: Vec<bool>,
    /// Free threads by node, lowest last so that `pop` order is stable; kept by take and release.
    free_by_node: Vec<Vec<u32>>,
    free_count: usize,
    pub nemesis_free: bool,
}

/// Whom an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Any free client thread.
    Any,
    /// A free thread of this node (index in the topology).
    Node(usize),
    /// Exactly this thread.
    Thread(usize),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Call(Call),
    /// A step of the nemesis, by the plan it belongs to.
    Nemesis(Step),
    /// A line in the log and the history, done by nobody.
    Log(Arc<str>),
}

/// One step of a nemesis schedule: begin or end the `fault`-th fault of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Begin { fault: usize },
    End { fault: usize },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Do this now.
    Do { what: What, to: To },
    /// An operation arrived on time and no process was free on its node: count it and go on.
    Dropped { node: usize },
    /// Nothing now. Ask again at this time, or (`None`) after the next event.
    Wait { until: Option<Nanos> },
    /// Nothing ever again.
    Done,
}

/// A source of operations.
pub trait Generator {
    fn next(&mut self, ctx: &Context) -> Next;

    /// Called for every event that the loop records, in order.
    fn observe(&mut self, _ctx: &Context, _event: &Event) {}
}

impl Threads {
    pub fn new(concurrency: usize, nodes: usize) -> Threads {
        assert!(nodes > 0, "a cluster has at least one node");
        let mut free_by_node = vec![Vec::new(); nodes];
        for thread in (0..concurrency).rev() {
            free_by_node[thread % nodes].push(thread as u32);
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
            To::Node(node) => self.free_by_node.get(node)?.last().map(|thread| *thread as usize),
            To::Any => {
                let most = (0..self.nodes).max_by_key(|node| {
                    (self.free_by_node[*node].len(), std::cmp::Reverse(*node))
                })?;
                self.free_by_node[most].last().map(|thread| *thread as usize)
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
            .rposition(|other| *other as usize == thread)
            .expect("a free thread is listed");
        list.remove(position);
    }

    pub fn release(&mut self, thread: usize) {
        assert!(!self.free[thread], "thread {thread} is free already");
        self.free[thread] = true;
        self.free_count += 1;
        self.free_by_node[thread % self.nodes].push(thread as u32);
    }

    /// Retires the thread's process and gives the thread the next id.
    pub fn retire(&mut self, thread: usize) {
        self.processes[thread] += self.processes.len() as u32;
    }
}
