//! Several commands as one write: what `EXEC` stands on.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Entry, Record, Store, data};
use crate::resp::Value;

/// Commands see what those before them did; when it ends, all of it is taken back.
#[derive(Debug)]
pub struct Transaction<'a> {
    store: &'a mut Store,
    now_ms: i64,
    /// What the changed keys held before.
    before: BTreeMap<Bytes, Option<Entry>>,
    records: Vec<Record>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(store: &'a mut Store, now_ms: i64) -> Transaction<'a> {
        Transaction { store, now_ms, before: BTreeMap::new(), records: Vec::new() }
    }

    /// The reply to the next command.
    pub fn execute(&mut self, words: &[Bytes]) -> Value {
        let executed = self.store.execute(words, self.now_ms);
        for record in &executed.effects {
            match record.key() {
                Some(key) => self.keep(&key.clone()),
                None => {
                    let keys: Vec<Bytes> =
                        self.store.slots.values().flat_map(|keys| keys.keys().cloned()).collect();
                    keys.iter().for_each(|key| self.keep(key));
                }
            }
            data::apply(&mut self.store.slots, record);
        }
        self.records.extend(executed.effects);
        executed.reply
    }

    /// Takes everything back and returns the records of it all, to be logged and applied as one.
    pub fn finish(mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    fn keep(&mut self, key: &Bytes) {
        let store = &*self.store;
        self.before.entry(key.clone()).or_insert_with(|| store.entry(key).cloned());
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        for (key, entry) in std::mem::take(&mut self.before) {
            match entry {
                Some(entry) => data::put(&mut self.store.slots, &key, entry),
                None => drop(data::take(&mut self.store.slots, &key)),
            }
        }
    }
}
