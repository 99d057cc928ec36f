//! The text of a history, taken in piece by piece from wherever it comes.

use std::io::{self, Read};

use super::frames::{Damage, FrameError, Frames, MAGIC};

/// How much is read at a time.
const PIECE: usize = 128 << 10;

/// Bytes that tell what a file is.
const HEAD: usize = 10;

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
    /// What was read last. It begins with bytes that are no whole character yet, or none at all.
    piece: Vec<u8>,
    carried: usize,
    ended: bool,
    pub damage: Option<Damage>,
    /// The file's first bytes.
    pub head: Vec<u8>,
    /// The place of what comes next: line from 1, bytes before it on its line and in the whole text.
    pub line: u64,
    pub before: u64,
    pub offset: u64,
}

impl<R: Read> Source<R> {
    /// Looks at the first bytes, which tell whether the file is packed.
    pub fn new(mut inner: R) -> io::Result<Source<R>> {
        let mut head = Vec::new();
        inner.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        // As little as the first byte of a frame may be there after a crash.
        let is_packed = !head.is_empty() && (MAGIC.starts_with(&head) || head.starts_with(&MAGIC));
        let whole = io::Cursor::new(head.clone()).chain(inner);
        let feed = match is_packed {
            true => Feed::Packed(Box::new(Frames::new(whole)?)),
            false => Feed::Plain(whole),
        };
        Ok(Source {
            feed,
            text: String::new(),
            start: 0,
            piece: vec![0; PIECE],
            carried: 0,
            ended: false,
            damage: None,
            head,
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
        self.ended && self.carried > 0 && self.damage.is_none()
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
    ///
    /// Texts that are long already grow by as much, so that looking at them again costs little, but not
    /// much beyond `most`.
    pub fn refill(&mut self, most: usize) -> Result<(), SourceError> {
        self.text.drain(..self.start);
        self.start = 0;
        let before = self.text.len();
        let wanted = (2 * before).min(most).max(before + 1);
        while !self.ended && self.text.len() < wanted {
            let (more, filled) = self.feed.more(&mut self.piece, self.carried)?;
            match more {
                More::Bytes => {}
                More::End => self.ended = true,
                More::Torn(damage) => {
                    self.ended = true;
                    self.damage = Some(damage);
                }
            }
            self.take_piece(filled);
        }
        Ok(())
    }

    /// Adds what is text, and keeps the begin of a character for later.
    fn take_piece(&mut self, filled: usize) {
        self.carried = 0;
        match std::str::from_utf8(&self.piece[..filled]) {
            Ok(text) => self.text.push_str(text),
            Err(error) => {
                let valid = error.valid_up_to();
                self.text.push_str(std::str::from_utf8(&self.piece[..valid]).unwrap_or_default());
                self.piece.copy_within(valid..filled, 0);
                self.carried = filled - valid;
                self.ended |= error.error_len().is_some();
            }
        }
    }

    /// How many bytes are left, which are then gone.
    pub fn drain(&mut self) -> u64 {
        let mut length = (self.text().len() + self.carried) as u64;
        while !self.is_packed() {
            match self.feed.more(&mut self.piece, 0) {
                Ok((More::Bytes, filled)) => length += filled as u64,
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

/// As many bytes as are there, at least one unless there are no more.
fn read_some(inner: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match inner.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

impl<R: Read> Feed<R> {
    /// Puts what comes next behind the bytes that are kept, and gives the length of both.
    fn more(&mut self, piece: &mut Vec<u8>, kept: usize) -> Result<(More, usize), SourceError> {
        match self {
            Feed::Plain(inner) => {
                let length = read_some(inner, &mut piece[kept..])?;
                Ok((if length > 0 { More::Bytes } else { More::End }, kept + length))
            }
            Feed::Packed(frames) => {
                piece.truncate(kept);
                let more = frames.more(piece)?;
                Ok((more, piece.len()))
            }
        }
    }
}
