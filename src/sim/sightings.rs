//! What the world has seen of what it was told to look out for, until somebody asks.
//!
//! Log lines exist only where somebody looks out for them; else they cost nothing.

use std::collections::VecDeque;
use std::task::Waker;

use regex::Regex;

use crate::cluster::{Concerning, LookoutId, MessageSeen};
use crate::op::Nanos;

/// Something seen at a node.
#[derive(Clone, Debug)]
pub struct Sighting {
    pub concerning: Concerning,
    pub node: u8,
    pub what: String,
    pub message: Option<MessageSeen>,
    pub at: Nanos,
}

/// Lines that are looked out for.
#[derive(Debug)]
pub struct LineLookout {
    pub id: LookoutId,
    pub nodes: Vec<u8>,
    pub pattern: Regex,
}

#[derive(Debug, Default)]
pub struct Sightings {
    lookouts: Vec<LineLookout>,
    queue: VecDeque<Sighting>,
    waker: Option<Waker>,
}

impl Sightings {
    /// Looks out for exactly these lines from now on.
    pub fn look_out(&mut self, lookouts: Vec<LineLookout>) {
        self.lookouts = lookouts;
    }

    /// Whether anybody cares what this node writes.
    pub fn hears(&self, node: u8) -> bool {
        self.lookouts.iter().any(|lookout| lookout.nodes.contains(&node))
    }

    /// A node has written a line.
    pub fn line(&mut self, at: Nanos, node: u8, line: &str) {
        let told: Vec<LookoutId> = self
            .lookouts
            .iter()
            .filter(|it| it.nodes.contains(&node) && it.pattern.is_match(line))
            .map(|lookout| lookout.id)
            .collect();
        for id in told {
            let concerning = Concerning::Lookout(id);
            self.tell(Sighting { concerning, node, what: line.to_owned(), message: None, at });
        }
    }

    pub fn tell(&mut self, sighting: Sighting) {
        self.queue.push_back(sighting);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// The next thing seen; who asks is woken when there is one.
    pub fn next(&mut self, waker: &Waker) -> Option<Sighting> {
        let next = self.queue.pop_front();
        if next.is_none() {
            self.waker = Some(waker.clone());
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_to_each_lookout_that_it_concerns() {
        let mut sightings = Sightings::default();
        assert!(!sightings.hears(1));
        let lookout = |id, nodes: &[u8], pattern: &str| LineLookout {
            id: LookoutId(id),
            nodes: nodes.to_vec(),
            pattern: Regex::new(pattern).unwrap(),
        };
        sightings.look_out(vec![lookout(1, &[1], "LEADING"), lookout(2, &[1, 2], "^L")]);
        assert!(sightings.hears(2) && !sightings.hears(3));
        sightings.line(5, 1, "LEADING");
        sightings.line(6, 2, "LEADING");
        sightings.line(7, 1, "FOLLOWING");
        let told: Vec<_> = std::iter::from_fn(|| sightings.next(Waker::noop()))
            .map(|it| (it.concerning, it.node, it.at))
            .collect();
        let lookout = |id| Concerning::Lookout(LookoutId(id));
        assert_eq!(told, [(lookout(1), 1, 5), (lookout(2), 1, 5), (lookout(2), 2, 6)]);
    }
}
