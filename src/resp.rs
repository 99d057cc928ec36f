//! RESP2, Redis' protocol, as servers and clients of ours speak it: values to bytes and back.
//!
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>. Pure; whatever comes in, memory is
//! bounded and nothing panics.

mod slot;
#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use slot::{SLOTS, slot_of};

/// A bulk string may be so long.
pub const LONGEST_BULK: usize = 512 << 20;

/// An array may hold so many values, in all its depth.
const MOST_VALUES: usize = 1 << 20;

const DEEPEST: usize = 32;

/// A line (a simple string, an error, a number, an inline command) may be so long.
const LONGEST_LINE: usize = 64 << 10;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Simple(String),
    /// With its code word: `MOVED 130 10.0.0.2:6666`.
    Error(String),
    Int(i64),
    Bulk(Bytes),
    /// `$-1`: no string.
    Null,
    /// `*-1`: no array.
    NullArray,
    Array(Vec<Value>),
}

impl Value {
    pub const OK: &str = "OK";

    pub fn ok() -> Value {
        Value::Simple(Value::OK.to_owned())
    }

    pub fn bulk(text: impl Into<Bytes>) -> Value {
        Value::Bulk(text.into())
    }

    /// Appends its bytes. Line ends in simple strings and errors become spaces.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let line = |out: &mut Vec<u8>, kind: u8, text: &str| {
            out.push(kind);
            out.extend(text.bytes().map(|b| if b == b'\r' || b == b'\n' { b' ' } else { b }));
            out.extend_from_slice(b"\r\n");
        };
        match self {
            Value::Simple(text) => line(out, b'+', text),
            Value::Error(text) => line(out, b'-', text),
            Value::Int(number) => line(out, b':', &number.to_string()),
            Value::Bulk(bytes) => bulk(out, bytes),
            Value::Null => out.extend_from_slice(b"$-1\r\n"),
            Value::NullArray => out.extend_from_slice(b"*-1\r\n"),
            Value::Array(values) => {
                line(out, b'*', &values.len().to_string());
                values.iter().for_each(|value| value.encode(out));
            }
        }
    }
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(format!("${}\r\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends a request: an array of bulk strings.
pub fn encode_command<W: AsRef<[u8]>>(words: &[W], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    words.iter().for_each(|word| bulk(out, word.as_ref()));
}

/// Bytes that are no RESP2. What follows them on the connection cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Protocol error: expected {expected}, found {found}")]
pub struct ProtocolError {
    pub expected: &'static str,
    pub found: String,
}

/// Finds values in bytes that come in pieces.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Bytes before this are done with.
    start: usize,
    /// Fewer bytes than this, from `start`, cannot be a whole value.
    wanted: usize,
}

impl Decoder {
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 && self.start >= self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes fed and not taken yet.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// All bytes not taken yet; they are taken.
    pub fn rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.start);
        *self = Decoder::default();
        rest
    }

    /// The next value, if all of it is there.
    pub fn next_value(&mut self) -> Result<Option<Value>, ProtocolError> {
        self.next(|reader| reader.value())
    }

    /// The next request, if all of it is there; an inline one is split at spaces. An empty line or array
    /// is a request without words.
    pub fn next_command(&mut self) -> Result<Option<Vec<Bytes>>, ProtocolError> {
        self.next(|reader| reader.command())
    }

    fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Reader) -> Result<T, Stop>,
    ) -> Result<Option<T>, ProtocolError> {
        if self.pending() == 0 || self.pending() < self.wanted {
            return Ok(None);
        }
        let bytes = &self.buffer[self.start..];
        let mut reader = Reader { bytes, at: 0, values: 0 };
        match read(&mut reader) {
            Ok(value) => {
                self.start += reader.at;
                self.wanted = 0;
                Ok(Some(value))
            }
            Err(Stop::Short { wanted }) => {
                self.wanted = wanted;
                Ok(None)
            }
            Err(Stop::Wrong(error)) => Err(error),
        }
    }
}

