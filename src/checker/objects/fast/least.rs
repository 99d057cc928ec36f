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
//! Takings of unknown outcome may have taken anything that is not known to have been taken: it is decided here if
//! an order needs none of them, or if none can be even where each may have taken any number of values.

mod blame;
mod next_free;

use super::Shortcut;
use super::moments::Moments;
use super::values::{Core, Values};
use crate::checker::objects::models::container::Operation;
use crate::checker::objects::seen::Timed;
use blame::blame;
use next_free::NextFree;

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
    let values = match Values::of(operations) {
        None => return Shortcut::None,
        Some(Err(core)) => return Shortcut::Violated { core },
        Some(Ok(values)) => values,
    };
    if let Some(core) = values.invented() {
        return Shortcut::Violated { core };
    }
    let moments = Moments::of(&values);
    let first = match stays(&values, &moments, None) {
        Ok(order) => return Shortcut::Ordered { order },
        Err(core) => core,
    };
    let Some(from) = values.first_open() else { return Shortcut::Violated { core: first } };
    match stays(&values, &moments, Some(from)) {
        Ok(_) => Shortcut::None,
        Err(core) => {
            Shortcut::Violated { core: core.into_iter().chain(values.open.clone()).collect() }
        }
    }
}

/// An order of all operations. An error are those of a few values that have none. With `from`, somebody of whom
/// nothing else is known may have taken what nobody is known to have taken, at any time after that.
fn stays(values: &Values, moments: &Moments, from: Option<u32>) -> Result<Vec<usize>, Core> {
    let mut free = NextFree::new(moments.count());
    let mut stays: Vec<Stay> = Vec::with_capacity(values.lives.len());
    for life in from_the_least(values) {
        let its = &values.lives[life];
        let Some(put) = its.put.map(|put| &values.operations[put]) else { continue };
        let taken = its.taken.map(|taken| &values.operations[taken]);
        let asked = taken.map_or(from, |taken| Some(taken.invoke));
        let asked = asked.map_or(moments.end(), |asked| moments.after(asked));
        let last = taken.map_or(moments.end() + 1, |taken| moments.after(taken.complete));
        let wanted = asked.max(moments.after(put.invoke));
        let until = free.next(wanted);
        if until >= last {
            let lives = blame(&stays, wanted..last).chain([life]);
            return Err(lives.flat_map(|life| values.positions(&values.lives[life])).collect());
        }
        let entered = moments.after(put.complete);
        free.take(entered..until);
        stays.push(Stay { life, wanted, from: entered, until });
    }
    for position in &values.empty {
        let found = &values.operations[*position];
        let between = moments.between(found.invoke, found.complete);
        if free.next(between.start) >= between.end {
            let lives = blame(&stays, between);
            let core = lives.flat_map(|life| values.positions(&values.lives[life]));
            return Err(core.chain([*position]).collect());
        }
    }
    Ok(order(values, moments, &stays, free))
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

fn order(values: &Values, moments: &Moments, stays: &[Stay], mut free: NextFree) -> Vec<usize> {
    let mut places: Vec<((u32, u32, usize), usize)> = Vec::with_capacity(values.operations.len());
    for (rank, stay) in stays.iter().enumerate() {
        let life = &values.lives[stay.life];
        let goes_at_once = stay.until < stay.from;
        let enters = match goes_at_once {
            true => (stay.until, AT_ONCE, 2 * rank),
            false => (stay.from - 1, IN, rank),
        };
        let leaves = match goes_at_once {
            true => (stay.until, AT_ONCE, 2 * rank + 1),
            false => (stay.until, OUT, rank),
        };
        let is_needed = |put: &usize| life.taken.is_some() || !values.operations[*put].is_open();
        places.extend(life.put.filter(is_needed).map(|put| (enters, put)));
        places.extend(life.taken.map(|taken| (leaves, taken)));
    }
    for position in &values.empty {
        let moment = free.next(moments.after(values.operations[*position].invoke));
        places.push(((moment, NOTHING, 0), *position));
    }
    places.sort_unstable();
    places.into_iter().map(|(_, position)| position).collect()
}
