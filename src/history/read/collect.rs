//! Whole histories, in memory.

use std::ops::ControlFlow;

use super::{Format, ReadError, ReadOptions, stream};
use crate::history::{Damage, Flaw, History, Keys};
use crate::op::Event;

/// A history as read, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Recording {
    pub history: History,
    pub format: Format,
    /// The end that a crash left unfinished.
    pub damage: Option<Damage>,
    /// As in [`super::Summary`].
    pub flaws: Vec<Flaw>,
    pub real_time: bool,
}

impl Recording {
    /// Reads all of a history; `name` is the file's, for errors.
    pub fn read(
        bytes: impl std::io::Read,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Recording, ReadError> {
        let mut history = History::default();
        let summary = stream(bytes, name, options, &mut |head, value| {
            history.push(Event { value: value.to_value(), ..head.clone() });
            ControlFlow::Continue(())
        })?;
        let super::Summary { format, damage, flaws, real_time, .. } = summary;
        Ok(Recording { history, format, damage, flaws, real_time })
    }
}

/// Reads a history; `name` is the file's, for errors.
pub fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    read_with(bytes, name, Keys::Plain)
}

/// Reads a history that may have its keys in its values.
pub fn read_with(bytes: &[u8], name: &str, keys: Keys) -> Result<Recording, ReadError> {
    Recording::read(bytes, name, &ReadOptions { keys, ..ReadOptions::default() })
}
