//! When keys end.

use bytes::Bytes;

use super::call::{Answer, Call, Refusal, read, wrote};
use super::{Record, number};
use crate::resp::Value;

/// In seconds, rounded down; -1 for ever, -2 no such key.
pub fn ttl(call: &Call<'_>) -> Answer {
    left(call, |ms| ms / 1000)
}

pub fn pttl(call: &Call<'_>) -> Answer {
    left(call, |ms| ms)
}

pub fn expire_time(call: &Call<'_>) -> Answer {
    end(call, |at| at / 1000)
}

pub fn pexpire_time(call: &Call<'_>) -> Answer {
    end(call, |at| at)
}

pub fn expire(call: &Call<'_>) -> Answer {
    let seconds = strict(call.word(2))?;
    end_at(call, seconds.saturating_mul(1000).saturating_add(call.now_ms))
}

pub fn pexpire(call: &Call<'_>) -> Answer {
    let ms = strict(call.word(2))?;
    end_at(call, ms.saturating_add(call.now_ms))
}

pub fn expire_at(call: &Call<'_>) -> Answer {
    let seconds = number::argument(call.word(2))?;
    end_at(call, seconds.saturating_mul(1000))
}

pub fn pexpire_at(call: &Call<'_>) -> Answer {
    let at = number::argument(call.word(2))?;
    end_at(call, at)
}

pub fn persist(call: &Call<'_>) -> Answer {
    match call.live(call.key()) {
        Some(entry) if entry.expires.is_some() => {
            let record = Record::Expire { key: call.key().clone(), expires: None };
            Ok(wrote(Value::Int(1), vec![record]))
        }
        _ => Ok(read(Value::Int(0))),
    }
}

fn left(call: &Call<'_>, unit: fn(i64) -> i64) -> Answer {
    end(call, |at| at).map(|mut executed| {
        if let Value::Int(at @ 0..) = executed.reply {
            executed.reply = Value::Int(unit(at.saturating_sub(call.now_ms)));
        }
        executed
    })
}

fn end(call: &Call<'_>, unit: fn(i64) -> i64) -> Answer {
    let at = call.live(call.key()).map(|entry| entry.expires);
    Ok(read(Value::Int(match at {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => unit(at),
    })))
}

fn end_at(call: &Call<'_>, at: i64) -> Answer {
    if call.live(call.key()).is_none() {
        return Ok(read(Value::Int(0)));
    }
    let record = Record::Expire { key: call.key().clone(), expires: Some(at) };
    Ok(wrote(Value::Int(1), vec![record]))
}

fn strict(word: &[u8]) -> Result<i64, Refusal> {
    number::integer(word).ok_or_else(|| Refusal::err(number::parse_error(word)))
}

/// The time of day of `EX 10`, `PXAT 1795958386461` and the like; `None` if the first word is none of
/// these options.
pub fn option(name: &[u8], value: Option<&Bytes>, now_ms: i64) -> Result<Option<i64>, Refusal> {
    let option = name.to_ascii_uppercase();
    let (unit, from) = match option.as_slice() {
        b"EX" => (1000, now_ms),
        b"PX" => (1, now_ms),
        b"EXAT" => (1000, 0),
        b"PXAT" => (1, 0),
        _ => return Ok(None),
    };
    let value = value.ok_or_else(|| Refusal::err("no more item to parse"))?;
    match strict(value)? {
        time @ 1.. => Ok(Some(time.saturating_mul(unit).saturating_add(from))),
        _ => Err(Refusal::err("out of numeric range")),
    }
}
