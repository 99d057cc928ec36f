//! How the events of a history are taken, where they cannot be taken as they are.

use std::borrow::Cow;

use crate::op::{Event, Kind, Process};

/// How the events of a history are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    AsItIs,
    /// Numbered by their lines.
    Renumbered,
    /// Each completion for itself, as if of a process of its own: what it says is so whatever came when.
    CompletionsAlone,
}

impl Reading {
    /// The event, which is on the line `number`; none if it is not looked at.
    pub fn of(self, head: &Event, number: u64) -> Option<Cow<'_, Event>> {
        match (self, head.process) {
            (Reading::AsItIs, _) | (Reading::CompletionsAlone, Process::Nemesis) => {
                Some(Cow::Borrowed(head))
            }
            (Reading::Renumbered, _) => {
                Some(Cow::Owned(Event { index: number - 1, ..head.clone() }))
            }
            (Reading::CompletionsAlone, _) if head.kind == Kind::Invoke => None,
            (Reading::CompletionsAlone, _) => {
                let process = Process::Client(number as u32);
                Some(Cow::Owned(Event { index: number - 1, process, ..head.clone() }))
            }
        }
    }
}

/// Why a history is to be read otherwise than it is.
pub struct Again {
    /// Where an index does not grow.
    pub astray: Option<String>,
    /// It is damaged, and its completions alone may still show what is wrong.
    pub completions_tell: bool,
}

/// Said of findings that went by completions alone.
pub const BY_RESULTS: &str = "processes had several operations under way at once, so nobody knows when each began \
                          or in which order; what was found follows from their results alone, and each is told as \
                          of a process by the number of its line";
