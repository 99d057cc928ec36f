//! What becomes of each operation read: an event, looked at and handed on.

use std::ops::ControlFlow;

use super::super::datum::Datum;
use super::super::edn::Keys;
use super::super::frames::Damage;
use super::super::integrity::Integrity;
use super::super::names::Names;
use super::super::op_map::{self, Dialect, LineError};
use super::super::tape::Tape;
use super::keyed::{has_flat_key, take_flat_key, take_key};
use super::{Format, PassedOver, Sink, Summary};
use crate::op::Event;

/// Makes events of op maps, and gives them away.
pub struct Output<'a, 'b> {
    keys: Keys,
    sink: &'a mut Sink<'b>,
    pub format: Format,
    /// Settled by the first operation.
    dialect: Option<Dialect>,
    names: Names,
    /// The value of an operation whose own holds more.
    flat: Tape,
    integrity: Integrity,
    pub events: u64,
    pub passed_over: PassedOver,
    pub real_time: bool,
}

impl<'a, 'b> Output<'a, 'b> {
    pub fn new(keys: Keys, sink: &'a mut Sink<'b>) -> Output<'a, 'b> {
        Output {
            keys,
            sink,
            format: Format::JsonLines,
            dialect: None,
            names: Names::default(),
            flat: Tape::default(),
            integrity: Integrity::default(),
            events: 0,
            passed_over: PassedOver::default(),
            real_time: true,
        }
    }

    /// Takes the op map that the tape begins with.
    pub fn map(&mut self, tape: &Tape, line: u64) -> Result<ControlFlow<()>, LineError> {
        let foreign = matches!(self.format, Format::Edn | Format::Text);
        let dialect = self.dialect.unwrap_or_else(|| Dialect::of(tape.root(), foreign));
        let (mut head, mut value) = op_map::event(tape, self.events, dialect, &mut self.names)?;
        self.dialect = Some(dialect);
        let is_tuple = matches!(value, Datum::Parsed(cursor) if cursor.is_tuple());
        if self.keys == Keys::Independent && has_flat_key(&head, value) {
            value = take_flat_key(&mut head, value, &mut self.flat);
        } else if self.keys == Keys::Independent || is_tuple {
            value = take_key(&mut head, value);
        }
        self.integrity.observe(&head, value, line);
        self.events += 1;
        Ok((self.sink)(&head, value))
    }

    /// Whether the map is the mark of a program, and no operation that lacks something.
    pub fn is_mark(&self, tape: &Tape) -> bool {
        let lacks_fields = |dialect: Dialect| dialect.no_process || dialect.no_f;
        !self.dialect.is_some_and(lacks_fields) && op_map::is_mark(tape.root())
    }

    /// Takes a completion that nothing is known of but its value. There is nothing to be wrong with it.
    pub fn completion(&mut self, head: Event, value: &Tape) -> ControlFlow<()> {
        let head = Event { index: self.events, ..head };
        self.events += 1;
        (self.sink)(&head, Datum::Parsed(value.root()))
    }

    pub fn summary(self, is_packed: bool, damage: Option<Damage>) -> Summary {
        let format = match self.format {
            Format::JsonLines if is_packed => Format::Packed,
            other => other,
        };
        let Output { events, passed_over, real_time, .. } = self;
        let has_processes = self.dialect.is_none_or(|dialect| !dialect.no_process);
        let processes = self.names.into_processes();
        let (flaws, flaw_count) = self.integrity.into_flaws();
        Summary {
            format,
            events,
            passed_over,
            damage,
            flaws,
            flaw_count,
            real_time,
            has_processes,
            processes,
        }
    }
}
