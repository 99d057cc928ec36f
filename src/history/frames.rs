//! `history.jsonl.zst`: zstd frames one after another, each whole in itself and with its checksum.
//!
//! `zstd -dc` reads the file. Appending never touches what is written, so after a crash at most the
//! last frame is torn; damage before it did not come from a crash.

use std::fmt;
use std::io::Read;

use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{CParameter, find_frame_compressed_size};

/// What a zstd frame begins with.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A frame may be so big when unpacked: far more than a history, far less than a decompression bomb.
const MOST_UNPACKED: u64 = 4 << 30;

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
    /// Where the damage begins, in bytes of the file.
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
pub struct Frames<'a> {
    bytes: &'a [u8],
    offset: usize,
    number: u64,
}

impl<'a> Frames<'a> {
    pub fn new(bytes: &'a [u8]) -> Frames<'a> {
        Frames { bytes, offset: 0, number: 0 }
    }

    /// Appends what the next frame holds. `Ok(None)` at the end; damage is the end.
    pub fn next_into(&mut self, out: &mut Vec<u8>) -> Result<Option<Step>, FrameError> {
        let rest = &self.bytes[self.offset..];
        if rest.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let before = out.len();
        let failed = match find_frame_compressed_size(rest) {
            Ok(size) => match unpack(&rest[..size], out) {
                Ok(()) => {
                    self.offset += size;
                    return Ok(Some(Step::Whole));
                }
                Err(error) => {
                    // The frame is all there and its checksum says no: nothing in it can be trusted.
                    out.truncate(before);
                    error.to_string()
                }
            },
            Err(_) if rest.len() < MAGIC.len() || rest.starts_with(&MAGIC) => {
                // What is missing may be as little as the checksum.
                match unpack(rest, out) {
                    Ok(()) => "the frame has no end".into(),
                    Err(error) => error.to_string(),
                }
            }
            Err(_) => "no frame begins here".into(),
        };
        let (frame, offset) = (self.number, self.offset as u64);
        if self.frames_follow() {
            return Err(FrameError { frame, offset, why: failed });
        }
        self.offset = self.bytes.len();
        let length = rest.len() as u64;
        Ok(Some(Step::Torn(Damage { frame: Some(frame), offset, length, why: failed })))
    }

    /// A sound frame lies further on.
    fn frames_follow(&self) -> bool {
        let rest = &self.bytes[self.offset..];
        (1..rest.len()).filter(|at| rest[*at..].starts_with(&MAGIC)).any(|at| {
            find_frame_compressed_size(&rest[at..])
                .is_ok_and(|size| unpack(&rest[at..at + size], &mut Vec::new()).is_ok())
        })
    }
}

/// What `Frames` came upon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Whole,
    /// The end is missing; what could be read of it has been appended.
    Torn(Damage),
}

fn unpack(frame: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut decoder = Decoder::with_buffer(frame)?.single_frame().take(MOST_UNPACKED);
    decoder.read_to_end(out)?;
    if decoder.limit() == 0 {
        return Err(std::io::Error::other("it unpacks to more than a history can be"));
    }
    Ok(())
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
        let (mut out, mut frames) = (Vec::new(), Frames::new(bytes));
        let mut damage = None;
        while let Some(step) = frames.next_into(&mut out)? {
            if let Step::Torn(torn) = step {
                damage = Some(torn);
            }
        }
        Ok((out, damage))
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
