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

/// Jepsen's `history.txt`, or a log that has its lines among others.
pub fn read<R: Read>(source: &mut Source<R>, output: &mut Output) -> Result<(), Trouble> {
    let mut tape = Tape::default();
    let mut is_log = false;
    let mut skipped: Option<Trouble> = None;
    while let Some(length) = next_line(source)? {
        let line = source.text()[..length].trim_end_matches(['\n', '\r']);
        let found = parse_text(line, &mut tape);
        let is_torn = !source.text()[..length].ends_with('\n');
        match found {
            Ok(Line::Operation { logged }) => {
                is_log |= logged;
                if let (false, Some(trouble)) = (is_log, skipped.take()) {
                    return Err(trouble);
                }
                let next = output.map(&tape, source.line);
                if next.map_err(|error| trouble_at(source, 0, error))?.is_break() {
                    return Ok(());
                }
            }
            Ok(Line::Other { logged }) => {
                is_log |= logged;
                if !is_log && skipped.is_none() {
                    skipped = Some(trouble_at(source, 0, Line::unexpected(line)));
                }
                if !is_log && output.events > 0 {
                    break;
                }
            }
            Err(fault) if is_torn => {
                let (line, offset) = (source.line, source.offset);
                return Err(Trouble::Torn { line, offset, why: fault.why });
            }
            Err(fault) => return Err(trouble_at(source, fault.at, LineError::NotEdn(fault.why))),
        }
        source.advance(length);
    }
    match skipped {
        Some(trouble) if !is_log => Err(trouble),
        _ => Ok(()),
    }
}
