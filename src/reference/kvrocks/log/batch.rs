//! Batches and their frames: `length checksum first-sequence count records`.

use bytes::BufMut;
use crc::{CRC_32_ISCSI, Crc};

use crate::reference::kvrocks::store::{Record, RecordError};

const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// Length and checksum.
const HEAD: usize = 8;

/// First sequence number and count.
const SHORTEST_BODY: usize = 12;

/// A snapshot's batches have about so many bytes.
const SNAPSHOT_BATCH: usize = 64 << 10;

/// The records of one write; each has the sequence number behind the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub first: u64,
    /// At least one, but for the end of a snapshot.
    pub records: Vec<Record>,
}

/// Bytes that are no batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// More bytes may make it one.
    #[error("no batch: expected more bytes")]
    Short,
    #[error("no batch: expected {0}")]
    Wrong(&'static str),
}

impl From<RecordError> for BatchError {
    fn from(error: RecordError) -> BatchError {
        BatchError::Wrong(error.expected)
    }
}

impl Batch {
    /// The sequence number of its last record.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(self.records.len() as u64).saturating_sub(1)
    }

    /// Appends its frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEAD]);
        out.put_u64_le(self.first);
        out.put_u32_le(u32::try_from(self.records.len()).unwrap_or(u32::MAX));
        self.records.iter().for_each(|record| record.encode(out));
        let body = &out[start + HEAD..];
        // A batch comes from one request, which is far shorter than four gigabytes.
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let checksum = CRC32.checksum(body);
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        out[start + 4..start + HEAD].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Takes one batch from the front of these bytes.
    pub fn decode(bytes: &mut &[u8]) -> Result<Batch, BatchError> {
        let (length, rest) = bytes.split_first_chunk().ok_or(BatchError::Short)?;
        let (checksum, rest) = rest.split_first_chunk().ok_or(BatchError::Short)?;
        let length = u32::from_le_bytes(*length) as usize;
        if length < SHORTEST_BODY {
            return Err(BatchError::Wrong("a length of at least 12"));
        }
        let (body, rest) = rest.split_at_checked(length).ok_or(BatchError::Short)?;
        if CRC32.checksum(body) != u32::from_le_bytes(*checksum) {
            return Err(BatchError::Wrong("the checksum of its bytes"));
        }
        let batch = Batch::read(body)?;
        *bytes = rest;
        Ok(batch)
    }

    fn read(body: &[u8]) -> Result<Batch, BatchError> {
        let (first, rest) = body.split_first_chunk().ok_or(BatchError::Wrong("a sequence"))?;
        let (count, mut rest) = rest.split_first_chunk().ok_or(BatchError::Wrong("a count"))?;
        // No memory is taken on the word of a count alone.
        let mut records = Vec::new();
        for _ in 0..u32::from_le_bytes(*count) {
            records.push(Record::decode(&mut rest)?);
        }
        if !rest.is_empty() {
            return Err(BatchError::Wrong("no bytes behind its records"));
        }
        Ok(Batch { first: u64::from_le_bytes(*first), records })
    }
}

/// A whole store: batches without sequence numbers of their own, and an empty one at the end.
pub fn encode_snapshot(records: impl IntoIterator<Item = Record>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut batch = Batch { first: 0, records: Vec::new() };
    let mut bytes = 0;
    let mut scratch = Vec::new();
    for record in records {
        scratch.clear();
        record.encode(&mut scratch);
        bytes += scratch.len();
        batch.records.push(record);
        if bytes >= SNAPSHOT_BATCH {
            batch.encode(&mut out);
            batch.records.clear();
            bytes = 0;
        }
    }
    if !batch.records.is_empty() {
        batch.encode(&mut out);
    }
    Batch { first: 0, records: Vec::new() }.encode(&mut out);
    out
}

/// The records of a snapshot; an error unless all of it is there.
pub fn decode_snapshot(mut bytes: &[u8]) -> Result<Vec<Record>, BatchError> {
    let mut records = Vec::new();
    loop {
        let batch = Batch::decode(&mut bytes)?;
        if batch.records.is_empty() {
            return Ok(records);
        }
        records.extend(batch.records);
    }
}
