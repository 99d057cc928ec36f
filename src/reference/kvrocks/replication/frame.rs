//! What a master sends to a slave once the stream has begun: requests without replies.

use bytes::Bytes;

use crate::reference::kvrocks::journal::Batch;
use crate::reference::kvrocks::store::Record;
use crate::resp::encode_command;

/// One message of the stream.
#[derive(Debug, PartialEq)]
pub enum Frame {
    /// Records that hold together, and the sequence number of the first.
    Records {
        first: u64,
        records: Vec<Record>,
    },
    /// A part of all the data.
    Snapshot(Vec<Record>),
    /// That was all.
    SnapshotEnd,
    Ping,
}

const RECORDS: &[u8] = b"records";
const SNAPSHOT: &[u8] = b"snapshot";
const SNAPSHOT_END: &[u8] = b"snapshot-end";
const PING: &[u8] = b"ping";

pub fn records(batch: &Batch, out: &mut Vec<u8>) {
    let first = batch.first.to_string();
    encode_command(&[RECORDS, first.as_bytes(), &encoded(&batch.records)], out);
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
            [name, first, bytes] if name == RECORDS => {
                let first = std::str::from_utf8(first).ok().and_then(|first| first.parse().ok());
                let first = first.ok_or("a sequence number was expected")?;
                Ok(Frame::Records { first, records: decoded(bytes)? })
            }
            [name, bytes] if name == SNAPSHOT => Ok(Frame::Snapshot(decoded(bytes)?)),
            [name] if name == SNAPSHOT_END => Ok(Frame::SnapshotEnd),
            [name] if name == PING => Ok(Frame::Ping),
            _ => Err(format!("records, a snapshot or a ping was expected, and came `{}`", found())),
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
