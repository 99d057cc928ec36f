//! Reading a history of any form, event by event: the form is found out from the file's begin, and
//! never more of the file is held than its longest operation.

mod collect;
mod keyed;
mod lines;
mod maps;
mod output;
mod passed_over;
mod sessions;
mod stranger;

use std::io::Read;
use std::ops::ControlFlow;

pub use collect::{Recording, read, read_with};
pub use keyed::has_flat_key;
pub use passed_over::PassedOver;

use super::datum::Datum;
use super::edn::Keys;
use super::forms::Language;
use super::frames::{Damage, FrameError};
use super::integrity::Flaw;
use super::op_map::LineError;
use super::source::{Source, SourceError};
use crate::op::Event;
use output::Output;

/// Bytes of the longest operation: far more than one has, and little enough to be held.
const MOST_BYTES: usize = 16 << 20;

/// So much of a file's begin is looked at to know its form.
const HEAD: usize = 4096;

/// The forms a history may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `history.jsonl.zst`.
    Packed,
    /// One JSON object a line.
    JsonLines,
    /// Op maps in JSON, with a list around them or spread over lines.
    Json,
    /// Op maps of Jepsen, with or without a vector around them.
    Edn,
    /// `history.txt`, or a log with its lines.
    Text,
    /// AWDIT's lines of sessions, `w key value`.
    Sessions,
    /// Plume's and IsoVista's lines, `w(key,value,session,transaction)`.
    Plume,
}

/// How a history is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadOptions {
    pub keys: Keys,
    /// What cannot be read counts as damage that ends the history, and is no error.
    pub tolerate_tail: bool,
}

/// What was read, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub format: Format,
    /// How many events there were.
    pub events: u64,
    /// What stands between the operations and is none.
    pub passed_over: PassedOver,
    /// The end that a crash left unfinished, or that could not be read.
    pub damage: Option<Damage>,
    /// What no run records, the first of each history. In a history of ours each is the mark of an edit;
    /// foreign histories may number their events otherwise, or hold completions alone.
    pub flaws: Vec<Flaw>,
    /// How many flaws there are in all.
    pub flaw_count: u64,
    /// The order of events says what came before what. Otherwise only the events of one process are in
    /// order: each process is a session, whose transactions follow each other.
    pub real_time: bool,
    /// Events say which process they are of. Otherwise they all bear process 0, whosever they are.
    pub has_processes: bool,
    /// The names that processes have where they have no numbers; each is counted by its position here.
    pub processes: Vec<String>,
}

/// Takes in an event, whose value is apart from it, and says whether to go on.
pub type Sink<'a> = dyn FnMut(&Event, Datum<'_>) -> ControlFlow<()> + 'a;

/// Why a history cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("{name}: line {line}, column {column}: {error}")]
    Line { name: String, line: u64, column: u64, error: LineError },
    #[error("{name}: {error}")]
    Frame { name: String, error: FrameError },
    #[error("cannot read {name}: {why}")]
    Io { name: String, why: String },
    #[error(
        "{name}: not a history: expected `history.jsonl.zst`, JSON lines, Jepsen's `history.edn` or \
         `history.txt`, or lines of sessions, found {found}"
    )]
    Unknown { name: String, found: String },
}

