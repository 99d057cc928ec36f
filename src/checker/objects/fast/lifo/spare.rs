//! Stacks of which some pops' outcome is unknown: they may have taken what is not known to have been taken, or
//! nothing.

use std::ops::Range;

use super::peel::Peeling;
use super::{Shortcut, blame, no_bottom, order, stays};
use crate::checker::objects::fast::counts::Counts;
use crate::checker::objects::fast::moments::Moments;
use crate::checker::objects::fast::unclaimed::Unclaimed;
use crate::checker::objects::fast::values::{Core, Life, Values};

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
    /// Those that are left and not known to have been taken.
    unclaimed: Unclaimed,
    /// By life: its stay.
    numbers: Vec<usize>,
}

impl<'a> Spare<'a> {
    fn new(values: &'a Values<'a>, moments: &'a Moments) -> Spare<'a> {
        let stays = stays(values, moments, None);
        let mut known = Counts::new(moments.count());
        let mut unclaimed = Unclaimed::new(values, moments);
        let mut numbers = vec![usize::MAX; values.lives.len()];
        for (number, stay) in stays.iter().enumerate() {
            numbers[stay.life] = number;
            match values.lives[stay.life].taken {
                Some(_) => known.add(stay.surely.clone(), 1),
                None => unclaimed.add(stay.surely.start, stay.life, moments),
            }
        }
        let peeling = Peeling::new(moments, stays);
        Spare { values, moments, peeling, reckoned: 0, known, unclaimed, numbers }
    }

    /// Somebody who found nothing, though at each moment at which that may have been something was there that is
    /// known to have been taken later, or more than had been taken even by all the pops begun by then;
    /// and all these.
    fn crowded(&self) -> Option<Core> {
        let begun = self.values.open.iter().map(|open| self.values.operations[*open].invoke);
        let mut begun: Vec<u32> = begun.map(|event| self.moments.after(event)).collect();
        begun.sort_unstable();
        let since: Vec<u32> = self.unclaimed.beginnings().collect();
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
            let Some((start, life)) = self.unclaimed.first() else {
                return self.peeling.is_done();
            };
            // The block that it is in: what is left has no bottom.
            let from = self.peeling.free_before(start) + 1;
            let until = self.unclaimed.until(life).unwrap_or(start);
            if !self.clear(from..until, from) {
                return false;
            }
        }
    }

    /// Forgets the values that were taken out since.
    fn reckon(&mut self) {
        for nested in &self.peeling.nested[self.reckoned..] {
            let stay = &self.peeling.stays[nested.stay];
            if !self.unclaimed.forget(stay.surely.start, stay.life) {
                self.known.add(stay.surely.clone(), -1);
            }
        }
        self.reckoned = self.peeling.nested.len();
    }

    /// Has all that is there, and came since `from`, taken by one of these moments.
    fn clear(&mut self, among: Range<u32>, from: u32) -> bool {
        let Some((moment, lives)) = self.unclaimed.clear(among, from, &self.known) else {
            return false;
        };
        lives.into_iter().for_each(|life| self.peeling.end(self.numbers[life], moment));
        true
    }

    /// By life: the pop that took it, of those whose outcome is unknown.
    fn taken(&self) -> Vec<(usize, usize)> {
        self.unclaimed.taken(self.values, self.moments)
    }
}
