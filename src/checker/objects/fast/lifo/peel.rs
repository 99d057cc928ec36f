//! Takes out of a stack's values those that can be at the bottom, one after the other.

use std::collections::BTreeSet;
use std::ops::Range;

use super::waiting::Waiting;
use crate::checker::objects::fast::counts::{Counts, MANY};
use crate::checker::objects::fast::moments::Moments;

/// A value that was surely there for some time, by moments.
#[derive(Clone, Debug)]
pub(super) struct Stay {
    pub life: usize,
    /// It went in at one of these.
    pub enters: Range<u32>,
    /// Never empty; begins where `enters` ends.
    pub surely: Range<u32>,
    /// It went out at one of these; begins where `surely` ends.
    pub leaves: Range<u32>,
}

/// A value that was taken out: the moments at which it went in and out. Around those that were taken out
/// later, or apart from them.
pub(super) struct Nested {
    pub stay: usize,
    pub enters: u32,
    pub leaves: u32,
}

pub(super) struct Peeling {
    pub stays: Vec<Stay>,
    pub nested: Vec<Nested>,
    is_out: Vec<bool>,
    /// By moment: how many of the values that are left are surely there; `MANY` more once known to be free.
    cover: Counts,
    /// Moments known to be free.
    free: BTreeSet<u32>,
    /// Those that were free when nothing had been taken out: the stack is empty then.
    emptied: BTreeSet<u32>,
    entering: Waiting,
    leaving: Waiting,
    /// By stay: how many of the two moments it needs are still to become free.
    needs: Vec<u8>,
    /// Stays that need none.
    ready: Vec<usize>,
}

impl Peeling {
    pub fn new(moments: &Moments, stays: Vec<Stay>) -> Peeling {
        let mut cover = Counts::new(moments.count());
        stays.iter().for_each(|stay| cover.add(stay.surely.clone(), 1));
        let entering = stays.iter().map(|stay| stay.enters.clone()).enumerate();
        let leaving = stays.iter().map(|stay| stay.leaves.clone()).enumerate();
        Peeling {
            is_out: vec![false; stays.len()],
            nested: Vec::with_capacity(stays.len()),
            cover,
            free: BTreeSet::new(),
            emptied: BTreeSet::new(),
            entering: Waiting::new(entering),
            leaving: Waiting::new(leaving),
            needs: vec![2; stays.len()],
            ready: Vec::new(),
            stays,
        }
    }

    /// Takes out all that can be.
    pub fn peel(&mut self) {
        loop {
            while let Some(moment) = self.cover.first_zero(0..u32::MAX) {
                self.set_free(moment);
            }
            let Some(stay) = self.ready.pop() else { return };
            if self.nested.is_empty() {
                self.emptied.clone_from(&self.free);
            }
            self.take_out(stay);
        }
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.nested.len() == self.stays.len()
    }

    /// Has the value go out at this moment, earlier than was thought.
    pub fn end(&mut self, stay: usize, moment: u32) {
        let stay = &mut self.stays[stay];
        self.cover.add(moment..stay.surely.end, -1);
        stay.surely.end = moment;
        stay.leaves = moment..moment + 1;
    }

    /// Whether no value is surely there at one of these moments.
    pub fn is_free(&self, moments: Range<u32>) -> bool {
        self.cover.first_zero(moments).is_some()
    }

    /// The last moment before this one that is known to be free; nothing is there before the first event.
    pub fn free_before(&self, moment: u32) -> u32 {
        self.free.range(..moment).next_back().copied().unwrap_or(0)
    }

    /// One of these moments at which the stack is empty.
    pub fn emptied(&self, moments: Range<u32>) -> Option<u32> {
        let emptied = if self.nested.is_empty() { &self.free } else { &self.emptied };
        emptied.range(moments).next().copied()
    }

    fn set_free(&mut self, moment: u32) {
        self.cover.add(moment..moment + 1, MANY);
        self.free.insert(moment);
        for waiting in [&mut self.entering, &mut self.leaving] {
            while let Some(stay) = waiting.release(moment) {
                self.needs[stay] -= 1;
                if self.needs[stay] == 0 {
                    self.ready.push(stay);
                }
            }
        }
    }

    fn take_out(&mut self, stay: usize) {
        let surely = self.stays[stay].surely.clone();
        // Both are there: it was waited for one in its push and one in its pop.
        let enters = self.free.range(..surely.start).next_back().copied();
        let leaves = self.free.range(surely.end..).next().copied();
        if let (Some(enters), Some(leaves)) = (enters, leaves) {
            self.nested.push(Nested { stay, enters, leaves });
        }
        self.cover.add(surely, -1);
        self.is_out[stay] = true;
    }

    /// The values that are left between two free moments, in order of when they were surely there; the first
    /// such.
    pub fn block(&self) -> Option<Vec<usize>> {
        let mut left: Vec<usize> = (0..self.stays.len()).filter(|s| !self.is_out[*s]).collect();
        left.sort_by_key(|stay| (self.stays[*stay].surely.start, *stay));
        let mut reached = self.stays[*left.first()?].surely.end;
        let is_joined = |stay: &usize| {
            let Range { start, end } = self.stays[*stay].surely;
            let is_joined = start <= reached;
            reached = reached.max(end);
            is_joined
        };
        Some(left.into_iter().take_while(is_joined).collect())
    }
}
