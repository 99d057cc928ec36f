//! Who the clients of a run are: how many threads, where each is bound, and of whom an answer is awaited.

use std::collections::BTreeSet;

use crate::op::NodeName;

/// The client threads of a run: first those that carry its data, then the operators, one thread each.
///
/// Operators manage the cluster. They have no part in arrivals, nothing of theirs is ever dropped, and
/// recovery does not wait for them: that the service they talk to is healthy shows in the view, and what
/// they are refused (a topology change that came too late) says nothing about the cluster's health.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    /// Nodes to which data threads are bound: thread `t` to the node at `t % places`.
    pub places: Vec<NodeName>,
    /// How many threads carry data.
    pub data: usize,
    /// The node of each operator.
    pub operators: Vec<NodeName>,
    /// Data threads that may be refused for ever although all is well: one that asks a replica only, and
    /// follows nobody.
    pub quiet: BTreeSet<usize>,
}

impl Crew {
    /// Data threads only, of each of which an answer is awaited.
    pub fn new(places: Vec<NodeName>, data: usize) -> Crew {
        Crew { places, data, ..Crew::default() }
    }

    /// All threads, operators among them.
    pub fn threads(&self) -> usize {
        self.data + self.operators.len()
    }

    /// The thread that a client process is or was; `None` where nothing is known of threads.
    pub fn thread_of(&self, process: u32) -> Option<usize> {
        (process as usize).checked_rem(self.threads())
    }

    /// While the cluster is healthy this thread gets answers.
    pub fn is_awaited(&self, thread: usize) -> bool {
        thread < self.data && !self.quiet.contains(&thread)
    }

    /// Threads that get answers while the cluster is healthy.
    pub fn awaited(&self) -> impl Iterator<Item = usize> {
        (0..self.data).filter(|thread| self.is_awaited(*thread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_come_after_the_data_threads_and_are_not_awaited() {
        let operators = vec!["controller1".into(), "controller2".into()];
        let quiet = BTreeSet::from([1]);
        let crew = Crew { places: vec!["n1".into()], data: 3, operators, quiet };
        assert_eq!(crew.threads(), 5);
        assert_eq!(crew.awaited().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(crew.thread_of(9), Some(4));
        assert_eq!(Crew::default().thread_of(9), None);
    }
}
