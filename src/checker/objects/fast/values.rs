//! What happened to each value of a container: when it went in, and when it came out.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::Shortcut;
use crate::checker::objects::Atom;
use crate::checker::objects::models::container::{Operation, Taken};
use crate::checker::objects::seen::{NEVER, Timed};

/// One value, by positions of operations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Life {
    pub put: Option<usize>,
    pub taken: Option<usize>,
}

/// The values of a history in which none goes in twice.
pub(super) struct Values<'a> {
    pub operations: &'a [Timed<Operation>],
    pub lives: Vec<Life>,
    /// Positions of those that found nothing.
    pub empty: Vec<usize>,
    /// Takings of unknown outcome.
    pub open: Vec<usize>,
}

/// Why no order can be, by positions of operations.
pub(super) type Core = Vec<usize>;

impl<'a> Values<'a> {
    /// Values that each went in before they came out, and came out once; else what that decides.
    pub fn sound(operations: &'a [Timed<Operation>]) -> Result<Values<'a>, Shortcut> {
        let violated = |core| Shortcut::Violated { core };
        let values = Values::of(operations).ok_or(Shortcut::None)?.map_err(violated)?;
        match values.invented() {
            Some(core) => Err(violated(core)),
            None => Ok(values),
        }
    }

    /// `None` where a value went in twice. An error is a value that came out twice.
    pub fn of(operations: &'a [Timed<Operation>]) -> Option<Result<Values<'a>, Core>> {
        let mut lives: IndexMap<&Atom, Life, FxBuildHasher> = IndexMap::default();
        let (mut empty, mut open) = (Vec::new(), Vec::new());
        let mut twice = None;
        for (position, timed) in operations.iter().enumerate() {
            match &timed.operation {
                Operation::Put(value) => {
                    let life = lives.entry(value).or_default();
                    if life.put.replace(position).is_some() {
                        return None;
                    }
                }
                Operation::Take(_) if timed.is_open() => open.push(position),
                Operation::Take(Taken::Unknown) => return None,
                Operation::Take(Taken::Empty) => empty.push(position),
                Operation::Take(Taken::Value(value)) => {
                    let first = lives.entry(value).or_default().taken.replace(position);
                    twice = twice.or(first.map(|first| (value, first, position)));
                }
            }
        }
        if let Some((value, first, second)) = twice {
            let put = lives.get(value).and_then(|life| life.put);
            return Some(Err(put.into_iter().chain([first, second]).collect()));
        }
        let lives = lives.into_values().collect();
        Some(Ok(Values { operations, lives, empty, open }))
    }

    pub fn positions(&self, life: &Life) -> impl Iterator<Item = usize> + use<> {
        [life.put, life.taken].into_iter().flatten()
    }

    /// The moment from which on the value has surely gone in.
    pub fn is_in(&self, life: &Life) -> u32 {
        life.put.map_or(0, |put| self.operations[put].complete)
    }

    /// The moment up to which the value has surely not come out. With `from`, somebody of whom nothing else
    /// is known may have taken it at any time after that.
    pub fn is_out(&self, life: &Life, from: Option<u32>) -> u32 {
        let went_in = life.put.map_or(0, |put| self.operations[put].invoke);
        match life.taken {
            Some(taken) => self.operations[taken].invoke.max(went_in),
            None => from.map_or(NEVER, |from| from.max(went_in)),
        }
    }

    /// From when it may have gone in up to when it surely had come out, if that is known.
    pub fn stay(&self, life: &Life) -> Option<(u32, u32)> {
        let (put, taken) = (&self.operations[life.put?], &self.operations[life.taken?]);
        Some((put.invoke, taken.complete))
    }

    /// A value that came out without having gone in, or before.
    pub fn invented(&self) -> Option<Core> {
        let invented = self.lives.iter().find(|life| match (life.put, life.taken) {
            (Some(put), Some(taken)) => {
                self.operations[taken].complete < self.operations[put].invoke
            }
            (None, Some(_)) => true,
            _ => false,
        });
        invented.map(|life| self.positions(life).collect())
    }

    /// The first moment at which a taking of unknown outcome may have been.
    pub fn first_open(&self) -> Option<u32> {
        self.open.iter().map(|open| self.operations[*open].invoke).min()
    }
}
