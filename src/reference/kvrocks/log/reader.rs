//! Reading what was written: for replicas that catch up.

use std::rc::Rc;

use super::{Batch, Log};

/// Why there is no reading on from a sequence number. All but the disk's errors mean that the reader needs
/// a snapshot instead.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("sequence {after} is ahead of the log, which ends at {end}")]
    Ahead { after: u64, end: u64 },
    #[error("what follows sequence {after} is in the log no more; it starts behind {start}")]
    Gone { after: u64, start: u64 },
    #[error("sequence {after} is no end of a write")]
    Within { after: u64 },
    #[error("cannot read the log: {0}")]
    Disk(#[from] std::io::Error),
}

impl Log {
    /// Batches behind a sequence number, in order, at least one if there is any, and about `bytes` bytes
    /// of them at most. What is only buffered is not among them.
    pub fn read(&self, after: u64, bytes: usize) -> Result<Vec<Rc<Batch>>, Unreadable> {
        if after == self.written {
            return Ok(Vec::new());
        }
        if after > self.written {
            return Err(Unreadable::Ahead { after, end: self.written });
        }
        if after < self.manifest.sequence {
            return Err(Unreadable::Gone { after, start: self.manifest.sequence });
        }
        let recent = &self.recent.batches;
        if recent.front().is_some_and(|(oldest, _)| oldest.first <= after + 1) {
            let from = recent.partition_point(|(batch, _)| batch.last() <= after);
            return upto(bytes, after, recent.iter().skip(from).map(|(batch, _)| batch.clone()));
        }
        let first = self.starts.partition_point(|start| *start <= after + 1).saturating_sub(1);
        for segment in first..self.starts.len() {
            let batches = self.read_segment(segment, after, bytes)?;
            if !batches.is_empty() {
                return Ok(batches);
            }
        }
        // Its bytes were sound when they were written.
        let lost = format!("what follows sequence {after} is in no file any more");
        Err(std::io::Error::other(lost).into())
    }

    fn read_segment(
        &self,
        segment: usize,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<Rc<Batch>>, Unreadable> {
        let content = self.disk.read(&self.manifest.segment(segment))?.unwrap_or_default();
        let mut rest = content.as_slice();
        let end = self.starts.get(segment + 1).map_or(self.written + 1, |next| *next);
        let batches = std::iter::from_fn(|| Batch::decode(&mut rest).ok())
            .take_while(|batch| batch.first < end)
            .skip_while(|batch| batch.last() <= after)
            .map(Rc::new);
        upto(bytes, after, batches)
    }
}

fn upto(
    bytes: usize,
    after: u64,
    batches: impl Iterator<Item = Rc<Batch>>,
) -> Result<Vec<Rc<Batch>>, Unreadable> {
    let (mut taken, mut frame) = (Vec::new(), Vec::new());
    for batch in batches {
        if taken.is_empty() && batch.first <= after {
            return Err(Unreadable::Within { after });
        }
        batch.encode(&mut frame);
        taken.push(batch);
        if frame.len() >= bytes {
            break;
        }
    }
    Ok(taken)
}
