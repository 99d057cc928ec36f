//! Keys written down: as records, and as commands for a node that knows no records.

use bytes::Bytes;

use super::{Content, Entry, Record, Side, Slot, number};

/// A command has at most so many elements.
const MOST_ELEMENTS: usize = 16;

pub fn records(keys: &Slot) -> Vec<Record> {
    keys.iter().flat_map(|(key, entry)| entry_records(key, entry)).collect()
}

/// Records that make this entry under this key, where there is none.
pub fn entry_records(key: &Bytes, entry: &Entry) -> Vec<Record> {
    let key = || key.clone();
    let mut records: Vec<Record> = match &entry.content {
        Content::String(value) => {
            let (value, expires) = (value.clone(), entry.expires);
            return vec![Record::SetString { key: key(), value, expires }];
        }
        Content::List(list) => list
            .iter()
            .map(|(position, value)| Record::ListPush {
                key: key(),
                side: Side::Right,
                position: *position,
                value: value.clone(),
            })
            .collect(),
        Content::Hash(hash) => hash
            .iter()
            .map(|(field, value)| Record::HashPut {
                key: key(),
                field: field.clone(),
                value: value.clone(),
            })
            .collect(),
        Content::Set(set) => {
            set.iter().map(|member| Record::SetAdd { key: key(), member: member.clone() }).collect()
        }
        Content::SortedSet(set) => set
            .iter()
            .map(|(member, score)| Record::SortedSetPut {
                key: key(),
                member: member.clone(),
                score: *score,
            })
            .collect(),
        Content::Stream(stream) => stream
            .iter()
            .map(|(id, fields)| Record::StreamAdd { key: key(), id: *id, fields: fields.clone() })
            .collect(),
    };
    if entry.expires.is_some() {
        records.push(Record::Expire { key: key(), expires: entry.expires });
    }
    records
}

pub fn commands(keys: &Slot, now_ms: i64) -> Vec<Vec<Bytes>> {
    let live = keys.iter().filter(|(_, entry)| !entry.is_expired(now_ms));
    live.flat_map(|(key, entry)| entry_commands(key, entry)).collect()
}

fn entry_commands(key: &Bytes, entry: &Entry) -> Vec<Vec<Bytes>> {
    let in_pieces = |name: &'static str, elements: Vec<Vec<Bytes>>| -> Vec<Vec<Bytes>> {
        let pieces = elements.chunks(MOST_ELEMENTS);
        pieces
            .map(|piece| {
                let head = [Bytes::from_static(name.as_bytes()), key.clone()];
                head.into_iter().chain(piece.iter().flatten().cloned()).collect()
            })
            .collect()
    };
    let mut commands = match &entry.content {
        Content::String(_) => {
            return entry_records(key, entry).iter().filter_map(Record::command).collect();
        }
        Content::List(list) => {
            in_pieces("RPUSH", list.values().map(|value| vec![value.clone()]).collect())
        }
        Content::Hash(hash) => {
            let pair = |(field, value): (&Bytes, &Bytes)| vec![field.clone(), value.clone()];
            in_pieces("HMSET", hash.iter().map(pair).collect())
        }
        Content::Set(set) => {
            in_pieces("SADD", set.iter().map(|member| vec![member.clone()]).collect())
        }
        Content::SortedSet(set) => {
            let pair = |(member, score): (&Bytes, &f64)| {
                vec![Bytes::from(number::shortest(*score)), member.clone()]
            };
            in_pieces("ZADD", set.iter().map(pair).collect())
        }
        Content::Stream(_) => {
            let records = entry_records(key, &Entry { expires: None, ..entry.clone() });
            records.iter().filter_map(Record::command).collect()
        }
    };
    if entry.expires.is_some() {
        let expire = Record::Expire { key: key.clone(), expires: entry.expires };
        commands.extend(expire.command());
    }
    commands
}