/// What ends a reading early, and where.
#[derive(Debug)]
enum Trouble {
    Source(SourceError),
    /// This line and column, and so many bytes of the text before them.
    Line {
        line: u64,
        column: u64,
        offset: u64,
        error: LineError,
    },
    /// The text ends in the middle of something that begins there.
    Torn {
        line: u64,
        offset: u64,
        why: String,
    },
    Unknown(&'static str),
}

impl From<SourceError> for Trouble {
    fn from(error: SourceError) -> Trouble {
        Trouble::Source(error)
    }
}

/// Reads a history event by event; `name` is the file's, for errors.
///
/// What the sink has taken in before an error is right all the same.
pub fn stream(
    bytes: impl Read,
    name: &str,
    options: &ReadOptions,
    sink: &mut Sink,
) -> Result<Summary, ReadError> {
    let io_error = |why: std::io::Error| ReadError::Io { name: name.into(), why: why.to_string() };
    let mut source = Source::new(bytes).map_err(io_error)?;
    let mut output = Output::new(options.keys, sink);
    let found = read_all(&mut source, name, &mut output);
    let damage = match found {
        Ok(()) => source.damage.take(),
        Err(trouble) => Some(damage_of(trouble, &mut source, name, options.tolerate_tail)?),
    };
    Ok(output.summary(source.is_packed(), damage))
}

/// The end that is missing, where the trouble is no more than that.
fn damage_of<R: Read>(
    trouble: Trouble,
    source: &mut Source<R>,
    name: &str,
    tolerate: bool,
) -> Result<Damage, ReadError> {
    let name = name.to_owned();
    let (line, offset, why) = match trouble {
        Trouble::Torn { line, offset, why } => (line, offset, why),
        Trouble::Line { line, column, offset, error } if tolerate => {
            (line, offset, format!("column {column}: {error}"))
        }
        Trouble::Line { line, column, error, .. } => {
            return Err(ReadError::Line { name, line, column, error });
        }
        Trouble::Source(SourceError::Frame(error)) if tolerate => {
            let FrameError { frame, offset, why } = error;
            return Ok(Damage {
                frame: Some(frame),
                line: None,
                offset,
                length: source.drain(),
                why,
            });
        }
        Trouble::Source(SourceError::Frame(error)) => return Err(ReadError::Frame { name, error }),
        Trouble::Source(SourceError::Io(why)) => {
            return Err(ReadError::Io { name, why: why.to_string() });
        }
        Trouble::Unknown(found) => return Err(ReadError::Unknown { name, found: found.into() }),
    };
    // What is missing of a packed file is told of the file itself.
    if let Some(damage) = source.damage.take() {
        return Ok(damage);
    }
    let length = (source.offset + source.drain()).saturating_sub(offset);
    Ok(Damage { frame: None, line: Some(line), offset, length, why })
}

fn read_all<R: Read>(
    source: &mut Source<R>,
    name: &str,
    output: &mut Output,
) -> Result<(), Trouble> {
    if let Some(found) = stranger::of_bytes(&source.head) {
        return Err(Trouble::Unknown(found));
    }
    source.refill(MOST_BYTES)?;
    while source.text().len() < HEAD && !source.ended() {
        if source.text().trim().is_empty() {
            source.advance(source.text().len());
        }
        source.refill(MOST_BYTES)?;
    }
    if source.text().starts_with('\u{feff}') {
        source.advance('\u{feff}'.len_utf8());
    }
    // A run that was killed before its first frame went out: nothing is wrong with that.
    let is_empty = source.text().is_empty() && !source.is_invalid();
    if is_empty && (source.is_packed() || name.ends_with(".zst")) {
        output.format = Format::Packed;
        return Ok(());
    }
    if is_empty && source.offset == 0 {
        return Err(Trouble::Unknown("an empty file"));
    }
    if source.is_invalid() && source.text().trim().is_empty() {
        return Err(Trouble::Unknown("bytes that are no UTF-8 text"));
    }
    output.format = sniff(source.text()).map_err(Trouble::Unknown)?;
    if output.format == Format::Text
        && let Some(found) = stranger::of_text(source.text())
    {
        return Err(Trouble::Unknown(found));
    }
    match output.format {
        Format::Edn => maps::read(source, Language::Edn, output),
        Format::Text => lines::read(source, output),
        Format::Sessions | Format::Plume => sessions::read(source, output),
        _ => maps::read(source, Language::Json, output),
    }
}

fn sniff(text: &str) -> Result<Format, &'static str> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    match text.chars().next() {
        None => Err("nothing but blanks"),
        Some('{') if is_json_map(text) => Ok(Format::JsonLines),
        Some('[') if is_json_map(text[1..].trim_start()) => Ok(Format::Json),
        // A log in colours, or one that begins with times or threads.
        Some('\x1b') if text.starts_with("\x1b[") => Ok(Format::Text),
        Some('[') if text[1..].starts_with(char::is_alphanumeric) => Ok(Format::Text),
        Some('{' | '[' | '(' | ';' | '#') => Ok(Format::Edn),
        Some(c) if c.is_control() => Err("binary data"),
        Some('r' | 'w') if text[1..].trim_start().starts_with('(') => Ok(Format::Plume),
        Some('r' | 'w') if text[1..].starts_with([' ', '\t']) => Ok(Format::Sessions),
        Some('=') => Ok(Format::Sessions),
        Some('-') if text.starts_with("--") => Ok(Format::Sessions),
        _ => Ok(Format::Text),
    }
}

/// A map of JSON has `:` after its first key; one of EDN has no such key, mostly.
fn is_json_map(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('{') else { return false };
    let rest = rest.trim_start();
    let Some(key) = rest.strip_prefix('"') else { return rest.is_empty() };
    match key.split_once('"') {
        Some((_, rest)) => rest.trim_start().starts_with(':') || rest.trim_start().is_empty(),
        None => true,
    }
}

#[cfg(test)]
mod tests;
