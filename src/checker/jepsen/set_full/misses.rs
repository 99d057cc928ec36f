//! Which reads lack an element, without going through all elements at each read.

use crate::checker::jepsen::streaming::Moment;

/// Completed reads, of which only those are kept that may be the last to begin among the latest.
///
/// A read that completes after another and also began after it hides that one from every question;
/// so those kept completed in the reverse order of their beginnings, hence ran at the same time, and
/// are no more than there are processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Misses {
    reads: u32,
    /// The number of a read, counted from 1 by completion, and its beginning.
    kept: Vec<(u32, Moment)>,
}

impl Misses {
    /// How many reads have completed, without the one that is being taken in.
    pub fn reads(&self) -> u32 {
        self.reads
    }

    /// Takes in the beginning of the read that completes now.
    pub fn complete(&mut self, begun: Moment) {
        self.reads = self.reads.saturating_add(1);
        while self.kept.last().is_some_and(|(_, kept)| kept.index <= begun.index) {
            self.kept.pop();
        }
        self.kept.push((self.reads, begun));
    }

    /// The last to begin of the reads that came after the first `reads`.
    pub fn since(&self, reads: u32) -> Option<Moment> {
        let first = self.kept.partition_point(|(number, _)| *number <= reads);
        self.kept.get(first).map(|(_, begun)| *begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn moment(index: u64) -> Moment {
        Moment { index, operation: index, time: index, process: 0 }
    }

    #[test]
    fn the_last_to_begin_is_found_as_by_going_through_all() {
        let mut rng = Rng::from_seed(7);
        for _ in 0..200 {
            let mut misses = Misses::default();
            let mut all: Vec<u64> = Vec::new();
            for index in 0..40_u64 {
                let begun = index * 10 - rng.below(60).min(index * 10);
                misses.complete(moment(begun));
                all.push(begun);
                let since = rng.below(index + 2) as usize;
                let slow = all.iter().skip(since).max().copied();
                assert_eq!(misses.since(since as u32).map(|read| read.index), slow);
            }
        }
    }
}
