//! The operations of a history as an object looks at them.

use crate::op::{Event, Kind, Value};

/// Completion of an operation that may take effect at any later time, or never.
pub(super) const NEVER: u32 = u32::MAX;

/// An operation that happened, or may have.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    invocation: &'a Event,
    /// Only of an operation that surely happened.
    completion: Option<&'a Event>,
}

/// An operation and the events between which it took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed<T> {
    pub operation: T,
    /// Event indices, from 1: 0 is the moment before the history.
    pub invoke: u32,
    /// `u32::MAX`: at any later time, or never.
    pub complete: u32,
    /// Position among the history's operations.
    pub origin: u32,
}

impl<T> Timed<T> {
    /// It may take effect at any later time, or never.
    pub fn is_open(&self) -> bool {
        self.complete == NEVER
    }
}

impl<'a> Seen<'a> {
    /// `None` of an operation that surely did not happen.
    pub(super) fn new(invocation: &'a Event, completion: Option<&'a Event>) -> Option<Seen<'a>> {
        match completion.map(|event| event.kind) {
            Some(Kind::Fail) => None,
            Some(Kind::Ok) => Some(Seen { invocation, completion }),
            _ => Some(Seen { invocation, completion: None }),
        }
    }

    pub fn f(&self) -> &'a str {
        self.invocation.f.as_str()
    }

    pub fn invocation(&self) -> &'a Event {
        self.invocation
    }

    /// Only of an operation that surely happened.
    pub fn completion(&self) -> Option<&'a Event> {
        self.completion
    }

    /// What was asked for.
    pub fn asked(&self) -> &'a Value {
        &self.invocation.value
    }

    /// What was answered, if the operation surely happened.
    pub fn answer(&self) -> Option<&'a Value> {
        self.completion.map(|event| &event.value)
    }

    /// Complains that the operation is none of the object's.
    pub fn foreign(&self, expected: &str) -> String {
        let (f, index) = (self.f(), self.invocation.index);
        format!(
            "the operation `{f}` of index {index} is not one of this model's: expected {expected}"
        )
    }

    /// Complains about what was asked for.
    pub fn malformed(&self, expected: &str) -> String {
        let (f, index, value) = (self.f(), self.invocation.index, self.asked());
        format!("the {f} of index {index} has the value {value}: expected {expected}")
    }

    /// Complains about the answer.
    pub fn unreadable(&self, expected: &str) -> String {
        let (f, event) = (self.f(), self.completion.unwrap_or(self.invocation));
        let (index, value) = (event.index, &event.value);
        format!("the {f} that index {index} completes was answered {value}: expected {expected}")
    }
}

/// The event's place in time, from 1.
pub(super) fn position(event: &Event) -> Result<u32, String> {
    u32::try_from(event.index + 1)
        .ok()
        .filter(|position| *position != NEVER)
        .ok_or_else(|| format!("index {} is beyond what can be checked", event.index))
}
