//! The append-only log of a node: what survives the end of its process.
//!
//! A write is one [`Batch`]: its records and the sequence number of the first. **Each record counts one
//! sequence number**, so every write moves the sequence by at least one, and the same writes give the same
//! sequence on every node. Batches stand in segments, one after the other, each framed with its length and
//! a checksum; a process that died while it wrote leaves a torn tail, which the next start cuts off.
//!
//! There are two ways to write. [`Log::append`] returns when the batch is in the file, and on the disk
//! itself under [`SyncPolicy::Always`]. [`Log::buffer`] only takes it, until [`Log::flush`]; what is
//! buffered when the process dies is lost.

mod batch;
mod manifest;
mod policy;
mod reader;
mod recovery;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

pub use batch::{Batch, BatchError};
pub use policy::{SyncPolicy, UnknownPolicy};
pub use reader::Unreadable;
pub use recovery::{LogError, Recovered};

use super::store::Record;
use crate::reference::host::Disk;

use manifest::Manifest;

/// A segment has about so many bytes; reading an old batch takes as much memory.
const SEGMENT: usize = 4 << 20;

/// So many bytes of the latest batches are kept in memory for followers.
const RECENT: usize = 4 << 20;

/// An open log.
pub struct Log {
    disk: Rc<dyn Disk>,
    policy: SyncPolicy,
    manifest: Manifest,
    /// The sequence number that each segment starts with; the last one is being written.
    starts: Vec<u64>,
    /// Sound bytes in the last segment.
    segment_bytes: usize,
    segment_limit: usize,
    /// A write failed: nobody knows what the end of the segment looks like.
    damaged: bool,
    /// The last sequence number in the file.
    written: u64,
    /// The last sequence number given out: `written`, or that of the last buffered batch.
    given: u64,
    buffered: Vec<Batch>,
    recent: Recent,
    synced: u64,
    last_sync: Duration,
}

impl Log {
    /// Reads what is there and goes on behind it. A disk without a log is an empty log.
    pub fn open(disk: Rc<dyn Disk>, policy: SyncPolicy) -> Result<Recovered, LogError> {
        recovery::open(disk, policy)
    }

    /// The sequence number of the last write, written or buffered; 0 before the first.
    pub fn sequence(&self) -> u64 {
        self.given
    }

    /// The sequence number of the last write in the file.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes a batch now, behind all that is buffered, and returns its last sequence number.
    ///
    /// After an error nobody knows whether the disk has it, but this log does not count it: its
    /// sequence numbers are given out again, and what is written under them takes its place.
    pub fn append(&mut self, records: Vec<Record>) -> io::Result<u64> {
        self.flush()?;
        if !records.is_empty() {
            self.write(Batch { first: self.given + 1, records })?;
        }
        Ok(self.given)
    }

    /// Takes a batch to be written later, and returns its last sequence number.
    pub fn buffer(&mut self, records: Vec<Record>) -> u64 {
        if !records.is_empty() {
            let batch = Batch { first: self.given + 1, records };
            self.given = batch.last();
            self.buffered.push(batch);
        }
        self.given
    }

    /// Writes all that is buffered; after an error the rest stays buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        let mut waiting = std::mem::take(&mut self.buffered).into_iter();
        let given = self.given;
        while let Some(batch) = waiting.next() {
            if let Err(error) = self.write(batch.clone()) {
                self.buffered = std::iter::once(batch).chain(waiting).collect();
                self.given = given;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Takes a batch that has its sequence number already: a master's, on its replica. It may leave a
    /// gap, but never goes back.
    pub fn append_batch(&mut self, batch: Batch) -> io::Result<()> {
        self.flush()?;
        if batch.first <= self.given || batch.records.is_empty() {
            let (first, given) = (batch.first, self.given);
            return Err(io::Error::other(format!("expected a batch behind {given}, got {first}")));
        }
        self.write(batch)
    }

    /// Syncs, if the policy is to do so every second and it is time; call it about as often.
    pub fn sync_if_due(&mut self, now: Duration) -> io::Result<()> {
        let due = now.saturating_sub(self.last_sync) >= Duration::from_secs(1);
        if self.policy != SyncPolicy::EverySecond || !due {
            return Ok(());
        }
        self.last_sync = now;
        self.sync()
    }

    /// Starts anew: the log is these records, which make up a whole store, as of this sequence number.
    /// All or nothing, also if the process dies meanwhile. After an error nobody knows which of the two
    /// the disk has: end the process.
    pub fn restart(
        &mut self,
        records: impl IntoIterator<Item = Record>,
        sequence: u64,
    ) -> io::Result<()> {
        let next = Manifest { generation: self.manifest.generation + 1, sequence };
        self.disk.replace(&next.snapshot(), &batch::encode_snapshot(records))?;
        self.disk.replace(manifest::FILE, next.to_string().as_bytes())?;
        let (old, segments) = (std::mem::replace(&mut self.manifest, next), self.starts.len());
        (self.starts, self.segment_bytes, self.damaged) = (vec![sequence + 1], 0, false);
        (self.written, self.given, self.synced) = (sequence, sequence, sequence);
        self.buffered.clear();
        self.recent = Recent::default();
        // From here on nothing reads the old files; what cannot be emptied only takes space.
        for file in (0..segments).map(|segment| old.segment(segment)).chain([old.snapshot()]) {
            if let Ok(Some(_)) = self.disk.read(&file) {
                let _ = self.disk.replace(&file, b"");
            }
        }
        Ok(())
    }

    fn write(&mut self, batch: Batch) -> io::Result<()> {
        if self.segment_bytes >= self.segment_limit || self.damaged && self.segment_bytes > 0 {
            self.next_segment()?;
        }
        let mut frame = Vec::new();
        batch.encode(&mut frame);
        let segment = self.segment();
        // Until it is known to be sound, it is not; nothing in it counts that would be overwritten.
        match std::mem::replace(&mut self.damaged, true) {
            true => self.disk.replace(&segment, &frame)?,
            false => self.disk.append(&segment, &frame)?,
        }
        if self.policy == SyncPolicy::Always {
            self.disk.sync(&segment)?;
            self.synced = batch.last();
        }
        self.damaged = false;
        if self.segment_bytes == 0
            && let Some(start) = self.starts.last_mut()
        {
            *start = batch.first;
        }
        self.segment_bytes += frame.len();
        self.written = batch.last();
        self.given = self.given.max(self.written);
        self.recent.push(batch, frame.len());
        Ok(())
    }

    /// An old segment is never synced again, so it is synced now.
    fn next_segment(&mut self) -> io::Result<()> {
        if !self.damaged && self.policy != SyncPolicy::Never {
            self.sync()?;
        }
        self.starts.push(self.written + 1);
        (self.segment_bytes, self.damaged) = (0, false);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.synced < self.written {
            self.disk.sync(&self.segment())?;
            self.synced = self.written;
        }
        Ok(())
    }

    fn segment(&self) -> String {
        self.manifest.segment(self.starts.len() - 1)
    }
}

/// The latest batches with the lengths of their frames.
#[derive(Default)]
struct Recent {
    batches: VecDeque<(Rc<Batch>, usize)>,
    bytes: usize,
}

impl Recent {
    fn push(&mut self, batch: Batch, bytes: usize) {
        self.batches.push_back((Rc::new(batch), bytes));
        self.bytes += bytes;
        while self.bytes > RECENT && self.batches.len() > 1 {
            self.bytes -= self.batches.pop_front().map_or(0, |(_, bytes)| bytes);
        }
    }
}
