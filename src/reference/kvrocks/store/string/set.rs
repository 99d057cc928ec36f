//! Strings put in place, also under conditions.

use bytes::Bytes;

use super::bulk;
use crate::reference::kvrocks::store::call::{Answer, Call, Refusal, read, wrote};
use crate::reference::kvrocks::store::{Record, expiry, number};
use crate::resp::Value;

#[derive(Default)]
struct Options {
    expires: Option<i64>,
    keep_expiry: bool,
    only_new: bool,
    only_existing: bool,
    get: bool,
}

impl Options {
    fn read(call: &Call<'_>) -> Result<Options, Refusal> {
        let mut options = Options::default();
        let mut words = call.words[3..].iter();
        let (mut time, mut condition) = (None, None);
        while let Some(word) = words.next() {
            let name = word.to_ascii_uppercase();
            // The same option may be said again, but not another of its kind.
            let group = match name.as_slice() {
                b"GET" => {
                    options.get = true;
                    continue;
                }
                b"NX" | b"XX" => &mut condition,
                _ => &mut time,
            };
            if group.get_or_insert_with(|| name.clone()) != &name {
                return Err(Refusal::syntax());
            }
            match name.as_slice() {
                b"NX" => options.only_new = true,
                b"XX" => options.only_existing = true,
                b"KEEPTTL" => options.keep_expiry = true,
                name => {
                    let mut rest = words.clone();
                    let at = expiry::option(name, rest.next(), call.now_ms)?;
                    options.expires = Some(at.ok_or_else(Refusal::syntax)?);
                    words = rest;
                }
            }
        }
        Ok(options)
    }
}

pub fn set(call: &Call<'_>) -> Answer {
    let options = Options::read(call)?;
    let old = call.live(call.key());
    let old_value = if options.get { call.string(call.key())? } else { None };
    let met = if old.is_some() { !options.only_new } else { !options.only_existing };
    let reply = match (options.get, met) {
        (true, _) => bulk(old_value),
        (false, true) => Value::ok(),
        (false, false) => Value::Null,
    };
    if !met {
        return Ok(read(reply));
    }
    let kept = old.filter(|_| options.keep_expiry).and_then(|entry| entry.expires);
    Ok(wrote(reply, vec![string(call.key(), call.word(2), options.expires.or(kept))]))
}

pub fn set_new(call: &Call<'_>) -> Answer {
    if call.live(call.key()).is_some() {
        return Ok(read(Value::Int(0)));
    }
    Ok(wrote(Value::Int(1), vec![string(call.key(), call.word(2), None)]))
}

pub fn set_seconds(call: &Call<'_>) -> Answer {
    set_for(call, 1000)
}

pub fn set_ms(call: &Call<'_>) -> Answer {
    set_for(call, 1)
}

fn set_for(call: &Call<'_>, unit: i64) -> Answer {
    let time = number::argument(call.word(2))?;
    if time <= 0 {
        return Err(Refusal::err("invalid expire time"));
    }
    let at = time.saturating_mul(unit).saturating_add(call.now_ms);
    Ok(wrote(Value::ok(), vec![string(call.key(), call.word(3), Some(at))]))
}

pub fn set_many(call: &Call<'_>) -> Answer {
    Ok(wrote(Value::ok(), pairs(call)?))
}

pub fn set_many_new(call: &Call<'_>) -> Answer {
    let effects = pairs(call)?;
    let taken = effects.iter().filter_map(Record::key).any(|key| call.live(key).is_some());
    if taken { Ok(read(Value::Int(0))) } else { Ok(wrote(Value::Int(1), effects)) }
}

fn pairs(call: &Call<'_>) -> Result<Vec<Record>, Refusal> {
    let pair = |pair: &[Bytes]| match pair {
        [key, value] => Ok(string(key, value, None)),
        _ => Err(Refusal::wrong_number()),
    };
    call.words[1..].chunks(2).map(pair).collect()
}

pub fn get_set(call: &Call<'_>) -> Answer {
    let old = call.string(call.key())?;
    Ok(wrote(bulk(old), vec![string(call.key(), call.word(2), None)]))
}

pub fn get_delete(call: &Call<'_>) -> Answer {
    let Some(old) = call.string(call.key())? else { return Ok(read(Value::Null)) };
    Ok(wrote(bulk(Some(old)), vec![Record::Delete { key: call.key().clone() }]))
}

pub fn get_expire(call: &Call<'_>) -> Answer {
    let expires = match &call.words[2..] {
        [] => None,
        [word] if word.eq_ignore_ascii_case(b"persist") => Some(None),
        [word, rest @ ..] if rest.len() < 2 => {
            let at = expiry::option(word, rest.first(), call.now_ms)?;
            Some(Some(at.ok_or_else(Refusal::syntax)?))
        }
        _ => return Err(Refusal::syntax()),
    };
    let Some(value) = call.string(call.key())? else { return Ok(read(Value::Null)) };
    let effect = expires.map(|expires| Record::Expire { key: call.key().clone(), expires });
    Ok(wrote(bulk(Some(value)), effect.into_iter().collect()))
}

/// 1 done, 0 another value is there, -1 none is.
pub fn compare_and_set(call: &Call<'_>) -> Answer {
    let expires = match &call.words[4..] {
        [] => None,
        [name, value] if name.len() == 2 => {
            let at = expiry::option(name, Some(value), call.now_ms)?;
            Some(at.ok_or_else(Refusal::syntax)?)
        }
        _ => return Err(Refusal::syntax()),
    };
    compared(call, string(call.key(), call.word(3), expires))
}

pub fn compare_and_delete(call: &Call<'_>) -> Answer {
    compared(call, Record::Delete { key: call.key().clone() })
}

fn compared(call: &Call<'_>, effect: Record) -> Answer {
    match call.string(call.key())? {
        None => Ok(read(Value::Int(-1))),
        Some(value) if value == call.word(2) => Ok(wrote(Value::Int(1), vec![effect])),
        Some(_) => Ok(read(Value::Int(0))),
    }
}

fn string(key: &Bytes, value: &Bytes, expires: Option<i64>) -> Record {
    Record::SetString { key: key.clone(), value: value.clone(), expires }
}
