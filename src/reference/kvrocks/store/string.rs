//! Commands on strings.

mod number;
mod set;

pub use number::{decrement, decrement_by, increment, increment_by, increment_float};
pub use set::{
    compare_and_delete, compare_and_set, get_delete, get_expire, get_set, set, set_many,
    set_many_new, set_ms, set_new, set_seconds,
};

use bytes::Bytes;

use super::Record;
use super::call::{Answer, Call, Refusal, int, read, wrote};
use super::number as parse;
use crate::resp::{LONGEST_BULK, Value};

pub fn get(call: &Call<'_>) -> Answer {
    Ok(read(bulk(call.string(call.key())?)))
}

/// A key of another type reads as none.
pub fn get_many(call: &Call<'_>) -> Answer {
    let values = call.words[1..].iter().map(|key| bulk(call.string(key).unwrap_or(None)));
    Ok(read(Value::Array(values.collect())))
}

pub fn length(call: &Call<'_>) -> Answer {
    Ok(read(int(call.string(call.key())?.map_or(0, Bytes::len))))
}

pub fn range(call: &Call<'_>) -> Answer {
    let (start, stop) = (parse::argument(call.word(2))?, parse::argument(call.word(3))?);
    let Some(value) = call.string(call.key())? else { return Ok(read(Value::Null)) };
    let span = parse::span(start, stop, value.len());
    Ok(read(if span.is_empty() { Value::Null } else { Value::Bulk(value.slice(span)) }))
}

pub fn append(call: &Call<'_>) -> Answer {
    let old = call.string(call.key())?.map(Bytes::as_ref).unwrap_or_default();
    let value: Bytes = [old, call.word(2)].concat().into();
    Ok(wrote(int(value.len()), vec![changed(call, value)?]))
}

pub fn set_range(call: &Call<'_>) -> Answer {
    let offset = usize::try_from(parse::argument(call.word(2))?)
        .map_err(|_| Refusal::err("offset is out of range"))?;
    let (old, new) = (call.string(call.key())?, call.word(3));
    if old.is_none() && new.is_empty() {
        return Ok(read(Value::Int(0)));
    }
    let end = offset.saturating_add(new.len());
    if end > LONGEST_BULK {
        return Err(too_long());
    }
    let mut value = old.map(|value| value.to_vec()).unwrap_or_default();
    value.resize(value.len().max(end), 0);
    value[offset..end].copy_from_slice(new);
    Ok(wrote(int(value.len()), vec![changed(call, value.into())?]))
}

/// The string's new value; its expiry stays.
fn changed(call: &Call<'_>, value: Bytes) -> Result<Record, Refusal> {
    if value.len() > LONGEST_BULK {
        return Err(too_long());
    }
    let expires = call.live(call.key()).and_then(|entry| entry.expires);
    Ok(Record::SetString { key: call.key().clone(), value, expires })
}

fn too_long() -> Refusal {
    Refusal::err("string exceeds maximum allowed size (512MB)")
}

fn bulk(value: Option<&Bytes>) -> Value {
    value.map_or(Value::Null, |value| Value::Bulk(value.clone()))
}
