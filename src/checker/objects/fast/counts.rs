//! A count for each of many places, changed by ranges: a tree of least counts, O(log n) for each question and
//! each change.

use std::ops::Range;

pub(super) struct Counts {
    /// Places that the tree has room for, a power of two.
    room: usize,
    /// By node (1 is the root, 2n and 2n + 1 are below n): the least count below it, but for what was added to
    /// nodes above it.
    least: Vec<i32>,
    /// By node: what was added to all below it.
    added: Vec<i32>,
}

/// More than anything can be counted.
pub(super) const MANY: i32 = i32::MAX / 4;

impl Counts {
    /// So many places, all at 0.
    pub fn new(places: usize) -> Counts {
        let room = places.max(1).next_power_of_two();
        let mut counts = Counts { room, least: vec![0; 2 * room], added: vec![0; 2 * room] };
        counts.add(places as u32..room as u32, MANY);
        counts
    }

    pub fn add(&mut self, places: Range<u32>, by: i32) {
        if !places.is_empty() {
            let places = places.start as usize..places.end as usize;
            self.add_below(1, 0..self.room, &places, by);
        }
    }

    fn add_below(&mut self, node: usize, span: Range<usize>, places: &Range<usize>, by: i32) {
        if places.end <= span.start || span.end <= places.start {
            return;
        }
        if places.start <= span.start && span.end <= places.end {
            self.least[node] += by;
            self.added[node] += by;
            return;
        }
        let middle = span.start.midpoint(span.end);
        self.add_below(2 * node, span.start..middle, places, by);
        self.add_below(2 * node + 1, middle..span.end, places, by);
        self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
    }

    /// The first of these places that counts 0 or less.
    pub fn first_zero(&self, places: Range<u32>) -> Option<u32> {
        let places = places.start as usize..places.end as usize;
        let found = self.first_zero_below(1, 0..self.room, &places, 0)?;
        Some(found as u32)
    }

    fn first_zero_below(
        &self,
        node: usize,
        span: Range<usize>,
        places: &Range<usize>,
        above: i32,
    ) -> Option<usize> {
        let is_apart = places.end <= span.start || span.end <= places.start;
        if is_apart || self.least[node] + above > 0 {
            return None;
        }
        if span.len() == 1 {
            return Some(span.start);
        }
        let (middle, above) = (span.start.midpoint(span.end), above + self.added[node]);
        self.first_zero_below(2 * node, span.start..middle, places, above)
            .or_else(|| self.first_zero_below(2 * node + 1, middle..span.end, places, above))
    }

    /// The least count among these places.
    pub fn least(&self, places: Range<u32>) -> i32 {
        self.least_below(1, 0..self.room, &(places.start as usize..places.end as usize))
    }

    fn least_below(&self, node: usize, span: Range<usize>, places: &Range<usize>) -> i32 {
        if places.end <= span.start || span.end <= places.start {
            return MANY;
        }
        if places.start <= span.start && span.end <= places.end {
            return self.least[node];
        }
        let middle = span.start.midpoint(span.end);
        let left = self.least_below(2 * node, span.start..middle, places);
        left.min(self.least_below(2 * node + 1, middle..span.end, places)) + self.added[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_tree_counts_as_a_list_does() {
        for seed in 0..200 {
            let mut rng = Rng::from_seed(seed);
            let places = 1 + rng.below(20) as u32;
            let mut counts = Counts::new(places as usize);
            let mut list = vec![0; places as usize];
            for _ in 0..50 {
                let from = rng.below(u64::from(places)) as u32;
                let until = from + rng.below(u64::from(places - from) + 1) as u32;
                let by = rng.below(7) as i32 - 3;
                counts.add(from..until, by);
                list[from as usize..until as usize].iter_mut().for_each(|count| *count += by);
                let part = from as usize..until as usize;
                let first = part.clone().find(|place| list[*place] <= 0);
                assert_eq!(counts.first_zero(from..until), first.map(|place| place as u32));
                let least = list[part].iter().min().copied();
                assert_eq!(counts.least(from..until).min(MANY / 2), least.unwrap_or(MANY / 2));
            }
        }
    }
}
