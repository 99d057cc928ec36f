//! The moments between events, by number: only the order of events matters.

use std::ops::Range;

use super::values::Values;
use crate::checker::objects::seen::NEVER;

/// The moment before the first event is 0, that after the last is `events.len()`, and one more comes after
/// all that may still happen: then the container is emptied, which harms nobody.
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
}
