//! `history.jsonl.zst`: zstd frames one after another, each whole in itself and with its checksum.
//!
//! `zstd -dc` reads the file. Appending never touches what is written, so after a crash at most the
//! last frame is torn; damage before it did not come from a crash.

use std::fmt;
use std::io::{self, Read};

use zstd::bulk::Compressor;
use zstd::stream::raw::{Decoder, Operation};
use zstd::zstd_safe::{CParameter, DCtx, find_frame_compressed_size};

use super::source::{More, SourceError};

/// What a zstd frame begins with.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// So much of one frame is held back until its end is seen: far more than a frame of ours has.
const MOST_HELD: usize = 16 << 20;

/// So far behind damage it is looked whether sound frames follow.
const MOST_SEARCHED: u64 = 64 << 20;

/// And so many places that look like one.
const MOST_TRIED: usize = 1000;

/// Packs lines into frames.
pub struct FrameEncoder {
    compressor: Compressor<'static>,
}

impl FrameEncoder {
    pub fn new() -> std::io::Result<FrameEncoder> {
        let mut compressor = Compressor::new(zstd::DEFAULT_COMPRESSION_LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(FrameEncoder { compressor })
    }

    /// One frame with these whole lines.
    pub fn encode(&mut self, lines: &[u8]) -> std::io::Result<Vec<u8>> {
        self.compressor.compress(lines)
    }
}

/// The end of a file that a crash left unfinished: what is missing from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The torn frame, from 1; `None` in a file that is not compressed.
    pub frame: Option<u64>,
    /// Where the damage begins: the line, from 1, of a file that is not compressed.
    pub line: Option<u64>,
    /// And in bytes of the file.
    pub offset: u64,
    /// Bytes from there on.
    pub length: u64,
    pub why: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = self.frame {
            write!(f, "frame {frame}, ")?;
        }
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        let Damage { offset, length, why, .. } = self;
        write!(
            f,
            "the last {length} bytes from byte {offset}: {why}; events at the end are missing"
        )
    }
}

/// Damage before the end of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "frame {frame} at byte {offset} is corrupted ({why}) and frames follow it, so no crash did this: \
     restore the file from a copy, or run the command in `repro.txt` again"
)]
pub struct FrameError {
    pub frame: u64,
    pub offset: u64,
    pub why: String,
}

/// Unpacks frames one after another.
///
/// A frame is given as a whole when it was found sound, so that nothing of a damaged one is trusted;
/// one that unpacks to more than [`MOST_HELD`], as only others write it, piece by piece.
pub struct Frames<R> {
    inner: R,
    decoder: Decoder<'static>,
    /// Bytes of the file that are not unpacked yet begin at `at`; those before are of this frame.
    packed: Vec<u8>,
    at: usize,
    /// Where `packed` begins in the file.
    offset: u64,
    /// Where this frame begins in the file.
    begun: u64,
    number: u64,
    /// What was unpacked last.
    piece: Vec<u8>,
    /// What this frame held so far.
    held: Vec<u8>,
    /// Some of this frame was given before its end.
    given: bool,
    /// The decoder has more to give of what it took in.
    is_full: bool,
}

impl<R: Read> Frames<R> {
    pub fn new(inner: R) -> io::Result<Frames<R>> {
        let decoder = Decoder::new()?;
        let (packed, held) = (Vec::new(), Vec::new());
        Ok(Frames {
            inner,
            decoder,
            packed,
            at: 0,
            offset: 0,
            begun: 0,
            number: 1,
            piece: vec![0; DCtx::out_size()],
            held,
            given: false,
            is_full: false,
        })
    }

    /// Appends what comes next. Damage is the end.
    pub fn more(&mut self, out: &mut Vec<u8>) -> Result<More, SourceError> {
        loop {
            if self.at == self.packed.len() && !self.is_full && self.read_on()? == 0 {
                let is_between = self.begun == self.offset + self.at as u64;
                return if is_between {
                    Ok(More::End)
                } else {
                    self.fail(out, "the frame has no end", true)
                };
            }
            let is_whole = match self.unpack() {
                Ok(remaining) => remaining == 0,
                Err(error) => return self.fail(out, &error.to_string(), false),
            };
            if is_whole {
                self.begin_frame()?;
            }
            if is_whole && !self.held.is_empty() || self.held.len() > MOST_HELD {
                self.given = !is_whole;
                out.append(&mut self.held);
                return Ok(More::Bytes);
            }
        }
    }

    /// Unpacks a piece, and gives 0 at the end of its frame.
    fn unpack(&mut self) -> io::Result<usize> {
        let step = self.decoder.run_on_buffers(&self.packed[self.at..], &mut self.piece)?;
        self.held.extend_from_slice(&self.piece[..step.bytes_written]);
        self.is_full = step.bytes_written == self.piece.len() && step.remaining > 0;
        self.at += step.bytes_read;
        Ok(step.remaining)
    }

    /// Reads a piece of the file, and gives its length.
    fn read_on(&mut self) -> io::Result<usize> {
        let is_large = self.given || self.packed.len() > MOST_HELD;
        let frame = self.begun.saturating_sub(self.offset) as usize;
        // What came before this frame is done with; of a large one, also what was unpacked.
        let done = if is_large { self.at } else { frame.min(self.at) };
        self.packed.drain(..done);
        self.offset += done as u64;
        self.at -= done;
        self.inner.by_ref().take(DCtx::in_size() as u64).read_to_end(&mut self.packed)
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        self.begun = self.offset + self.at as u64;
        self.number += 1;
        self.given = false;
        self.decoder.reinit()
    }

