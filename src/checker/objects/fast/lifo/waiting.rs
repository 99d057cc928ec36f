//! Ranges of moments of which one is waited for.

use std::ops::Range;

/// Each range is let go once, in O(log n).
pub(super) struct Waiting {
    /// Where the ranges start, ascending.
    starts: Vec<u32>,
    /// Whose they are, in the same order.
    whose: Vec<usize>,
    room: usize,
    /// By node of a tree over them (1 is the root): the last end of those that still wait.
    last: Vec<u32>,
}

impl Waiting {
    /// By number: its range.
    pub fn new(ranges: impl Iterator<Item = (usize, Range<u32>)>) -> Waiting {
        let mut ranges: Vec<(u32, u32, usize)> =
            ranges.map(|(whose, range)| (range.start, range.end, whose)).collect();
        ranges.sort_unstable();
        let room = ranges.len().max(1).next_power_of_two();
        let mut last = vec![0; 2 * room];
        for (place, (_, end, _)) in ranges.iter().enumerate() {
            last[room + place] = *end;
        }
        for node in (1..room).rev() {
            last[node] = last[2 * node].max(last[2 * node + 1]);
        }
        Waiting {
            starts: ranges.iter().map(|(start, ..)| *start).collect(),
            whose: ranges.iter().map(|(.., whose)| *whose).collect(),
            room,
            last,
        }
    }

    /// One that waited for this moment, and does so no more.
    pub fn release(&mut self, moment: u32) -> Option<usize> {
        let begun = self.starts.partition_point(|start| *start <= moment);
        let place = self.find(1, 0..self.room, begun, moment)?;
        let mut node = self.room + place;
        self.last[node] = 0;
        while node > 1 {
            node /= 2;
            self.last[node] = self.last[2 * node].max(self.last[2 * node + 1]);
        }
        Some(self.whose[place])
    }

    /// The first place before `begun` whose range ends after the moment.
    fn find(&self, node: usize, span: Range<usize>, begun: usize, moment: u32) -> Option<usize> {
        if span.start >= begun || self.last[node] <= moment {
            return None;
        }
        if span.len() == 1 {
            return Some(span.start);
        }
        let middle = span.start.midpoint(span.end);
        self.find(2 * node, span.start..middle, begun, moment)
            .or_else(|| self.find(2 * node + 1, middle..span.end, begun, moment))
    }
}
