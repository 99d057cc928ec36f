//! Reads op maps one after another, in JSON or EDN, from a text that comes in pieces.

use std::io::Read;
use std::ops::ControlFlow;

use super::super::fault::Fault;
use super::super::forms::{Around, Language, Next};
use super::super::op_map::LineError;
use super::super::source::{Source, count_lines};
use super::super::tape::Tape;
use super::output::Output;
use super::{Format, MOST_BYTES, Trouble, stranger};

/// Where the reading stands.
struct Maps {
    language: Language,
    around: Around,
    /// Each map is a line, so that one without an end cannot swallow the next.
    by_line: bool,
    tape: Tape,
    /// What is wrong with the first map that was passed over, if no operation comes.
    passed: Option<Trouble>,
}

pub fn read<R: Read>(
    source: &mut Source<R>,
    language: Language,
    output: &mut Output,
) -> Result<(), Trouble> {
    let by_line = output.format == Format::JsonLines && !spreads(source.text());
    if output.format == Format::JsonLines && !by_line {
        output.format = Format::Json;
    }
    let mut maps =
        Maps { language, around: Around::Unknown, by_line, tape: Tape::default(), passed: None };
    loop {
        match maps.language.next(source.text(), &mut maps.around, &mut maps.tape) {
            Ok(Next::Bracket { end }) => drop(source.advance(end)),
            Ok(Next::Form { begin, end }) => {
                source.advance(begin);
                if maps.form(source, end - begin, output)?.is_break() {
                    return Ok(());
                }
            }
            Ok(Next::Nothing { end }) if source.ended() => {
                source.advance(end);
                return maps.end(source, output);
            }
            Ok(Next::Nothing { end }) => {
                if source.text()[..end].bytes().all(|byte| byte.is_ascii_whitespace()) {
                    source.advance(end);
                }
                refill(source)?;
            }
            Err(fault) if fault.ends && !source.ended() && !maps.has_line(source) => {
                refill(source)?
            }
            Err(fault) => return Err(maps.fault(source, fault)),
        }
    }
}

/// The first map has lines of its own within.
fn spreads(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    line.ends_with(['{', ',', '[', ':']) && text.trim_start().len() > line.len()
}

fn refill<R: Read>(source: &mut Source<R>) -> Result<(), Trouble> {
    if source.text().len() > MOST_BYTES {
        let error = LineError::TooLong { most: MOST_BYTES >> 20 };
        return Err(trouble_at(source, begin(source), error));
    }
    Ok(source.refill(MOST_BYTES)?)
}

/// Where something begins that is no white space.
fn begin<R: Read>(source: &Source<R>) -> usize {
    source.text().len() - source.text().trim_start().len()
}

/// Trouble at so many bytes from where the source stands.
pub fn trouble_at<R: Read>(source: &Source<R>, at: usize, error: LineError) -> Trouble {
    let passed = &source.text().as_bytes()[..at];
    let line = source.line + count_lines(passed);
    let column = match passed.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => (at - last) as u64,
        None => source.before + at as u64 + 1,
    };
    Trouble::Line { line, column, offset: source.offset, error }
}

impl Maps {
    /// The map that the source stands before is on the tape.
    fn form<R: Read>(
        &mut self,
        source: &mut Source<R>,
        length: usize,
        output: &mut Output,
    ) -> Result<ControlFlow<()>, Trouble> {
        let text = &source.text()[..length];
        if self.by_line && text.as_bytes().contains(&b'\n') {
            return Err(self.line_ends(source));
        }
        let next = output.map(&self.tape, source.line).or_else(|error| {
            let at = place_of(text, &error);
            self.pass(source.line, output, trouble_at(source, at, error))
        })?;
        source.advance(length);
        Ok(next)
    }

    /// Passes over a map that is no operation, if none was ever meant.
    fn pass(
        &mut self,
        line: u64,
        output: &mut Output,
        trouble: Trouble,
    ) -> Result<ControlFlow<()>, Trouble> {
        let stranger = match output.events + output.passed_over.count {
            0 => stranger::of_map(self.tape.root()),
            _ => None,
        };
        if let Some(found) = stranger {
            return Err(Trouble::Unknown(found));
        }
        if !output.is_mark(&self.tape) {
            return Err(trouble);
        }
        output.passed_over.add(line);
        self.passed.get_or_insert(trouble);
        Ok(ControlFlow::Continue(()))
    }

    fn has_line<R: Read>(&self, source: &Source<R>) -> bool {
        self.by_line && source.text().trim_start().contains('\n')
    }

    /// The line that the source stands in ends too early.
    fn line_ends<R: Read>(&self, source: &Source<R>) -> Trouble {
        let text = source.text();
        let begin = begin(source);
        let end = text[begin..].find('\n').map_or(text.len(), |length| begin + length);
        let why = self.language.error("the line ends within a map".into());
        trouble_at(source, end, why)
    }

    fn fault<R: Read>(&self, source: &Source<R>, fault: Fault) -> Trouble {
        let begin = begin(source);
        let (line, offset) = self.place(source, begin);
        let is_last = source.ended() && !self.has_line(source);
        if is_last && source.is_invalid() && fault.ends {
            return trouble_at(source, source.text().len(), LineError::NotText);
        }
        if is_last && (fault.ends || self.by_line) {
            return Trouble::Torn {
                line,
                offset,
                why: format!("no whole operation: {}", fault.why),
            };
        }
        let passed = source.text().as_bytes().get(begin..=fault.at).unwrap_or_default();
        let passes_line = passed.contains(&b'\n');
        if self.by_line && (passes_line || fault.ends) {
            return self.line_ends(source);
        }
        trouble_at(source, fault.at, self.language.error(fault.why))
    }

    /// Line and offset of so many bytes on.
    fn place<R: Read>(&self, source: &Source<R>, at: usize) -> (u64, u64) {
        let lines = count_lines(&source.text().as_bytes()[..at]);
        (source.line + lines, source.offset + at as u64)
    }

    fn end<R: Read>(&mut self, source: &Source<R>, output: &Output) -> Result<(), Trouble> {
        if let Some(trouble) = self.passed.take().filter(|_| output.events == 0) {
            return Err(trouble);
        }
        if source.is_invalid() {
            return Err(trouble_at(source, 0, LineError::NotText));
        }
        match self.around {
            Around::List(close) => Err(Trouble::Torn {
                line: source.line,
                offset: source.offset,
                why: format!("the last `{}` is missing", char::from(close)),
            }),
            _ => Ok(()),
        }
    }
}

/// Where the field that an error is about stands in its map's text.
fn place_of(text: &str, error: &LineError) -> usize {
    let LineError::Field { field, .. } = error else { return 0 };
    let quoted = text.find(&format!("\"{field}\""));
    quoted.or_else(|| text.find(&format!(":{field} "))).unwrap_or(0)
}
