//! The text of a history, taken in piece by piece from wherever it comes.

use std::io::{self, Read};

use super::frames::{Damage, FrameError, Frames, MAGIC};

/// How much is read at a time.
const PIECE: usize = 128 << 10;

/// What comes next from a file.
pub enum More {
    Bytes,
    End,
    /// The end is missing; what could be read of it has been given.
    Torn(Damage),
}

/// Why no more bytes come.
#[derive(Debug)]
pub enum SourceError {
    Io(io::Error),
    Frame(FrameError),
}

impl From<io::Error> for SourceError {
    fn from(error: io::Error) -> SourceError {
        SourceError::Io(error)
    }
}

/// Bytes as they are, or unpacked.
enum Feed<R> {
    Plain(R),
    Packed(Box<Frames<R>>),
}

/// The text that has not been taken yet, and where it stands in the file.
pub struct Source<R> {
    feed: Feed<io::Chain<io::Cursor<Vec<u8>>, R>>,
    text: String,
    /// What of `text` has been taken.
    start: usize,
    /// Bytes that are no whole character yet, or none at all.
    rest: Vec<u8>,
    piece: Vec<u8>,
    ended: bool,
    pub damage: Option<Damage>,
    /// The place of what comes next: line from 1, bytes before it on its line and in the whole text.
    pub line: u64,
    pub before: u64,
    pub offset: u64,
}

impl<R: Read> Source<R> {
    /// Looks at the first bytes, which tell whether the file is packed.
    pub fn new(mut inner: R) -> io::Result<Source<R>> {
        let mut head = Vec::new();
        inner.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
        // As little as the first byte of a frame may be there after a crash.
        let is_packed = !head.is_empty() && MAGIC.starts_with(&head);
        let whole = io::Cursor::new(head).chain(inner);
        let feed = match is_packed {
            true => Feed::Packed(Box::new(Frames::new(whole)?)),
            false => Feed::Plain(whole),
        };
        Ok(Source {
            feed,
            text: String::new(),
            start: 0,
            rest: Vec::new(),
            piece: Vec::new(),
            ended: false,
            damage: None,
            line: 1,
            before: 0,
            offset: 0,
        })
    }

    pub fn is_packed(&self) -> bool {
        matches!(self.feed, Feed::Packed(_))
    }

    /// What has been read and not been taken.
    pub fn text(&self) -> &str {
        &self.text[self.start..]
    }

    /// Whether `text` is all that there is.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Bytes after `text` are no text: where it ends, no more follows.
    pub fn is_invalid(&self) -> bool {
        self.ended && !self.rest.is_empty() && self.damage.is_none()
    }

    /// Passes so many bytes, and gives how many lines end in them.
    pub fn advance(&mut self, length: usize) -> u64 {
        let taken = &self.text.as_bytes()[self.start..self.start + length];
        let lines = count_lines(taken);
        let after = match lines {
            0 => self.before as usize + length,
            _ => taken.iter().rev().take_while(|byte| **byte != b'\n').count(),
        };
        self.before = after as u64;
        self.line += lines;
        self.offset += length as u64;
        self.start += length;
        lines
    }

    /// Reads on. `text` then begins with what it has been, and has more unless all has `ended`.
    pub fn refill(&mut self) -> Result<(), SourceError> {
        self.text.drain(..self.start);
        self.start = 0;
        // Texts that are long already grow by as much, so that looking at them again costs little.
        let wanted = self.text.len() + self.text.len().max(1);
        while !self.ended && self.text.len() < wanted {
            self.piece.clear();
            self.piece.append(&mut self.rest);
            match self.feed.more(&mut self.piece)? {
                More::Bytes => {}
                More::End => self.ended = true,
                More::Torn(damage) => {
                    self.ended = true;
                    self.damage = Some(damage);
                }
            }
            self.take_piece();
        }
        Ok(())
    }

    /// Adds what is text, and keeps the begin of a character for later.
    fn take_piece(&mut self) {
        match std::str::from_utf8(&self.piece) {
            Ok(text) => self.text.push_str(text),
            Err(error) => {
                let (valid, rest) = self.piece.split_at(error.valid_up_to());
                self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                self.rest.extend_from_slice(rest);
                self.ended |= error.error_len().is_some();
            }
        }
    }

    /// How many bytes are left, which are then gone.
    pub fn drain(&mut self) -> u64 {
        let mut length = (self.text().len() + self.rest.len()) as u64;
        while !matches!(self.feed, Feed::Packed(_)) {
            self.piece.clear();
            match self.feed.more(&mut self.piece) {
                Ok(More::Bytes) => length += self.piece.len() as u64,
                _ => break,
            }
        }
        length
    }
}

/// How many lines end here. In small counts, of which a processor adds many at once.
pub fn count_lines(bytes: &[u8]) -> u64 {
    let count = |chunk: &[u8]| chunk.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    bytes.chunks(128).map(|chunk| u64::from(count(chunk))).sum()
}

impl<R: Read> Feed<R> {
    fn more(&mut self, out: &mut Vec<u8>) -> Result<More, SourceError> {
        match self {
            Feed::Plain(inner) => {
                let before = out.len();
                inner.take(PIECE as u64).read_to_end(out)?;
                Ok(if out.len() > before { More::Bytes } else { More::End })
            }
            Feed::Packed(frames) => frames.more(out),
        }
    }
}
