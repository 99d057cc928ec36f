//! Commands on all keys, and on none.

use bytes::Bytes;

use super::call::{Answer, Call, Refusal, read, wrote};
use super::{Record, number};
use crate::resp::{Value, slot_of};

const ONLY_PREFIXES: &str = "only keys prefix match was supported";

pub fn ping(call: &Call<'_>) -> Answer {
    match call.words {
        [_] => Ok(read(Value::Simple("PONG".to_owned()))),
        [_, text] => Ok(read(Value::Bulk(text.clone()))),
        _ => Err(Refusal::wrong_number()),
    }
}

pub fn echo(call: &Call<'_>) -> Answer {
    Ok(read(Value::Bulk(call.word(1).clone())))
}

pub fn keys(call: &Call<'_>) -> Answer {
    let prefix = prefix(call.word(1))?;
    let keys = live_keys(call, None).filter(|key| key.starts_with(prefix));
    Ok(read(Value::Array(keys.map(|key| Value::Bulk(key.clone())).collect())))
}

/// `DBSIZE SCAN` counts; `DBSIZE` says what was counted last.
pub fn dbsize(call: &Call<'_>) -> Answer {
    match call.words {
        [_] => Ok(read(Value::Int(call.store.counted.get()))),
        [_, word] if word.eq_ignore_ascii_case(b"scan") => {
            let count = live_keys(call, None).count();
            call.store.counted.set(i64::try_from(count).unwrap_or(i64::MAX));
            Ok(read(Value::ok()))
        }
        _ => Err(Refusal::err("DBSIZE subcommand only supports scan")),
    }
}

pub fn flush(call: &Call<'_>) -> Answer {
    let effects = if call.store.is_empty() { Vec::new() } else { vec![Record::Clear] };
    Ok(wrote(Value::ok(), effects))
}

pub fn scan(call: &Call<'_>) -> Answer {
    let cursor = number::integer(call.word(1)).and_then(|cursor| u64::try_from(cursor).ok());
    let cursor = cursor.ok_or_else(|| Refusal::err("invalid cursor"))?;
    let (mut prefix_of_keys, mut most): (&[u8], usize) = (b"", 10);
    for option in call.words[2..].chunks(2) {
        match option {
            [name, pattern] if name.eq_ignore_ascii_case(b"match") => {
                prefix_of_keys = prefix(pattern)?;
            }
            [name, count] if name.eq_ignore_ascii_case(b"count") => {
                let count = number::integer(count)
                    .ok_or_else(|| Refusal::err("count param should be type int"))?;
                let count = usize::try_from(count).ok().filter(|count| *count > 0);
                most = count.ok_or_else(Refusal::syntax)?;
            }
            _ => return Err(Refusal::syntax()),
        }
    }
    let after = call.store.cursors.borrow().key(cursor).cloned();
    let keys = live_keys(call, after.as_ref()).filter(|key| key.starts_with(prefix_of_keys));
    let keys: Vec<Bytes> = keys.take(most).cloned().collect();
    let next = match keys.last() {
        Some(last) if keys.len() == most => call.store.cursors.borrow_mut().behind(last.clone()),
        _ => 0,
    };
    let keys = keys.into_iter().map(Value::Bulk).collect();
    Ok(read(Value::Array(vec![Value::bulk(next.to_string()), Value::Array(keys)])))
}

/// What stands before the `*` at the end of a pattern; no other pattern is known.
fn prefix(pattern: &[u8]) -> Result<&[u8], Refusal> {
    pattern.strip_suffix(b"*").ok_or_else(|| Refusal::err(ONLY_PREFIXES))
}

/// Keys by slot and then by name, from behind this one on.
fn live_keys<'a>(
    call: &Call<'a>,
    after: Option<&Bytes>,
) -> impl Iterator<Item = &'a Bytes> + use<'a> {
    let now_ms = call.now_ms;
    let first = after.map_or(0, |key| slot_of(key));
    let after = after.cloned();
    call.store
        .slots
        .range(first..)
        .flat_map(move |(slot, keys)| keys.iter().map(move |(key, entry)| (*slot, key, entry)))
        .filter(move |(slot, key, entry)| {
            let behind = after.as_ref().is_none_or(|after| *slot > first || *key > after);
            behind && !entry.is_expired(now_ms)
        })
        .map(|(_, key, _)| key)
}
