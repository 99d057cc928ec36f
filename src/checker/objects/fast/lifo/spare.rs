//! Pops of unknown outcome: each may have taken, at any later moment, a value that nobody is known to have taken,
//! or nothing at all.
//!
//! What they took is chosen greedily: only where values nest in no way otherwise, and then at the first moment
//! at which it helps and there are pops enough. What is found so is an order, and is shown to be one; where
//! nothing is found there may be one nevertheless, unless the values would not nest even if each pop
//! could have taken any number of them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::counts::Counts;
use super::peel::Peeling;
use super::{Shortcut, blame, no_bottom, order, stays};
use crate::checker::objects::fast::moments::Moments;
use crate::checker::objects::fast::values::{Core, Life, Values};

/// Steps for each moment; then the search is left to decide.
const STEPS: usize = 30;

pub(super) fn decide(values: &Values) -> Shortcut {
    let moments = Moments::of(values);
    let mut spare = Spare::new(values, &moments);
    if let Some(core) = spare.crowded() {
        return Shortcut::Violated { core };
    }
    let has_room = spare.makes_room();
    if has_room && spare.peels() {
        let order = order::order(values, &moments, &spare.peeling, &spare.taken());
        return Shortcut::Ordered { order };
    }
    if let Some(core) = no_bottom(values, values.first_open()) {
        return Shortcut::Violated { core: with_open(values, core) };
    }
    let block = spare.peeling.block().filter(|_| has_room);
    let suspected = block.map(|block| blame::core(values, &spare.peeling.stays, &block));
    suspected.map_or(Shortcut::None, |core| Shortcut::Suspected { core: with_open(values, core) })
}

/// With the pops of unknown outcome, unless each of these values is known to have been taken by another.
fn with_open(values: &Values, mut core: Core) -> Core {
    core.sort_unstable();
    let is_concerned = |life: &&Life| life.put.is_some_and(|put| core.binary_search(&put).is_ok());
    if !values.lives.iter().filter(is_concerned).all(|life| life.taken.is_some()) {
        core.extend(&values.open);
    }
    core
}

struct Spare<'a> {
    values: &'a Values<'a>,
    moments: &'a Moments,
    peeling: Peeling,
    /// Of those that were taken out so far, how many are reckoned with here.
    reckoned: usize,
    /// By moment: how many values are surely there that are left and known to have been taken.
    known: Counts,
    /// Of the values that are left and not known to have been taken: since when each is surely there.
    untaken: BTreeSet<(u32, usize)>,
    /// By moment: how many more pops there were before it than had taken something by then.
    unused: Counts,
    steps: usize,
}

