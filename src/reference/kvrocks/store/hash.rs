//! Commands on hashes.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::call::{Answer, Call, Refusal, int, read, wrote};
use super::{Record, number};
use crate::resp::Value;

type Hash = BTreeMap<Bytes, Bytes>;

fn field<'a>(call: &Call<'a>, field: &[u8]) -> Result<Option<&'a Bytes>, Refusal> {
    Ok(call.hash(call.key())?.and_then(|hash| hash.get(field)))
}

fn bulk(value: Option<&Bytes>) -> Value {
    value.cloned().map_or(Value::Null, Value::Bulk)
}

fn array<'a>(values: impl Iterator<Item = &'a Bytes>) -> Answer {
    Ok(read(Value::Array(values.cloned().map(Value::Bulk).collect())))
}

pub fn get(call: &Call<'_>) -> Answer {
    Ok(read(bulk(field(call, call.word(2))?)))
}

pub fn get_many(call: &Call<'_>) -> Answer {
    let hash = call.hash(call.key())?;
    let values = call.words[2..].iter().map(|field| bulk(hash.and_then(|hash| hash.get(field))));
    Ok(read(Value::Array(values.collect())))
}

pub fn get_all(call: &Call<'_>) -> Answer {
    let hash = call.hash(call.key())?;
    array(hash.into_iter().flatten().flat_map(|(field, value)| [field, value]))
}

pub fn fields(call: &Call<'_>) -> Answer {
    array(call.hash(call.key())?.into_iter().flat_map(Hash::keys))
}

pub fn values(call: &Call<'_>) -> Answer {
    array(call.hash(call.key())?.into_iter().flat_map(Hash::values))
}

pub fn length(call: &Call<'_>) -> Answer {
    Ok(read(int(call.hash(call.key())?.map_or(0, Hash::len))))
}

pub fn exists(call: &Call<'_>) -> Answer {
    Ok(read(Value::Int(field(call, call.word(2))?.is_some().into())))
}

pub fn value_length(call: &Call<'_>) -> Answer {
    Ok(read(int(field(call, call.word(2))?.map_or(0, Bytes::len))))
}

/// How many fields are new.
pub fn set(call: &Call<'_>) -> Answer {
    let old = call.hash(call.key())?;
    if !call.words.len().is_multiple_of(2) {
        return Err(Refusal::wrong_number());
    }
    let mut new: BTreeMap<&Bytes, &Bytes> = BTreeMap::new();
    for pair in call.words[2..].chunks_exact(2) {
        new.insert(&pair[0], &pair[1]);
    }
    let there = |field: &Bytes| old.and_then(|hash| hash.get(field));
    let added = new.keys().filter(|field| there(field).is_none()).count();
    new.retain(|field, value| there(field) != Some(*value));
    Ok(wrote(int(added), puts(call, new.into_iter())))
}

pub fn set_many(call: &Call<'_>) -> Answer {
    set(call).map(|executed| wrote(Value::ok(), executed.effects))
}

pub fn set_new(call: &Call<'_>) -> Answer {
    if field(call, call.word(2))?.is_some() {
        return Ok(read(Value::Int(0)));
    }
    let pair = (call.word(2), call.word(3));
    Ok(wrote(Value::Int(1), puts(call, std::iter::once(pair))))
}

fn puts<'a>(call: &Call<'_>, pairs: impl Iterator<Item = (&'a Bytes, &'a Bytes)>) -> Vec<Record> {
    let mut effects = call.before_new(call.key());
    effects.extend(pairs.map(|(field, value)| Record::HashPut {
        key: call.key().clone(),
        field: field.clone(),
        value: value.clone(),
    }));
    effects
}

pub fn delete(call: &Call<'_>) -> Answer {
    let fields: BTreeSet<&Bytes> = call.words[2..].iter().collect();
    let Some(hash) = call.hash(call.key())? else { return Ok(read(Value::Int(0))) };
    let there = fields.into_iter().filter(|field| hash.contains_key(*field));
    let remove =
        |field: &Bytes| Record::HashRemove { key: call.key().clone(), field: field.clone() };
    let effects: Vec<Record> = there.map(remove).collect();
    Ok(wrote(int(effects.len()), effects))
}

pub fn increment_by(call: &Call<'_>) -> Answer {
    let by = number::argument(call.word(3))?;
    let old = match field(call, call.word(2))? {
        None => 0,
        Some(value) => {
            number::integer(value).ok_or_else(|| Refusal::invalid(number::parse_error(value)))?
        }
    };
    let sum = old
        .checked_add(by)
        .ok_or_else(|| Refusal::invalid("increment or decrement would overflow"))?;
    changed(call, Value::Int(sum), sum.to_string())
}

/// The reply has as many digits as are needed, what is stored has six behind the point.
pub fn increment_float(call: &Call<'_>) -> Answer {
    let by =
        number::float(call.word(3)).ok_or_else(|| Refusal::err("value is not a valid float"))?;
    let old = match field(call, call.word(2))? {
        None => 0.0,
        Some(value) => {
            number::float(value).ok_or_else(|| Refusal::invalid("value is not a number"))?
        }
    };
    let sum = old + by;
    if !sum.is_finite() {
        return Err(Refusal::invalid("increment would produce NaN or Infinity"));
    }
    changed(call, Value::bulk(number::shortest(sum)), format!("{sum:.6}"))
}

fn changed(call: &Call<'_>, reply: Value, value: String) -> Answer {
    let value = Bytes::from(value);
    Ok(wrote(reply, puts(call, std::iter::once((call.word(2), &value)))))
}