    /// This frame is not sound, or has no end: if it is the last one, a crash may have left it so. What
    /// was read of one without an end was read right; of another nothing can be trusted.
    fn fail(&mut self, out: &mut Vec<u8>, why: &str, is_torn: bool) -> Result<More, SourceError> {
        self.inner.by_ref().take(MOST_SEARCHED).read_to_end(&mut self.packed)?;
        let before = self.begun.saturating_sub(self.offset) as usize;
        let rest = self.packed.get(before..).unwrap_or_default();
        if !is_torn && self.given || frames_follow(rest) {
            let error = FrameError { frame: self.number, offset: self.begun, why: why.to_owned() };
            return Err(SourceError::Frame(error));
        }
        if is_torn {
            out.append(&mut self.held);
        }
        let begins = is_torn || rest.starts_with(&MAGIC);
        let why = if begins { why } else { "no frame begins here" };
        let length = self.offset + self.packed.len() as u64 - self.begun;
        let (frame, offset, why) = (Some(self.number), self.begun, why.to_owned());
        Ok(More::Torn(Damage { frame, line: None, offset, length, why }))
    }
}

/// A sound frame lies further on.
fn frames_follow(rest: &[u8]) -> bool {
    let begins = (1..rest.len()).filter(|at| rest[*at..].starts_with(&MAGIC));
    begins.take(MOST_TRIED).any(|at| {
        find_frame_compressed_size(&rest[at..]).is_ok_and(|size| is_sound(&rest[at..at + size]))
    })
}

fn is_sound(frame: &[u8]) -> bool {
    let decoder = zstd::stream::read::Decoder::with_buffer(frame);
    decoder.is_ok_and(|decoder| {
        let mut unpacked = decoder.single_frame().take(MOST_SEARCHED);
        io::copy(&mut unpacked, &mut io::sink()).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(parts: &[&[u8]]) -> (Vec<u8>, Vec<usize>) {
        let mut encoder = FrameEncoder::new().expect("an encoder");
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for part in parts {
            starts.push(bytes.len());
            bytes.extend(encoder.encode(part).expect("in memory"));
        }
        (bytes, starts)
    }

    fn unpack_all(bytes: &[u8]) -> Result<(Vec<u8>, Option<Damage>), FrameError> {
        let (mut out, mut frames) = (Vec::new(), Frames::new(bytes).expect("a decoder"));
        loop {
            match frames.more(&mut out) {
                Ok(More::Bytes) => {}
                Ok(More::End) => return Ok((out, None)),
                Ok(More::Torn(damage)) => return Ok((out, Some(damage))),
                Err(SourceError::Frame(error)) => return Err(error),
                Err(SourceError::Io(error)) => panic!("{error}"),
            }
        }
    }

    const PARTS: [&[u8]; 3] = [b"one\ntwo\n", b"three\n", b"four\nfive\nsix\n"];

    #[test]
    fn frames_are_one_plain_zstd_file() {
        let (bytes, _) = file(&PARTS);
        assert_eq!(zstd::decode_all(&bytes[..]).expect("a zstd file"), PARTS.concat());
        assert_eq!(unpack_all(&bytes), Ok((PARTS.concat(), None)));
        assert_eq!(unpack_all(b""), Ok((Vec::new(), None)));
    }

    #[test]
    fn whatever_is_cut_off_whole_frames_are_read_and_the_rest_is_told() {
        let (bytes, starts) = file(&PARTS);
        for end in 0..bytes.len() {
            let (out, damage) = unpack_all(&bytes[..end]).expect("cutting off is a crash");
            let whole = starts.iter().skip(1).filter(|start| **start <= end).count();
            let sure = PARTS[..whole].concat();
            assert!(out.starts_with(&sure) && PARTS.concat().starts_with(&out), "cut at {end}");
            match damage {
                None => assert!(end == 0 || starts.contains(&end), "cut at {end}"),
                Some(damage) => {
                    let start = starts[whole];
                    assert_eq!(damage.frame, Some(whole as u64 + 1), "cut at {end}");
                    assert_eq!(
                        (damage.offset, damage.length),
                        (start as u64, (end - start) as u64)
                    );
                }
            }
        }
    }

    #[test]
    fn corruption_before_the_end_names_the_frame_and_byte() {
        let (bytes, starts) = file(&PARTS);
        for at in starts[1]..starts[2] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x55;
            let error = unpack_all(&bytes).expect_err("a changed byte");
            assert_eq!((error.frame, error.offset), (2, starts[1] as u64), "byte {at}: {error}");
        }
    }

    #[test]
    fn a_corrupted_last_frame_is_damage_and_nothing_of_it_is_trusted() {
        let (mut bytes, starts) = file(&PARTS);
        *bytes.last_mut().expect("bytes") ^= 1;
        let (out, damage) = unpack_all(&bytes).expect("the last frame may be torn");
        assert_eq!(out, PARTS[..2].concat());
        assert_eq!(damage.expect("damage").offset, starts[2] as u64);
        let (mut bytes, starts) = file(&PARTS);
        bytes.truncate(starts[2]);
        bytes.resize(starts[2] + 500, 0);
        let (out, damage) = unpack_all(&bytes).expect("zeros at the end come from a crash");
        assert_eq!((out, damage.map(|damage| damage.length)), (PARTS[..2].concat(), Some(500)));
    }
}