impl<'a> Spare<'a> {
    fn new(values: &'a Values<'a>, moments: &'a Moments) -> Spare<'a> {
        let stays = stays(values, moments, None);
        let (mut known, mut untaken) = (Counts::new(moments.count()), BTreeSet::new());
        for (number, stay) in stays.iter().enumerate() {
            match values.lives[stay.life].taken {
                Some(_) => known.add(stay.surely.clone(), 1),
                None => drop(untaken.insert((stay.surely.start, number))),
            }
        }
        let mut unused = Counts::new(moments.count());
        for open in &values.open {
            let begun = moments.after(values.operations[*open].invoke);
            unused.add(begun..moments.end() + 1, 1);
        }
        let peeling = Peeling::new(moments, stays);
        let steps = STEPS * moments.count();
        Spare { values, moments, peeling, reckoned: 0, known, untaken, unused, steps }
    }

    /// Somebody who found nothing, though at each moment at which that may have been something was there that is
    /// known to have been taken later, or more than had been taken even by all the pops begun by then;
    /// and all these.
    fn crowded(&self) -> Option<Core> {
        let begun = self.values.open.iter().map(|open| self.values.operations[*open].invoke);
        let mut begun: Vec<u32> = begun.map(|event| self.moments.after(event)).collect();
        begun.sort_unstable();
        let since: Vec<u32> = self.untaken.iter().map(|(start, _)| *start).collect();
        let may_be_empty = |moment| {
            let pops = begun.partition_point(|begun| *begun <= moment);
            since.partition_point(|start| *start <= moment) <= pops
        };
        let mut empty = self.values.empty.iter();
        let found = empty.find(|position| {
            let found = &self.values.operations[**position];
            let mut between = self.moments.between(found.invoke, found.complete);
            while let Some(moment) = self.known.first_zero(between.clone()) {
                if may_be_empty(moment) {
                    return false;
                }
                between.start = moment + 1;
            }
            true
        })?;
        Some(self.there_at(*found))
    }

    /// All that may have been there when this pop found nothing, and all that may have taken it.
    fn there_at(&self, found: usize) -> Core {
        let timed = &self.values.operations[found];
        let between = self.moments.between(timed.invoke, timed.complete);
        let is_there =
            |surely: &Range<u32>| surely.start < between.end && between.start < surely.end;
        let there = self.peeling.stays.iter().filter(|stay| is_there(&stay.surely));
        let lives = there.flat_map(|stay| self.values.positions(&self.values.lives[stay.life]));
        let is_begun = |open: &usize| self.values.operations[*open].invoke < timed.complete;
        let open = self.values.open.iter().copied().filter(is_begun);
        lives.chain(open).chain([found]).collect()
    }

    /// Lets what must be gone be gone when somebody found nothing. False where that is not managed.
    fn makes_room(&mut self) -> bool {
        let empty = self.values.empty.iter().map(|position| &self.values.operations[*position]);
        let mut empty: Vec<_> = empty.map(|found| (found.complete, found.invoke)).collect();
        empty.sort_unstable();
        empty.into_iter().all(|(complete, invoke)| {
            let between = self.moments.between(invoke, complete);
            self.peeling.is_free(between.clone()) || self.clear(between, 0)
        })
    }

    /// Takes out all values. False where that is not managed.
    fn peels(&mut self) -> bool {
        loop {
            self.peeling.peel();
            self.reckon();
            let Some(&(start, stay)) = self.untaken.first() else {
                return self.peeling.is_done();
            };
            // The block that it is in: what is left has no bottom.
            let from = self.peeling.free_before(start) + 1;
            let until = self.peeling.stays[stay].surely.end;
            if !self.clear(from..until, from) {
                return false;
            }
        }
    }

    /// Forgets the values that were taken out since.
    fn reckon(&mut self) {
        for nested in &self.peeling.nested[self.reckoned..] {
            let surely = self.peeling.stays[nested.stay].surely.clone();
            if !self.untaken.remove(&(surely.start, nested.stay)) {
                self.known.add(surely, -1);
            }
        }
        self.reckoned = self.peeling.nested.len();
    }

    /// Has all that is there, and came since `from`, taken by the first of these moments at which that can be.
    fn clear(&mut self, among: Range<u32>, from: u32) -> bool {
        let mut next = among.start;
        while let Some(moment) = self.known.first_zero(next..among.end) {
            let begun = self.untaken.range((from, 0)..(moment + 1, 0));
            let there: Vec<usize> = begun
                .map(|(_, stay)| *stay)
                .filter(|stay| self.peeling.stays[*stay].surely.end > moment)
                .collect();
            let Some(steps) = self.steps.checked_sub(1 + there.len()) else { return false };
            self.steps = steps;
            // All of them had the same end until now: that of the block.
            let last = there.iter().map(|stay| self.peeling.stays[*stay].surely.end).max();
            let span = moment..last.unwrap_or(moment);
            if self.unused.least(span.clone()) >= there.len() as i32 {
                self.unused.add(span, -(there.len() as i32));
                there.into_iter().for_each(|stay| self.peeling.end(stay, moment));
                return true;
            }
            next = moment + 1;
        }
        false
    }

    /// By life: the pop that took it, of those whose outcome is unknown. Who came first took first.
    fn taken(&self) -> Vec<(usize, usize)> {
        let stays = self.peeling.stays.iter();
        let mut served: Vec<(u32, usize)> = stays
            .filter(|stay| self.values.lives[stay.life].taken.is_none())
            .map(|stay| (stay.surely.end, stay.life))
            .filter(|(end, _)| *end < self.moments.end())
            .collect();
        served.sort_unstable();
        let mut open = self.values.open.clone();
        open.sort_unstable_by_key(|open| self.values.operations[*open].invoke);
        let mut taken: Vec<(usize, usize)> =
            served.into_iter().zip(open).map(|((_, life), open)| (life, open)).collect();
        taken.sort_unstable();
        taken
    }
}
