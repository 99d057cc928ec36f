//! How two operations on one key lie in the ownership terms of its slot.

use std::ops::RangeInclusive;

use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::terms::Terms;

/// The terms that an operation may belong to.
pub(super) type Place = RangeInclusive<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Both belong to one term, in which nothing is lost.
    Same,
    /// A failover lies between them.
    Apart,
    /// One may.
    Open,
}

pub(super) fn relation(one: &Place, other: &Place) -> Relation {
    if one.end() < other.start() || other.end() < one.start() {
        Relation::Apart
    } else if one == other && one.start() == one.end() {
        Relation::Same
    } else {
        Relation::Open
    }
}

/// The terms of the slot that operations on one key were about.
pub(super) struct KeyTerms<'e> {
    terms: Terms<'e>,
}

impl<'e> KeyTerms<'e> {
    pub fn of<'a: 'i, 'i>(
        evidence: &'e Evidence,
        answers: impl IntoIterator<Item = &'i Answer<'a>>,
    ) -> KeyTerms<'e> {
        let slot = answers.into_iter().find_map(|answer| answer.slot);
        KeyTerms { terms: Terms::of(evidence, slot) }
    }

    pub fn count(&self) -> usize {
        self.terms.count()
    }

    /// Where an answer of a master belongs.
    pub fn place(&self, answer: &Answer) -> Place {
        self.terms.range(&answer.node, answer.start, answer.end)
    }

    /// The term of an answer, if it can only be one.
    pub fn single(&self, answer: &Answer) -> Option<usize> {
        let place = self.place(answer);
        (place.start() == place.end()).then_some(*place.start())
    }

    /// What a replica shows may be of any term.
    pub fn anywhere(&self) -> Place {
        0..=self.terms.count() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_surely_shares_a_term_is_of_the_same() {
        for (one, other, expected) in [
            (0..=0, 0..=0, Relation::Same),
            (0..=0, 1..=2, Relation::Apart),
            (2..=2, 0..=1, Relation::Apart),
            (0..=1, 0..=1, Relation::Open),
            (0..=1, 1..=1, Relation::Open),
        ] {
            assert_eq!(relation(&one, &other), expected, "{one:?} {other:?}");
        }
    }
}
