//! A history: the events of a run in the order seen, and its forms: JSON lines (packed or plain),
//! Jepsen's EDN and text. Pure: bytes in, bytes out.

mod datum;
mod duplicates;
mod edn;
mod fault;
mod forms;
mod frames;
mod integrity;
mod json;
mod line;
mod names;
mod number;
mod op_map;
mod read;
mod source;
mod tape;
mod text;

pub use datum::{Datum, Entries, Items};
pub use edn::{Keys, write_edn};
pub use frames::{Damage, FrameEncoder, FrameError};
pub use integrity::{Flaw, FlawKind};
pub use line::{parse_line, write_line};
pub use op_map::LineError;
pub use read::{
    Format, PassedOver, ReadError, ReadOptions, Recording, Sink, Summary, has_flat_key, read,
    read_with, stream,
};
pub use tape::Cursor;
pub use text::write_text;

use crate::op::{Event, Kind, Process};

/// The events of one run, dense by index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    events: Vec<Event>,
}

impl History {
    /// Takes events as they are; the caller has checked or numbered them.
    pub fn new(events: Vec<Event>) -> History {
        History { events }
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Client operations as pairs: the invocation, and its completion if there is one.
    ///
    /// An operation without completion ran when the history ended and counts as `info`.
    pub fn operations(&self) -> Vec<(&Event, Option<&Event>)> {
        let mut open = rustc_hash::FxHashMap::default();
        let mut operations: Vec<(&Event, Option<&Event>)> = Vec::new();
        for event in &self.events {
            let Process::Client(process) = event.process else { continue };
            if event.kind == Kind::Invoke {
                open.insert(process, operations.len());
                operations.push((event, None));
            } else if let Some(position) = open.remove(&process) {
                operations[position].1 = Some(event);
            }
        }
        operations
    }
}
