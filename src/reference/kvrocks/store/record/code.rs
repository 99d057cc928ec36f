//! Records as bytes: a tag, then the fields; numbers in little-endian order, strings behind their length.

use bytes::{BufMut, Bytes};

use super::{Record, Side};
use crate::reference::kvrocks::store::StreamId;

/// Bytes that are no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no record: expected {expected}")]
pub struct RecordError {
    pub expected: &'static str,
}

const SET_STRING: u8 = 1;
const LIST_PUSH: u8 = 2;
const LIST_POP: u8 = 3;
const HASH_PUT: u8 = 4;
const HASH_REMOVE: u8 = 5;
const SET_ADD: u8 = 6;
const SET_REMOVE: u8 = 7;
const SORTED_SET_PUT: u8 = 8;
const SORTED_SET_REMOVE: u8 = 9;
const STREAM_ADD: u8 = 10;
const EXPIRE: u8 = 11;
const DELETE: u8 = 12;
const CLEAR_SLOTS: u8 = 13;
const CLEAR: u8 = 14;

pub fn encode(record: &Record, out: &mut Vec<u8>) {
    let mut put = |tag: u8, strings: &[&Bytes]| {
        out.push(tag);
        strings.iter().for_each(|string| put_string(out, string));
    };
    match record {
        Record::SetString { key, value, expires } => {
            put(SET_STRING, &[key, value]);
            put_time(out, *expires);
        }
        Record::ListPush { key, side, position, value } => {
            put(LIST_PUSH, &[key, value]);
            put_place(out, *side, *position);
        }
        Record::ListPop { key, side, position } => {
            put(LIST_POP, &[key]);
            put_place(out, *side, *position);
        }
        Record::HashPut { key, field, value } => put(HASH_PUT, &[key, field, value]),
        Record::HashRemove { key, field } => put(HASH_REMOVE, &[key, field]),
        Record::SetAdd { key, member } => put(SET_ADD, &[key, member]),
        Record::SetRemove { key, member } => put(SET_REMOVE, &[key, member]),
        Record::SortedSetPut { key, member, score } => {
            put(SORTED_SET_PUT, &[key, member]);
            out.put_f64_le(*score);
        }
        Record::SortedSetRemove { key, member } => put(SORTED_SET_REMOVE, &[key, member]),
        Record::StreamAdd { key, id, fields } => {
            put(STREAM_ADD, &[key]);
            out.put_u64_le(id.ms);
            out.put_u64_le(id.number);
            put_length(out, fields.len());
            fields.iter().for_each(|field| put_string(out, field));
        }
        Record::Expire { key, expires } => {
            put(EXPIRE, &[key]);
            put_time(out, *expires);
        }
        Record::Delete { key } => put(DELETE, &[key]),
        Record::ClearSlots { first, last } => {
            put(CLEAR_SLOTS, &[]);
            out.put_u16_le(*first);
            out.put_u16_le(*last);
        }
        Record::Clear => put(CLEAR, &[]),
    }
}

fn put_string(out: &mut Vec<u8>, string: &Bytes) {
    put_length(out, string.len());
    out.extend_from_slice(string);
}

/// No request is as long as four gigabytes, so no string or list of strings is.
fn put_length(out: &mut Vec<u8>, length: usize) {
    out.put_u32_le(u32::try_from(length).unwrap_or(u32::MAX));
}

fn put_time(out: &mut Vec<u8>, time: Option<i64>) {
    out.push(u8::from(time.is_some()));
    out.put_i64_le(time.unwrap_or(0));
}

fn put_place(out: &mut Vec<u8>, side: Side, position: i64) {
    out.push(u8::from(side == Side::Right));
    out.put_i64_le(position);
}

pub fn decode(bytes: &mut &[u8]) -> Result<Record, RecordError> {
    let [tag] = take(bytes, "a tag")?;
    let key = match tag {
        CLEAR_SLOTS | CLEAR => Bytes::new(),
        _ => string(bytes)?,
    };
    Ok(match tag {
        SET_STRING => Record::SetString { key, value: string(bytes)?, expires: time(bytes)? },
        LIST_PUSH => {
            let value = string(bytes)?;
            let (side, position) = place(bytes)?;
            Record::ListPush { key, side, position, value }
        }
        LIST_POP => {
            let (side, position) = place(bytes)?;
            Record::ListPop { key, side, position }
        }
        HASH_PUT => Record::HashPut { key, field: string(bytes)?, value: string(bytes)? },
        HASH_REMOVE => Record::HashRemove { key, field: string(bytes)? },
        SET_ADD => Record::SetAdd { key, member: string(bytes)? },
        SET_REMOVE => Record::SetRemove { key, member: string(bytes)? },
        SORTED_SET_PUT => {
            let member = string(bytes)?;
            Record::SortedSetPut { key, member, score: f64::from_le_bytes(take(bytes, "a score")?) }
        }
        SORTED_SET_REMOVE => Record::SortedSetRemove { key, member: string(bytes)? },
        STREAM_ADD => stream_add(key, bytes)?,
        EXPIRE => Record::Expire { key, expires: time(bytes)? },
        DELETE => Record::Delete { key },
        CLEAR_SLOTS => {
            let first = u16::from_le_bytes(take(bytes, "a slot")?);
            Record::ClearSlots { first, last: u16::from_le_bytes(take(bytes, "a slot")?) }
        }
        CLEAR => Record::Clear,
        _ => return Err(RecordError { expected: "a tag from 1 to 14" }),
    })
}

fn stream_add(key: Bytes, bytes: &mut &[u8]) -> Result<Record, RecordError> {
    let ms = u64::from_le_bytes(take(bytes, "milliseconds")?);
    let number = u64::from_le_bytes(take(bytes, "a number")?);
    // No memory is taken on the word of a length alone.
    let mut fields = Vec::new();
    for _ in 0..u32::from_le_bytes(take(bytes, "a length")?) {
        fields.push(string(bytes)?);
    }
    Ok(Record::StreamAdd { key, id: StreamId { ms, number }, fields })
}

fn take<const N: usize>(bytes: &mut &[u8], expected: &'static str) -> Result<[u8; N], RecordError> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(RecordError { expected })?;
    *bytes = rest;
    Ok(*taken)
}

fn string(bytes: &mut &[u8]) -> Result<Bytes, RecordError> {
    let length = u32::from_le_bytes(take(bytes, "a length")?) as usize;
    let expected = "a string as long as its length says";
    let (taken, rest) = bytes.split_at_checked(length).ok_or(RecordError { expected })?;
    *bytes = rest;
    Ok(Bytes::copy_from_slice(taken))
}

fn time(bytes: &mut &[u8]) -> Result<Option<i64>, RecordError> {
    let [given] = take(bytes, "0 or 1")?;
    let time = i64::from_le_bytes(take(bytes, "a time")?);
    Ok((given != 0).then_some(time))
}

fn place(bytes: &mut &[u8]) -> Result<(Side, i64), RecordError> {
    let [right] = take(bytes, "a side")?;
    let side = if right == 0 { Side::Left } else { Side::Right };
    Ok((side, i64::from_le_bytes(take(bytes, "a position")?)))
}
