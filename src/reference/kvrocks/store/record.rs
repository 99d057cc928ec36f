//! What a write changed: the unit of the log, of replication and of a migration by raw keys and values.
//!
//! Each record counts one sequence number. Records are absolute (a list's elements have positions, an
//! expiry is a time of day), so that applying some of them again, in order, changes nothing.

mod code;
mod replay;

pub use code::RecordError;

use bytes::Bytes;

use super::StreamId;

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Left,
    Right,
}

/// One change of one key, or of all keys of some slots.
///
/// A record of an element makes its key if there is none, and takes the place of a key of another type.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// In place of whatever the key held, expiry included.
    SetString {
        key: Bytes,
        value: Bytes,
        expires: Option<i64>,
    },
    /// `side` tells which end it was pushed to; `position` alone says where it is.
    ListPush {
        key: Bytes,
        side: Side,
        position: i64,
        value: Bytes,
    },
    ListPop {
        key: Bytes,
        side: Side,
        position: i64,
    },
    HashPut {
        key: Bytes,
        field: Bytes,
        value: Bytes,
    },
    HashRemove {
        key: Bytes,
        field: Bytes,
    },
    SetAdd {
        key: Bytes,
        member: Bytes,
    },
    SetRemove {
        key: Bytes,
        member: Bytes,
    },
    SortedSetPut {
        key: Bytes,
        member: Bytes,
        score: f64,
    },
    SortedSetRemove {
        key: Bytes,
        member: Bytes,
    },
    /// Fields and values by turns.
    StreamAdd {
        key: Bytes,
        id: StreamId,
        fields: Vec<Bytes>,
    },
    /// Nothing where there is no such key.
    Expire {
        key: Bytes,
        expires: Option<i64>,
    },
    Delete {
        key: Bytes,
    },
    /// Deletes all keys of these slots, both ends included.
    ClearSlots {
        first: u16,
        last: u16,
    },
    /// Deletes all keys.
    Clear,
}

impl Record {
    /// The key that it changes; `None` where it changes all keys of some slots.
    pub fn key(&self) -> Option<&Bytes> {
        match self {
            Record::SetString { key, .. }
            | Record::ListPush { key, .. }
            | Record::ListPop { key, .. }
            | Record::HashPut { key, .. }
            | Record::HashRemove { key, .. }
            | Record::SetAdd { key, .. }
            | Record::SetRemove { key, .. }
            | Record::SortedSetPut { key, .. }
            | Record::SortedSetRemove { key, .. }
            | Record::StreamAdd { key, .. }
            | Record::Expire { key, .. }
            | Record::Delete { key } => Some(key),
            Record::ClearSlots { .. } | Record::Clear => None,
        }
    }

    /// True if it changes, or may change, keys of this slot.
    pub fn concerns(&self, slot: u16) -> bool {
        match self {
            Record::ClearSlots { first, last } => (*first..=*last).contains(&slot),
            Record::Clear => true,
            record => record.key().is_some_and(|key| crate::resp::slot_of(key) == slot),
        }
    }

    /// The command that does the same on a node that holds the same key; `None` for what concerns whole
    /// slots, which a migration has no use for.
    pub fn command(&self) -> Option<Vec<Bytes>> {
        replay::command(self)
    }

    /// Appends its bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        code::encode(self, out);
    }

    /// Takes one record from the front of these bytes.
    pub fn decode(bytes: &mut &[u8]) -> Result<Record, RecordError> {
        code::decode(bytes)
    }
}
