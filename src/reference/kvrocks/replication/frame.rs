//! What a master sends to a slave once the stream has begun: requests without replies.

use bytes::Bytes;

use crate::reference::kvrocks::log::Batch;
use crate::reference::kvrocks::store::Record;
use crate::resp::encode_command;

/// One message of the stream.
#[derive(Debug, PartialEq)]
pub enum Frame {
    /// One write.
    Batch(Batch),
    /// A part of all the data.
    Snapshot(Vec<Record>),
    /// That was all.
    SnapshotEnd,
    Ping,
}

const BATCH: &[u8] = b"batch";
const SNAPSHOT: &[u8] = b"snapshot";
const SNAPSHOT_END: &[u8] = b"snapshot-end";
const PING: &[u8] = b"ping";

pub fn batch(batch: &Batch, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    batch.encode(&mut bytes);
    encode_command(&[BATCH, &bytes], out);
}

pub fn snapshot(records: &[Record], out: &mut Vec<u8>) {
    encode_command(&[SNAPSHOT, &encoded(records)], out);
}

pub fn snapshot_end(out: &mut Vec<u8>) {
    encode_command(&[SNAPSHOT_END], out);
}

pub fn ping(out: &mut Vec<u8>) {
    encode_command(&[PING], out);
}

fn encoded(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    records.iter().for_each(|record| record.encode(&mut bytes));
    bytes
}

impl Frame {
    pub fn read(words: &[Bytes]) -> Result<Frame, String> {
        let found =
            || String::from_utf8_lossy(words.first().map_or(&[][..], |word| word)).into_owned();
        match words {
            [name, bytes] if name == BATCH => {
                let mut rest: &[u8] = bytes;
                let batch = Batch::decode(&mut rest).map_err(|wrong| wrong.to_string())?;
                Ok(Frame::Batch(batch))
            }
            [name, bytes] if name == SNAPSHOT => Ok(Frame::Snapshot(decoded(bytes)?)),
            [name] if name == SNAPSHOT_END => Ok(Frame::SnapshotEnd),
            [name] if name == PING => Ok(Frame::Ping),
            _ => Err(format!("a batch, a snapshot or a ping was expected, and came `{}`", found())),
        }
    }
}

fn decoded(mut bytes: &[u8]) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        records.push(Record::decode(&mut bytes).map_err(|wrong| wrong.to_string())?);
    }
    Ok(records)
}
