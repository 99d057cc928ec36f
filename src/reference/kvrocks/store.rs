//! What one kvrocks node does with its keys, without a network: commands to replies and to records.
//!
//! A command is answered in two steps, so that a write can be in the log before anybody sees it:
//! [`Store::execute`] says what it answers and which [`Record`]s it makes, [`Store::apply`] makes them
//! true. Applying looks at no clock and refuses nothing: the same records in the same order give the
//! same store on every node, also if some come twice. Time only decides what `execute` sees: a key past
//! its expiry is not there.

mod call;
mod command;
mod cursor;
mod data;
mod database;
mod dump;
mod entry;
mod expiry;
mod hash;
mod key;
mod list;
mod number;
mod record;
mod script;
mod set;
mod sorted_set;
mod stream;
mod string;
#[cfg(test)]
mod tests;
mod transaction;
mod watch;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use bytes::Bytes;

pub use command::{Command, Keys, commands, lookup, unknown_command};
pub use entry::{Content, Entry, StreamId};
pub use record::{Record, RecordError, Side};
pub use transaction::Transaction;
pub use watch::Watch;

use crate::resp::{Value, slot_of};

/// The keys of one slot, in order.
type Slot = BTreeMap<Bytes, Entry>;

/// All keys of a node, by slot.
#[derive(Debug, Default)]
pub struct Store {
    /// No slot in it is empty.
    slots: BTreeMap<u16, Slot>,
    watches: watch::Watches,
    cursors: RefCell<cursor::Cursors>,
    /// What `DBSIZE` says: the count of the last `DBSIZE SCAN`.
    counted: Cell<i64>,
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    pub reply: Value,
    /// What it changes, in order; none for a read, a refusal, and a write that changes nothing.
    pub effects: Vec<Record>,
}

impl Store {
    /// What a command answers and changes at this time of day. Nothing is changed yet: log the effects,
    /// then [`apply`](Store::apply) them, then answer.
    ///
    /// Knows nothing of connections and slots: who may ask, and whether it is `MULTI`, is the server's.
    pub fn execute(&self, words: &[Bytes], now_ms: i64) -> Executed {
        call::execute(self, words, now_ms)
    }

    /// Makes a record true, whatever the store holds; watchers of what it changes will know.
    pub fn apply(&mut self, record: &Record) {
        self.watches.touch_by(record);
        data::apply(&mut self.slots, record);
    }

    /// Several commands as one, each seeing what those before it did. All of it is taken back when the
    /// transaction ends; its records remain to be logged and applied.
    pub fn transaction(&mut self, now_ms: i64) -> Transaction<'_> {
        Transaction::new(self, now_ms)
    }

    /// Looks out for changes of a key from now on.
    pub fn watch(&mut self, key: &Bytes) -> Watch {
        self.watches.add(key)
    }

    /// Tells watchers of a key that a write named it, whether it changed anything or not.
    pub fn touch(&mut self, key: &[u8]) {
        self.watches.touch(key);
    }

    /// True if not even an expired key is there.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Number of keys, expired ones included.
    pub fn len(&self) -> usize {
        self.slots.values().map(Slot::len).sum()
    }

    /// Slots that hold a key, expired or not, in order.
    pub fn slots(&self) -> impl Iterator<Item = u16> + '_ {
        self.slots.keys().copied()
    }

    /// The keys of a slot in order, expired ones included.
    pub fn keys_of_slot(&self, slot: u16) -> impl Iterator<Item = &Bytes> {
        self.slots.get(&slot).into_iter().flat_map(Slot::keys)
    }

    /// What a key holds, expired or not.
    pub fn entry(&self, key: &[u8]) -> Option<&Entry> {
        self.slots.get(&slot_of(key))?.get(key)
    }

    /// Records that make these keys of an empty slot, expiry included.
    pub fn records_of_slot(&self, slot: u16) -> Vec<Record> {
        self.slots.get(&slot).map(dump::records).unwrap_or_default()
    }

    /// Commands that make these keys of an empty slot on another node, expiry included; keys that are
    /// past their expiry are left out, and a command has at most 16 elements.
    pub fn commands_of_slot(&self, slot: u16, now_ms: i64) -> Vec<Vec<Bytes>> {
        self.slots.get(&slot).map(|keys| dump::commands(keys, now_ms)).unwrap_or_default()
    }

    /// Records that make this store out of an empty one.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.slots.values().flat_map(dump::records)
    }
}
