//! Commands on lists.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::call::{Answer, Call, Refusal, int, read, wrote};
use super::{Content, Entry, Record, Side, dump, number};
use crate::resp::Value;

type List = BTreeMap<i64, Bytes>;

pub fn length(call: &Call<'_>) -> Answer {
    Ok(read(int(call.list(call.key())?.map_or(0, List::len))))
}

pub fn range(call: &Call<'_>) -> Answer {
    let (start, stop) = (number::argument(call.word(2))?, number::argument(call.word(3))?);
    let list = call.list(call.key())?;
    let span = number::span(start, stop, list.map_or(0, List::len));
    let values = list.into_iter().flat_map(List::values).skip(span.start).take(span.len());
    Ok(read(Value::Array(values.cloned().map(Value::Bulk).collect())))
}

pub fn index(call: &Call<'_>) -> Answer {
    let index = number::argument(call.word(2))?;
    let list = call.list(call.key())?;
    let value = list.and_then(|list| list.values().nth(place(index, list)?));
    Ok(read(value.cloned().map_or(Value::Null, Value::Bulk)))
}

fn place(index: i64, list: &List) -> Option<usize> {
    let length = i64::try_from(list.len()).ok()?;
    let absolute = if index < 0 { index.checked_add(length)? } else { index };
    usize::try_from(absolute).ok().filter(|index| *index < list.len())
}

pub fn push_left(call: &Call<'_>) -> Answer {
    push(call, Side::Left, true)
}

pub fn push_right(call: &Call<'_>) -> Answer {
    push(call, Side::Right, true)
}

pub fn push_left_existing(call: &Call<'_>) -> Answer {
    push(call, Side::Left, false)
}

pub fn push_right_existing(call: &Call<'_>) -> Answer {
    push(call, Side::Right, false)
}

fn push(call: &Call<'_>, side: Side, make: bool) -> Answer {
    let list = call.list(call.key())?;
    if list.is_none() && !make {
        return Ok(read(Value::Int(0)));
    }
    let values = &call.words[2..];
    let next = match side {
        Side::Left => list.and_then(List::first_key_value).map_or(0, |(at, _)| at.wrapping_sub(1)),
        Side::Right => list.and_then(List::last_key_value).map_or(0, |(at, _)| at.wrapping_add(1)),
    };
    let positions = (0..).map(|step: i64| match side {
        Side::Left => next.wrapping_sub(step),
        Side::Right => next.wrapping_add(step),
    });
    let mut effects = call.before_new(call.key());
    effects.extend(positions.zip(values).map(|(position, value)| Record::ListPush {
        key: call.key().clone(),
        side,
        position,
        value: value.clone(),
    }));
    Ok(wrote(int(list.map_or(0, List::len) + values.len()), effects))
}

pub fn pop_left(call: &Call<'_>) -> Answer {
    pop(call, Side::Left)
}

pub fn pop_right(call: &Call<'_>) -> Answer {
    pop(call, Side::Right)
}

fn pop(call: &Call<'_>, side: Side) -> Answer {
    let count = match &call.words[2..] {
        [] => None,
        [count] => {
            let count = usize::try_from(number::argument(count)?);
            let positive = "value is out of range, must be positive";
            Some(count.map_err(|_| Refusal::err(positive))?)
        }
        _ => return Err(Refusal::wrong_number()),
    };
    let Some(list) = call.list(call.key())? else {
        return Ok(read(if count.is_some() { Value::NullArray } else { Value::Null }));
    };
    let elements: Box<dyn Iterator<Item = (&i64, &Bytes)>> = match side {
        Side::Left => Box::new(list.iter()),
        Side::Right => Box::new(list.iter().rev()),
    };
    let (effects, mut values): (Vec<Record>, Vec<Value>) = elements
        .take(count.unwrap_or(1))
        .map(|(position, value)| {
            let key = call.key().clone();
            let record = Record::ListPop { key, side, position: *position };
            (record, Value::Bulk(value.clone()))
        })
        .unzip();
    let reply = match count {
        Some(_) => Value::Array(values),
        None => values.pop().unwrap_or(Value::Null),
    };
    Ok(wrote(reply, effects))
}

pub fn set(call: &Call<'_>) -> Answer {
    let index = number::argument(call.word(2))?;
    let list = call.list(call.key())?.ok_or_else(|| Refusal::err("no such key"))?;
    let index = place(index, list).ok_or_else(|| Refusal::invalid("index out of range"))?;
    let mut values: Vec<Bytes> = list.values().cloned().collect();
    values[index] = call.word(3).clone();
    Ok(wrote(Value::ok(), rewritten(call, values)))
}

/// From the left the first `count` that equal the value, from the right with a negative one, all with 0.
pub fn remove(call: &Call<'_>) -> Answer {
    let count = number::argument(call.word(2))?;
    let Some(list) = call.list(call.key())? else { return Ok(read(Value::Int(0))) };
    let most = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
    let mut values: Vec<Bytes> = list.values().cloned().collect();
    if count < 0 {
        values.reverse();
    }
    let mut removed = 0;
    values.retain(|value| {
        let goes = removed < most && value == call.word(3);
        removed += usize::from(goes);
        !goes
    });
    if count < 0 {
        values.reverse();
    }
    let effects = if removed == 0 { Vec::new() } else { rewritten(call, values) };
    Ok(wrote(int(removed), effects))
}

pub fn trim(call: &Call<'_>) -> Answer {
    let (start, stop) = (number::argument(call.word(2))?, number::argument(call.word(3))?);
    let Some(list) = call.list(call.key())? else { return Ok(read(Value::ok())) };
    let span = number::span(start, stop, list.len());
    if span.len() == list.len() {
        return Ok(read(Value::ok()));
    }
    let values = list.values().skip(span.start).take(span.len()).cloned().collect();
    Ok(wrote(Value::ok(), rewritten(call, values)))
}

/// The whole list anew: what is rarely used needs no records of its own.
fn rewritten(call: &Call<'_>, values: Vec<Bytes>) -> Vec<Record> {
    let mut effects = vec![Record::Delete { key: call.key().clone() }];
    let expires = call.live(call.key()).and_then(|entry| entry.expires);
    if !values.is_empty() {
        let content = Content::List((0..).zip(values).collect());
        effects.extend(dump::entry_records(call.key(), &Entry { content, expires }));
    }
    effects
}
