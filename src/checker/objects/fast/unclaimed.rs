//! Values that nobody is known to have taken, where takings of unknown outcome may have: each of those may have
//! taken one at any later moment, or nothing at all.
//!
//! Which they took is chosen greedily: only where something must be gone, and then at the first moment at which
//! that helps and there are takings enough. So what is found is an order, and is shown to be one; where
//! nothing is found there may be one nevertheless.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::counts::Counts;
use super::moments::Moments;
use super::values::Values;

/// Steps for each moment; then the search is left to decide.
const STEPS: usize = 30;

pub(super) struct Unclaimed {
    /// Since when each is there, and whose life it is.
    since: BTreeSet<(u32, usize)>,
    /// By life: until when it is there. At first, it stays.
    until: FxHashMap<usize, u32>,
    /// By moment: how many of them are there.
    there: Counts,
    /// By moment: how many more takings had begun than had taken something by then.
    unused: Counts,
    steps: usize,
}

impl Unclaimed {
    pub fn new(values: &Values, moments: &Moments) -> Unclaimed {
        let mut unused = Counts::new(moments.count());
        for open in &values.open {
            let begun = moments.after(values.operations[*open].invoke);
            unused.add(begun..moments.end() + 1, 1);
        }
        Unclaimed {
            since: BTreeSet::new(),
            until: FxHashMap::default(),
            there: Counts::new(moments.count()),
            unused,
            steps: STEPS * moments.count(),
        }
    }

    /// A value that is there from this moment on.
    pub fn add(&mut self, since: u32, life: usize, moments: &Moments) {
        self.since.insert((since, life));
        self.there.add(since..moments.end(), 1);
        self.until.insert(life, moments.end());
    }

    /// No longer asks whether this one is there; false if that was not asked.
    pub fn forget(&mut self, since: u32, life: usize) -> bool {
        let was_asked = self.since.remove(&(since, life));
        let until = self.until(life).filter(|until| was_asked && since < *until);
        self.there.add(since..until.unwrap_or(since), -1);
        was_asked
    }

    /// The first of those that are there, and since when.
    pub fn first(&self) -> Option<(u32, usize)> {
        self.since.first().copied()
    }

    /// When each came.
    pub fn beginnings(&self) -> impl Iterator<Item = u32> {
        self.since.iter().map(|(since, _)| *since)
    }

    pub fn until(&self, life: usize) -> Option<u32> {
        self.until.get(&life).copied()
    }

    /// Has all that came since `from`, and is there, taken by the first of these moments at which that can be and
    /// at which nothing else, which `known` counts, is there. That moment, and the lives that end there.
    pub fn clear(
        &mut self,
        among: Range<u32>,
        from: u32,
        known: &Counts,
    ) -> Option<(u32, Vec<usize>)> {
        let mut next = among.start;
        while let Some(moment) = known.first_zero(next..among.end) {
            let there = self.there_at(from, moment)?;
            if self.end(&there, moment) {
                return Some((moment, there.into_iter().map(|(_, life)| life).collect()));
            }
            next = moment + 1;
        }
        None
    }

    /// Until when, and who; nothing once this has taken too many steps.
    fn there_at(&mut self, from: u32, moment: u32) -> Option<Vec<(u32, usize)>> {
        self.steps = self.steps.checked_sub(1)?;
        if self.there.first_zero(moment..moment + 1).is_some() {
            return Some(Vec::new());
        }
        let begun = self.since.range((from, 0)..(moment + 1, 0));
        let mut there: Vec<(u32, usize)> =
            begun.filter_map(|(_, life)| Some((*self.until.get(life)?, *life))).collect();
        self.steps = self.steps.checked_sub(there.len())?;
        there.retain(|(until, _)| *until > moment);
        Some(there)
    }

    /// Has them taken at this moment, if there are takings enough.
    fn end(&mut self, there: &[(u32, usize)], moment: u32) -> bool {
        for (until, _) in there {
            self.unused.add(moment..*until, -1);
        }
        let last = there.iter().map(|(until, _)| *until).max().unwrap_or(moment);
        let is_enough = self.unused.least(moment..last) >= 0;
        for (until, life) in there {
            match is_enough {
                true => {
                    self.there.add(moment..*until, -1);
                    self.until.insert(*life, moment);
                }
                false => self.unused.add(moment..*until, 1),
            }
        }
        is_enough
    }

    /// By life: the taking that took it. Who began first took first.
    pub fn taken(&self, values: &Values, moments: &Moments) -> Vec<(usize, usize)> {
        let ended = self.until.iter().map(|(life, until)| (*until, *life));
        let mut ended: Vec<(u32, usize)> =
            ended.filter(|(until, _)| *until < moments.end()).collect();
        ended.sort_unstable();
        let mut open = values.open.clone();
        open.sort_unstable_by_key(|open| values.operations[*open].invoke);
        let taken = ended.into_iter().zip(open).map(|((_, life), open)| (life, open));
        let mut taken: Vec<(usize, usize)> = taken.collect();
        taken.sort_unstable();
        taken
    }
}
