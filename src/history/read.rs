//! Reads a history in whichever form it is: ours, plain or packed, or Jepsen's EDN or text.

use std::sync::Arc;

use serde_json::Value as Json;

use super::History;
use super::edn::{Forms, Keys};
use super::frames::{Damage, FrameError, Frames, MAGIC, Step};
use super::integrity::{Flaw, Integrity};
use super::line::parse_json;
use super::op_map::{self, Dialect, LineError};
use super::text::parse_text;
use crate::op::{Event, Key, Value};

/// The forms a history may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `history.jsonl.zst`.
    Packed,
    /// One JSON object a line.
    JsonLines,
    /// Op maps of Jepsen, with or without a vector around them.
    Edn,
    /// `history.txt`, or a log with its lines.
    Text,
}

/// A history as read, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Recording {
    pub history: History,
    pub format: Format,
    /// The end that a crash left unfinished.
    pub damage: Option<Damage>,
    /// What no run records. In a history of ours each is the mark of an edit; foreign histories may
    /// number their events otherwise, or hold completions alone.
    pub flaws: Vec<Flaw>,
}

/// Why a history cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("{name}: line {line}: {error}")]
    Line { name: String, line: u64, error: LineError },
    #[error("{name}: {error}")]
    Frame { name: String, error: FrameError },
    #[error(
        "{name}: not a history: expected `history.jsonl.zst`, JSON lines, or Jepsen's `history.edn` \
         or `history.txt`, found {found}"
    )]
    Unknown { name: String, found: String },
}

/// Reads a history; `name` is the file's, for errors.
pub fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    read_with(bytes, name, Keys::Plain)
}

/// Reads a history that may have its keys in its values.
pub fn read_with(bytes: &[u8], name: &str, keys: Keys) -> Result<Recording, ReadError> {
    // A run that was killed before its first frame went out: nothing is wrong with that.
    if bytes.is_empty() && name.ends_with(".zst") {
        let history = History::default();
        return Ok(Recording { history, format: Format::Packed, damage: None, flaws: Vec::new() });
    }
    let unknown = |found: &str| ReadError::Unknown { name: name.into(), found: found.into() };
    let mut reader = Reader::new(name, keys);
    let format = sniff(bytes).map_err(unknown)?;
    let damage = match format {
        Format::Packed => reader.packed(bytes)?,
        Format::JsonLines => reader.json_lines(bytes)?,
        Format::Edn => reader.edn(text(bytes).map_err(unknown)?)?,
        Format::Text => reader.text(text(bytes).map_err(unknown)?)?,
    };
    let Reader { history, integrity, .. } = reader;
    Ok(Recording { history, format, damage, flaws: integrity.into_flaws() })
}

fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    std::str::from_utf8(bytes).map_err(|_| "bytes that are no UTF-8 text")
}

fn sniff(bytes: &[u8]) -> Result<Format, &'static str> {
    // As little as the first byte of a frame may be there after a crash.
    if bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes) || bytes.starts_with(&MAGIC) {
        return if bytes.is_empty() { Err("an empty file") } else { Ok(Format::Packed) };
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let head = head.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let after_brace = head.strip_prefix('{').map(str::trim_start);
    match head.chars().next() {
        None => Err("nothing but blanks"),
        Some('{') if after_brace.is_some_and(|rest| rest.is_empty() || rest.starts_with('"')) => {
            Ok(Format::JsonLines)
        }
        Some('{' | '[' | '(' | ';' | '#') => Ok(Format::Edn),
        Some(c) if c.is_control() || c == char::REPLACEMENT_CHARACTER => Err("binary data"),
        Some(_) => Ok(Format::Text),
    }
}

struct Reader<'a> {
    name: &'a str,
    keys: Keys,
    /// Settled by the first operation.
    dialect: Option<Dialect>,
    history: History,
    integrity: Integrity,
    line: u64,
}

