//! Writes `history.jsonl.zst` while the run goes on: lines gather in memory and go out as frames.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::StoreError;
use crate::history::{FrameEncoder, write_line};
use crate::op::{Event, MILLISECOND, Nanos};

/// A frame goes out when its lines are this big.
const FRAME_BYTES: usize = 64 * 1024;

/// A frame goes out when its first line is this old.
const FRAME_AGE: Nanos = 250 * MILLISECOND;

/// Appends events. What has gone out survives the death of this process.
///
/// Frames depend on the events alone, their times included, so the same run gives the same bytes.
pub struct HistoryWriter {
    path: PathBuf,
    file: File,
    encoder: FrameEncoder,
    lines: Vec<u8>,
    /// The time of the first line that has not gone out.
    oldest: Nanos,
    /// Bytes that are whole frames.
    written: u64,
}

impl HistoryWriter {
    pub fn create(path: &Path) -> Result<HistoryWriter, StoreError> {
        let failed = |error| StoreError::new("create", path, error);
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        let encoder = FrameEncoder::new().map_err(failed)?;
        let lines = Vec::with_capacity(FRAME_BYTES + 1024);
        Ok(HistoryWriter { path: path.into(), file, encoder, lines, oldest: 0, written: 0 })
    }

    /// Adds an event. Nemesis events are worth a `flush` after them.
    pub fn push(&mut self, event: &Event) -> Result<(), StoreError> {
        self.flush_stale(event.time)?;
        if self.lines.is_empty() {
            self.oldest = event.time;
        }
        write_line(&mut self.lines, event);
        if self.lines.len() >= FRAME_BYTES { self.flush() } else { Ok(()) }
    }

    /// Sends out lines that have waited long enough; for a loop with nothing to record just now.
    pub fn flush_stale(&mut self, now: Nanos) -> Result<(), StoreError> {
        let is_stale = !self.lines.is_empty() && now.saturating_sub(self.oldest) >= FRAME_AGE;
        if is_stale { self.flush() } else { Ok(()) }
    }

    /// Sends out what there is.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let failed = |error| StoreError::new("append to", &self.path, error);
        let frame = self.encoder.encode(&self.lines).map_err(failed)?;
        if let Err(error) = self.file.write_all(&frame) {
            // Half a frame must not come to lie before the next one.
            let _ = self.file.set_len(self.written);
            let _ = std::io::Seek::seek(&mut self.file, std::io::SeekFrom::Start(self.written));
            return Err(failed(error));
        }
        self.written += frame.len() as u64;
        self.lines.clear();
        Ok(())
    }

    /// Sends out what there is and waits until the disk has it, so that it survives a power cut.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        self.file.sync_data().map_err(|error| StoreError::new("sync", &self.path, error))
    }

    /// Bytes in the file.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl Drop for HistoryWriter {
    /// For a run that ends early; one that ends well has flushed and seen the result.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
