//! Reads a text line by line.

use std::io::Read;

use super::super::op_map::LineError;
use super::super::source::Source;
use super::super::tape::Tape;
use super::super::text::{Line, parse_text};
use super::maps::trouble_at;
use super::output::Output;
use super::{MOST_BYTES, Trouble};

/// The length of the next line with its end, which the source then has; `None` after the last one.
pub fn next_line<R: Read>(source: &mut Source<R>) -> Result<Option<usize>, Trouble> {
    loop {
        if let Some(end) = source.text().find('\n') {
            return Ok(Some(end + 1));
        }
        if source.ended() {
            let length = source.text().len();
            if source.is_invalid() {
                return Err(trouble_at(source, length, LineError::NotText));
            }
            return Ok((length > 0).then_some(length));
        }
        if source.text().len() > MOST_BYTES {
            let error = LineError::TooLong { most: MOST_BYTES >> 20 };
            return Err(trouble_at(source, 0, error));
        }
        source.refill(MOST_BYTES)?;
    }
}

const NO_OPERATIONS: &str = "a log of which no line is an operation; one has process, type, f and value, as in \
                             `3 :ok :read 7`, and stands in Jepsen's history.txt too";

/// Where the reading stands.
#[derive(Default)]
struct Lines {
    /// Some line has the prefix of a log line, so that others may be about anything.
    is_log: bool,
    /// Text behind the last operation's value may go on: Jepsen writes the newlines that an error has.
    goes_on: bool,
    /// The first line that is no operation and is no log's either, unless one is found to be a log's.
    stray: Option<Trouble>,
}

/// Jepsen's `history.txt`, or a log that has its lines among others.
pub fn read<R: Read>(source: &mut Source<R>, output: &mut Output) -> Result<(), Trouble> {
    let mut tape = Tape::default();
    let mut lines = Lines::default();
    while let Some(length) = next_line(source)? {
        let line = source.text()[..length].trim_end_matches(['\n', '\r']);
        match parse_text(line, &mut tape) {
            Ok(Line::Operation { logged, has_more }) => {
                lines.is_log |= logged;
                lines.goes_on = has_more;
                if let (false, Some(trouble)) = (lines.is_log, lines.stray.take()) {
                    return Err(trouble);
                }
                let next = output.map(&tape, source.line);
                if next.map_err(|error| trouble_at(source, 0, error))?.is_break() {
                    return Ok(());
                }
            }
            Ok(Line::Other { logged }) => {
                lines.is_log |= logged;
                lines.pass(source, line, output);
                if lines.stray.is_some() && !lines.is_log && output.events > 0 {
                    break;
                }
            }
            Err(fault) if !source.text()[..length].ends_with('\n') => {
                let (line, offset) = (source.line, source.offset);
                return Err(Trouble::Torn { line, offset, why: fault.why });
            }
            Err(fault) => return Err(trouble_at(source, fault.at, LineError::NotEdn(fault.why))),
        }
        source.advance(length);
    }
    match lines.stray {
        Some(trouble) if !lines.is_log => Err(trouble),
        _ if output.events == 0 => Err(Trouble::Unknown(NO_OPERATIONS)),
        _ => Ok(()),
    }
}

impl Lines {
    /// Passes over a line that is no operation.
    fn pass<R: Read>(&mut self, source: &Source<R>, line: &str, output: &mut Output) {
        if line.trim().is_empty() {
            return;
        }
        output.passed_over.add(source.line);
        if !self.is_log && !self.goes_on && self.stray.is_none() {
            self.stray = Some(trouble_at(source, 0, Line::unexpected(line)));
        }
    }
}
