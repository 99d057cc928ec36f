//! The moments between events, by number: only the order of events matters.

use std::ops::Range;

use super::peel::Stay;
use crate::checker::objects::fast::values::{Life, Values};
use crate::checker::objects::seen::NEVER;

/// The moment before the first event is 0, that after the last is `events.len()`, and one more comes after
/// all that may still happen: then the stack is emptied, which harms nobody.
pub(super) struct Moments {
    /// Ascending.
    events: Vec<u32>,
}

impl Moments {
    pub fn of(values: &Values) -> Moments {
        let events = values.operations.iter().flat_map(|timed| [timed.invoke, timed.complete]);
        let mut events: Vec<u32> = events.filter(|event| *event != NEVER).collect();
        events.sort_unstable();
        Moments { events }
    }

    /// The first moment after the event.
    pub fn after(&self, event: u32) -> u32 {
        match event {
            NEVER => self.end(),
            _ => self.events.partition_point(|other| *other <= event) as u32,
        }
    }

    /// The moment after all that may still happen.
    pub fn end(&self) -> u32 {
        self.events.len() as u32 + 1
    }

    /// All of them.
    pub fn count(&self) -> usize {
        self.events.len() + 2
    }

    /// The moments between two events.
    pub fn between(&self, from: u32, until: u32) -> Range<u32> {
        self.after(from)..self.after(until)
    }

    /// When the value may have gone in, was surely there and may have gone out, if it surely was there. For
    /// `from` see `Values::is_out`.
    pub fn stay(
        &self,
        values: &Values,
        life: usize,
        its: &Life,
        from: Option<u32>,
    ) -> Option<Stay> {
        let put = &values.operations[its.put?];
        let taken = its.taken.map(|taken| &values.operations[taken]);
        let (asked, gone) = match (taken, from) {
            // As well after the end as never.
            (Some(taken), _) if taken.is_open() => (self.after(taken.invoke), self.end() + 1),
            (Some(taken), _) => (self.after(taken.invoke), self.after(taken.complete)),
            (None, Some(from)) => (self.after(from), self.end() + 1),
            (None, None) => (self.end(), self.end() + 1),
        };
        let surely = self.after(put.complete)..asked;
        (!surely.is_empty()).then(|| Stay {
            life,
            enters: self.between(put.invoke, put.complete),
            surely,
            leaves: asked..gone,
        })
    }
}