enum Stop {
    /// Not even so many bytes are there.
    Short {
        wanted: usize,
    },
    Wrong(ProtocolError),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    values: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Value, Stop> {
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> Result<Value, Stop> {
        self.values += 1;
        if depth > DEEPEST || self.values > MOST_VALUES {
            return wrong("a value of at most 32 levels and 1048576 parts", b"a larger one");
        }
        let line = self.line()?;
        let Some((kind, rest)) = line.split_first() else {
            return wrong("one of + - : $ *", b"an empty line");
        };
        match kind {
            b'+' => Ok(Value::Simple(String::from_utf8_lossy(rest).into_owned())),
            b'-' => Ok(Value::Error(String::from_utf8_lossy(rest).into_owned())),
            b':' => Ok(Value::Int(number(rest)?)),
            b'$' => Ok(self.bulk(rest)?.map_or(Value::Null, Value::Bulk)),
            b'*' => match number(rest)? {
                -1 => Ok(Value::NullArray),
                count => {
                    let count = self.count(count)?;
                    // No memory is taken on the word of a length alone.
                    let mut values = Vec::new();
                    for _ in 0..count {
                        values.push(self.nested(depth + 1)?);
                    }
                    Ok(Value::Array(values))
                }
            },
            _ => wrong("one of + - : $ *", line),
        }
    }

    fn command(&mut self) -> Result<Vec<Bytes>, Stop> {
        let line = self.line()?;
        let Some(rest) = line.strip_prefix(b"*") else {
            let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            return Ok(words.map(Bytes::copy_from_slice).collect());
        };
        let count = match number(rest)? {
            -1 => 0,
            count => self.count(count)?,
        };
        let mut words = Vec::new();
        for _ in 0..count {
            let line = self.line()?;
            let Some(length) = line.strip_prefix(b"$") else { return wrong("$", line) };
            match self.bulk(length)? {
                Some(word) => words.push(word),
                None => return wrong("a bulk string", b"$-1"),
            }
        }
        Ok(words)
    }

    fn count(&self, count: i64) -> Result<usize, Stop> {
        let fits = usize::try_from(count).ok().filter(|count| *count <= MOST_VALUES);
        fits.map_or_else(|| wrong("at most 1048576 parts", count.to_string().as_bytes()), Ok)
    }

    fn bulk(&mut self, length: &[u8]) -> Result<Option<Bytes>, Stop> {
        let length = match number(length)? {
            -1 => return Ok(None),
            length => usize::try_from(length).ok().filter(|length| *length <= LONGEST_BULK),
        };
        let Some(length) = length else {
            return wrong("a string of at most 512 MiB", b"another length");
        };
        let end = self.at + length;
        let Some(bytes) = self.bytes.get(self.at..end + 2) else {
            return Err(Stop::Short { wanted: end + 2 });
        };
        if &bytes[length..] != b"\r\n" {
            return wrong("a line end behind a bulk string", &bytes[length..]);
        }
        self.at = end + 2;
        Ok(Some(Bytes::copy_from_slice(&bytes[..length])))
    }

    fn line(&mut self) -> Result<&'a [u8], Stop> {
        let rest = &self.bytes[self.at..];
        let within = &rest[..rest.len().min(LONGEST_LINE + 2)];
        let Some(end) = within.iter().position(|byte| *byte == b'\n') else {
            return match within.len() > LONGEST_LINE {
                true => wrong("a line of at most 65536 bytes", b"a longer one"),
                false => Err(Stop::Short { wanted: self.bytes.len() + 1 }),
            };
        };
        self.at += end + 1;
        Ok(rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]))
    }
}

fn number(text: &[u8]) -> Result<i64, Stop> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.map_or_else(|| wrong("a number", text), Ok)
}

fn wrong<T>(expected: &'static str, found: &[u8]) -> Result<T, Stop> {
    let shown = &found[..found.len().min(40)];
    let found = format!("`{}`", shown.escape_ascii());
    Err(Stop::Wrong(ProtocolError { expected, found }))
}
