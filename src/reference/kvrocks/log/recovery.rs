//! From files to a store and an open log.
//!
//! A segment may end in bytes that are no batch: its process died there, or the write failed and the next
//! segment was begun. A segment's batches count only up to where the next segment begins, since what
//! failed may be in the file all the same. Whatever was cut off, the sequence numbers must go on without
//! going back; else something is missing in the middle, and a node must not pretend otherwise.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use super::batch::{Batch, decode_snapshot};
use super::manifest::{self, Manifest};
use super::{Log, Recent, SEGMENT, SyncPolicy};
use crate::reference::host::Disk;
use crate::reference::kvrocks::store::Store;

/// Why a node cannot start from what its disk holds.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("cannot read or repair {file}: {error}")]
    Disk { file: String, error: io::Error },
    #[error("{file} is damaged: {what}; restore it, or empty the folder to start without data")]
    Damaged { file: String, what: String },
}

/// What was found.
pub struct Recovered {
    pub log: Log,
    pub store: Store,
    /// Bytes of a torn tail that were cut off.
    pub cut_off: usize,
}

pub fn open(disk: Rc<dyn Disk>, policy: SyncPolicy) -> Result<Recovered, LogError> {
    let manifest = match read(&*disk, manifest::FILE)? {
        None => Manifest::default(),
        Some(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let what = "expected a generation and a sequence";
            text.parse().map_err(|()| damaged(manifest::FILE, what))?
        }
    };
    let mut replay = Replay { store: Store::default(), sequence: manifest.sequence };
    if manifest.generation > 0 {
        let file = manifest.snapshot();
        let bytes = read(&*disk, &file)?.ok_or_else(|| damaged(&file, "it is not there"))?;
        let records = decode_snapshot(&bytes).map_err(|error| damaged(&file, error))?;
        records.iter().for_each(|record| replay.store.apply(record));
    }
    let mut segments = Vec::new();
    while let Some(bytes) = read(&*disk, &manifest.segment(segments.len()))? {
        segments.push(Segment::parse(manifest.segment(segments.len()), &bytes));
    }
    let starts = replay.run(&segments, manifest.sequence + 1)?;
    let last = segments.last().filter(|segment| segment.length > segment.sound);
    let cut_off = last.map_or(0, |last| last.length - last.sound);
    if let Some(last) = last {
        let bytes = read(&*disk, &last.file)?.unwrap_or_default();
        let repaired = disk.replace(&last.file, &bytes[..last.sound.min(bytes.len())]);
        repaired.map_err(|error| LogError::Disk { file: last.file.clone(), error })?;
    }
    let log = Log {
        disk,
        policy,
        manifest,
        starts,
        segment_bytes: segments.last().map_or(0, |segment| segment.sound),
        segment_limit: SEGMENT,
        damaged: false,
        written: replay.sequence,
        given: replay.sequence,
        buffered: Vec::new(),
        recent: Recent::default(),
        // Whether it was synced, nobody knows any more.
        synced: manifest.sequence,
        last_sync: Duration::ZERO,
    };
    Ok(Recovered { log, store: replay.store, cut_off })
}

struct Segment {
    file: String,
    batches: Vec<Batch>,
    /// So many bytes are whole batches.
    sound: usize,
    length: usize,
}

impl Segment {
    fn parse(file: String, bytes: &[u8]) -> Segment {
        let (mut rest, mut batches) = (bytes, Vec::new());
        while let Ok(batch) = Batch::decode(&mut rest) {
            batches.push(batch);
        }
        Segment { file, batches, sound: bytes.len() - rest.len(), length: bytes.len() }
    }
}

struct Replay {
    store: Store,
    sequence: u64,
}

impl Replay {
    /// Applies what counts; returns where each segment starts.
    fn run(&mut self, segments: &[Segment], first: u64) -> Result<Vec<u64>, LogError> {
        let mut starts = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let mut later = segments[number + 1..].iter();
            let next = later.find_map(|segment| segment.batches.first());
            let end = next.map_or(u64::MAX, |batch| batch.first);
            starts.push(segment.batches.first().map_or(self.sequence + 1, |batch| batch.first));
            for batch in segment.batches.iter().filter(|batch| batch.first < end) {
                self.apply(batch, &segment.file)?;
            }
            let goes_on = end == u64::MAX || end == self.sequence + 1;
            if segment.length > segment.sound && !goes_on {
                let what = format!("expected sequence {} behind it", self.sequence + 1);
                return Err(damaged(&segment.file, what));
            }
        }
        if starts.is_empty() {
            starts.push(first);
        }
        Ok(starts)
    }

    fn apply(&mut self, batch: &Batch, file: &str) -> Result<(), LogError> {
        if batch.first <= self.sequence {
            let what = format!("sequence {} comes behind {}", batch.first, self.sequence);
            return Err(damaged(file, what));
        }
        batch.records.iter().for_each(|record| self.store.apply(record));
        self.sequence = batch.last();
        Ok(())
    }
}

fn read(disk: &dyn Disk, file: &str) -> Result<Option<Vec<u8>>, LogError> {
    disk.read(file).map_err(|error| LogError::Disk { file: file.to_owned(), error })
}

fn damaged(file: &str, what: impl ToString) -> LogError {
    LogError::Damaged { file: file.to_owned(), what: what.to_string() }
}
