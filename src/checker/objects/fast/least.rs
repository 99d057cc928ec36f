//! Priority queues of values that each go in once, the least of which comes out first: decided in O(n log n), a
//! problem that Lee and Mathur 2024 show to be that cheap.
//!
//! A value comes out at a moment at which no lesser one is there. Whether lesser values are there does not
//! depend on greater ones. So the values are looked at from the least on, and each is given the shortest
//! stay: it goes in as late as it can, and comes out at the first moment after it may have been asked for at
//! which none of the lesser ones, with their shortest stays, is there. Any other choice has every lesser
//! value there for as long or longer, so it leaves no earlier moment; and if a value's pop is over
//! before there is such a moment, no choice does. Who found nothing needs a moment at which nothing at all
//! is there.
//!
//! Takings of unknown outcome: see `Unclaimed`. If what they took is not found so, and there is none even where
//! each may have taken any number of values, there is no order.

mod blame;

use std::ops::Range;

use super::Shortcut;
use super::counts::Counts;
use super::moments::Moments;
use super::unclaimed::Unclaimed;
use super::values::{Core, Values};
use crate::checker::objects::models::container::Operation;
use crate::checker::objects::seen::Timed;
use blame::blame;

/// The shortest stay of a value, by moments.
#[derive(Clone, Copy, Debug)]
struct Stay {
    life: usize,
    /// It may have gone out from then on, but for lesser values.
    wanted: u32,
    /// It is there from this moment, if it stays at all, until it goes out.
    from: u32,
    until: u32,
}

pub(in crate::checker::objects) fn decide(operations: &[Timed<Operation>]) -> Shortcut {
    let values = match Values::sound(operations) {
        Ok(values) => values,
        Err(decided) => return decided,
    };
    let moments = Moments::of(&values);
    let core = match Placing::new(&values, &moments, None).order() {
        Ok(order) => return Shortcut::Ordered { order },
        Err(core) => core,
    };
    let Some(first) = values.first_open() else { return Shortcut::Violated { core } };
    let with_open = |core: Core| core.into_iter().chain(values.open.clone()).collect();
    match Placing::new(&values, &moments, Some(first)).order() {
        Ok(_) => Shortcut::Suspected { core: with_open(core) },
        Err(core) => Shortcut::Violated { core: with_open(core) },
    }
}

/// Gives values their stays, the least first.
struct Placing<'a> {
    values: &'a Values<'a>,
    moments: &'a Moments,
    /// Somebody of whom nothing else is known may have taken what nobody is known to have taken, and as much as
    /// they liked, at any time after this.
    from: Option<u32>,
    stays: Vec<Stay>,
    /// By moment: how many values are there, but for those that are unclaimed.
    there: Counts,
    unclaimed: Unclaimed,
}

impl<'a> Placing<'a> {
    fn new(values: &'a Values<'a>, moments: &'a Moments, from: Option<u32>) -> Placing<'a> {
        Placing {
            values,
            moments,
            from,
            stays: Vec::with_capacity(values.lives.len()),
            there: Counts::new(moments.count()),
            unclaimed: Unclaimed::new(values, moments),
        }
    }

    /// An order of all operations. An error are those of a few values that have none.
    fn order(mut self) -> Result<Vec<usize>, Core> {
        for life in from_the_least(self.values) {
            self.place(life)?;
        }
        let mut found: Vec<(u32, usize)> = Vec::with_capacity(self.values.empty.len());
        for position in &self.values.empty {
            let empty = &self.values.operations[*position];
            let between = self.moments.between(empty.invoke, empty.complete);
            match self.free(between.clone()) {
                Some(moment) => found.push((moment, *position)),
                None => return Err(self.blame(between, &[], Some(*position))),
            }
        }
        self.settle();
        let taken = self.unclaimed.taken(self.values, self.moments);
        Ok(order(self.values, &self.stays, &taken, &found))
    }

    /// The first of these moments at which nothing is there.
    fn free(&mut self, among: Range<u32>) -> Option<u32> {
        self.unclaimed.clear(among, 0, &self.there).map(|(moment, _)| moment)
    }

    fn place(&mut self, life: usize) -> Result<(), Core> {
        let its = &self.values.lives[life];
        let Some(put) = its.put.map(|put| &self.values.operations[put]) else { return Ok(()) };
        let taken = its.taken.map(|taken| &self.values.operations[taken]);
        let entered = self.moments.after(put.complete);
        let asked = match (taken, self.from) {
            (Some(taken), _) => self.moments.after(taken.invoke),
            (None, Some(from)) => self.moments.after(from),
            (None, None) => {
                let until = self.moments.end();
                self.stays.push(Stay { life, wanted: until, from: entered, until });
                self.unclaimed.add(entered, life, self.moments);
                return Ok(());
            }
        };
        let end = self.moments.end() + 1;
        let last = taken.map_or(end, |taken| self.moments.after(taken.complete));
        let wanted = asked.max(self.moments.after(put.invoke));
        let Some(until) = self.free(wanted..last) else {
            return Err(self.blame(wanted..last, &[life], None));
        };
        self.there.add(entered..until.max(entered), 1);
        self.stays.push(Stay { life, wanted, from: entered, until });
        Ok(())
    }

    /// Writes down when what was unclaimed was taken.
    fn settle(&mut self) {
        for stay in &mut self.stays {
            stay.until = self.unclaimed.until(stay.life).unwrap_or(stay.until);
        }
    }

    /// Those that leave none of these moments free, and these.
    fn blame(&mut self, moments: Range<u32>, lives: &[usize], found: Option<usize>) -> Core {
        self.settle();
        let lives = blame(&self.stays, moments).chain(lives.iter().copied());
        let positions = lives.flat_map(|life| self.values.positions(&self.values.lives[life]));
        positions.chain(found).collect()
    }
}

/// All that have gone in, by value.
fn from_the_least(values: &Values) -> Vec<usize> {
    let mut lives: Vec<usize> = (0..values.lives.len()).collect();
    lives.sort_by_key(|life| {
        values.lives[*life].put.and_then(|put| values.operations[put].operation.value())
    });
    lives
}

/// What happens at one moment, in this order: what was there goes out, the least first; what stays for no time
/// comes and goes; who finds nothing does so; what stays goes in.
const OUT: u32 = 0;
const AT_ONCE: u32 = 1;
const NOTHING: u32 = 2;
const IN: u32 = 3;

fn order(
    values: &Values,
    stays: &[Stay],
    taken: &[(usize, usize)],
    found: &[(u32, usize)],
) -> Vec<usize> {
    let mut places: Vec<((u32, u32, usize), usize)> = Vec::with_capacity(values.operations.len());
    for (rank, stay) in stays.iter().enumerate() {
        let life = &values.lives[stay.life];
        let taken = life.taken.or_else(|| {
            let place = taken.binary_search_by_key(&stay.life, |(life, _)| *life).ok()?;
            Some(taken[place].1)
        });
        let (enters, leaves) = match stay.until < stay.from {
            true => ((stay.until, AT_ONCE, 2 * rank), (stay.until, AT_ONCE, 2 * rank + 1)),
            false => ((stay.from - 1, IN, rank), (stay.until, OUT, rank)),
        };
        let is_needed = |put: &usize| taken.is_some() || !values.operations[*put].is_open();
        places.extend(life.put.filter(is_needed).map(|put| (enters, put)));
        places.extend(taken.map(|taken| (leaves, taken)));
    }
    places.extend(found.iter().map(|(moment, position)| ((*moment, NOTHING, 0), *position)));
    places.sort_unstable();
    places.into_iter().map(|(_, position)| position).collect()
}
