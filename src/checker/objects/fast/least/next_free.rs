//! The first place at or after a place that has not been taken (union-find: almost constant time each).

use std::ops::Range;

/// There must always be one that is never taken.
pub(super) struct NextFree {
    /// By place: itself if free, else one closer to the next that is.
    next: Vec<u32>,
}

impl NextFree {
    pub fn new(places: usize) -> NextFree {
        NextFree { next: (0..places as u32).collect() }
    }

    pub fn next(&mut self, place: u32) -> u32 {
        let mut place = place as usize;
        while self.next[place] as usize != place {
            self.next[place] = self.next[self.next[place] as usize];
            place = self.next[place] as usize;
        }
        place as u32
    }

    pub fn take(&mut self, places: Range<u32>) {
        let mut place = self.next(places.start);
        while place < places.end {
            self.next[place as usize] = place + 1;
            place = self.next(place);
        }
    }
}