impl<'a> Reader<'a> {
    fn new(name: &'a str, keys: Keys) -> Reader<'a> {
        Reader {
            name,
            keys,
            dialect: None,
            history: History::default(),
            integrity: Integrity::default(),
            line: 0,
        }
    }

    fn wrong(&self, error: LineError) -> ReadError {
        ReadError::Line { name: self.name.into(), line: self.line, error }
    }

    fn push(&mut self, json: &Json) -> Result<(), LineError> {
        let dialect = *self.dialect.get_or_insert_with(|| Dialect::of(json));
        let mut event = op_map::event(json, self.history.len() as u64, dialect)?;
        if self.keys == Keys::Independent {
            take_key(&mut event);
        }
        self.integrity.observe(&event, self.line);
        self.history.push(event);
        Ok(())
    }

    fn json_line(&mut self, line: &[u8]) -> Result<(), LineError> {
        self.line += 1;
        let line = std::str::from_utf8(line)
            .map_err(|error| LineError::NotJson(format!("not UTF-8: {error}")))?;
        let line = line.trim();
        if line.is_empty() { Ok(()) } else { self.push(&parse_json(line)?) }
    }

    /// Reads whole lines and leaves what follows the last of them.
    fn whole_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), ReadError> {
        let mut start = 0;
        while let Some(length) = lines[start..].iter().position(|byte| *byte == b'\n') {
            self.json_line(&lines[start..start + length]).map_err(|error| self.wrong(error))?;
            start += length + 1;
        }
        lines.drain(..start);
        Ok(())
    }

    fn packed(&mut self, bytes: &[u8]) -> Result<Option<Damage>, ReadError> {
        let mut frames = Frames::new(bytes);
        let mut lines = Vec::new();
        let frame_error = |error| ReadError::Frame { name: self.name.into(), error };
        while let Some(step) = frames.next_into(&mut lines).map_err(frame_error)? {
            self.whole_lines(&mut lines)?;
            if let Step::Torn(damage) = step {
                return Ok(Some(damage));
            }
        }
        if !lines.is_empty() {
            self.json_line(&lines).map_err(|error| self.wrong(error))?;
        }
        Ok(None)
    }

    fn json_lines(&mut self, bytes: &[u8]) -> Result<Option<Damage>, ReadError> {
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        for line in bytes[..end].split_inclusive(|byte| *byte == b'\n') {
            self.json_line(line).map_err(|error| self.wrong(error))?;
        }
        let tail = &bytes[end..];
        Ok(self.json_line(tail).err().map(|error| Damage {
            frame: None,
            offset: end as u64,
            length: tail.len() as u64,
            why: format!("the last line has no end and is {error}"),
        }))
    }

    fn edn(&mut self, text: &str) -> Result<Option<Damage>, ReadError> {
        let mut forms = Forms::new(text);
        while let Some(form) = forms.next() {
            let form = form.map_err(|error| {
                self.line = forms.line();
                self.wrong(error)
            })?;
            self.line = form.line;
            self.push(&form.json).map_err(|error| self.wrong(error))?;
        }
        Ok(None)
    }

    fn text(&mut self, text: &str) -> Result<Option<Damage>, ReadError> {
        for line in text.lines() {
            self.line += 1;
            if line.trim().is_empty() {
                continue;
            }
            let map = parse_text(line).map_err(|error| self.wrong(error))?;
            if let Some(map) = map {
                self.push(&map).map_err(|error| self.wrong(error))?;
            }
        }
        Ok(None)
    }
}

/// Takes the key out of a value `[key value]`. Other values stay as they are, as Jepsen has it.
fn take_key(event: &mut Event) {
    let (key, value) = match &event.value {
        Value::Pair(key, value) => (Key::Int(*key), Value::Int(*value)),
        Value::Json(json) => match json.as_array().map(Vec::as_slice) {
            Some([Json::String(key), value]) => {
                (Key::Text(Arc::new(key.clone())), op_map::value(Some(value)))
            }
            Some([Json::Number(key), value]) if key.is_i64() => {
                (Key::Int(key.as_i64().unwrap_or_default()), op_map::value(Some(value)))
            }
            _ => return,
        },
        _ => return,
    };
    (event.key, event.value) = (Some(key), value);
}

#[cfg(test)]
mod tests;
