//! A record made true in the keys.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Content, Entry, Record, Slot};
use crate::resp::slot_of;

pub type Slots = BTreeMap<u16, Slot>;

pub fn apply(slots: &mut Slots, record: &Record) {
    match record {
        Record::SetString { key, value, expires } => {
            let entry = Entry { content: Content::String(value.clone()), expires: *expires };
            put(slots, key, entry);
        }
        Record::Delete { key } => drop(take(slots, key)),
        Record::Expire { key, expires } => {
            if let Some(entry) = slots.get_mut(&slot_of(key)).and_then(|keys| keys.get_mut(key)) {
                entry.expires = *expires;
            }
        }
        Record::ClearSlots { first, last } if first <= last => {
            let mut rest = slots.split_off(first);
            if let Some(next) = last.checked_add(1) {
                slots.append(&mut rest.split_off(&next));
            }
        }
        Record::ClearSlots { .. } => {}
        Record::Clear => slots.clear(),
        record => element(slots, record),
    }
}

/// Records of one element of a key.
fn element(slots: &mut Slots, record: &Record) {
    match record {
        Record::ListPush { key, position, value, .. } => {
            if let Content::List(list) = grown(slots, key, Content::List(BTreeMap::new())) {
                list.insert(*position, value.clone());
            }
        }
        Record::HashPut { key, field, value } => {
            if let Content::Hash(hash) = grown(slots, key, Content::Hash(BTreeMap::new())) {
                hash.insert(field.clone(), value.clone());
            }
        }
        Record::SetAdd { key, member } => {
            if let Content::Set(set) = grown(slots, key, Content::Set(Default::default())) {
                set.insert(member.clone());
            }
        }
        Record::SortedSetPut { key, member, score } => {
            if let Content::SortedSet(set) = grown(slots, key, Content::SortedSet(BTreeMap::new()))
            {
                set.insert(member.clone(), *score);
            }
        }
        Record::StreamAdd { key, id, fields } => {
            if let Content::Stream(stream) = grown(slots, key, Content::Stream(BTreeMap::new())) {
                stream.insert(*id, fields.clone());
            }
        }
        record => removal(slots, record),
    }
}

fn removal(slots: &mut Slots, record: &Record) {
    let Some(key) = record.key() else { return };
    let Some(entry) = slots.get_mut(&slot_of(key)).and_then(|keys| keys.get_mut(key)) else {
        return;
    };
    let empty = match (record, &mut entry.content) {
        (Record::ListPop { position, .. }, Content::List(list)) => {
            list.remove(position);
            list.is_empty()
        }
        (Record::HashRemove { field, .. }, Content::Hash(hash)) => {
            hash.remove(field);
            hash.is_empty()
        }
        (Record::SetRemove { member, .. }, Content::Set(set)) => {
            set.remove(member);
            set.is_empty()
        }
        (Record::SortedSetRemove { member, .. }, Content::SortedSet(set)) => {
            set.remove(member);
            set.is_empty()
        }
        // The key has become another since; what took its place has come later.
        _ => false,
    };
    if empty {
        take(slots, key);
    }
}

/// The key's content if it is of the same type as `empty`, else `empty` in its place.
fn grown<'a>(slots: &'a mut Slots, key: &Bytes, empty: Content) -> &'a mut Content {
    let new = || Entry { content: empty.clone(), expires: None };
    let keys = slots.entry(slot_of(key)).or_default();
    let entry = keys.entry(key.clone()).or_insert_with(new);
    if entry.content.type_name() != empty.type_name() {
        *entry = new();
    }
    &mut entry.content
}

pub fn put(slots: &mut Slots, key: &Bytes, entry: Entry) {
    slots.entry(slot_of(key)).or_default().insert(key.clone(), entry);
}

pub fn take(slots: &mut Slots, key: &Bytes) -> Option<Entry> {
    let slot = slot_of(key);
    let keys = slots.get_mut(&slot)?;
    let entry = keys.remove(key);
    if keys.is_empty() {
        slots.remove(&slot);
    }
    entry
}
