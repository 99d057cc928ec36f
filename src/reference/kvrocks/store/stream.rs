//! Commands on streams: few, and without options.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::call::{Answer, Call, Refusal, int, read, wrote};
use super::{Record, StreamId, number};
use crate::resp::Value;

const TOO_SMALL: &str =
    "The ID specified in XADD is equal or smaller than the target stream top item";

pub fn length(call: &Call<'_>) -> Answer {
    Ok(read(int(call.stream(call.key())?.map_or(0, BTreeMap::len))))
}

pub fn range(call: &Call<'_>) -> Answer {
    let first = bound(call.word(2), b"-", 0)?;
    let last = bound(call.word(3), b"+", u64::MAX)?;
    let most = match &call.words[4..] {
        [] => usize::MAX,
        [word, count] if word.eq_ignore_ascii_case(b"count") => {
            usize::try_from(number::argument(count)?).unwrap_or(0)
        }
        _ => return Err(Refusal::syntax()),
    };
    let Some(stream) = call.stream(call.key())?.filter(|_| first <= last) else {
        return Ok(read(Value::Array(Vec::new())));
    };
    let entries = stream.range(first..=last).take(most).map(|(id, fields)| {
        let fields = fields.iter().cloned().map(Value::Bulk).collect();
        Value::Array(vec![Value::bulk(id.to_string()), Value::Array(fields)])
    });
    Ok(read(Value::Array(entries.collect())))
}

/// An end of a range: `-` and `+` are the outermost, and so is the number that an id leaves out.
fn bound(word: &Bytes, outermost: &[u8], number: u64) -> Result<StreamId, Refusal> {
    if word.as_ref() == outermost {
        return Ok(StreamId { ms: number, number });
    }
    parse(word).map(|(ms, given)| StreamId { ms, number: given.unwrap_or(number) })
}

fn parse(word: &[u8]) -> Result<(u64, Option<u64>), Refusal> {
    let parts = || {
        let text = std::str::from_utf8(word).ok()?;
        match text.split_once('-') {
            Some((ms, number)) => Some((ms.parse().ok()?, Some(number.parse().ok()?))),
            None => Some((text.parse().ok()?, None)),
        }
    };
    let invalid = "Invalid stream ID specified as stream command argument";
    parts().ok_or_else(|| Refusal::err(invalid))
}

pub fn add(call: &Call<'_>) -> Answer {
    if call.words.len().is_multiple_of(2) {
        return Err(Refusal::wrong_number());
    }
    let top = call.stream(call.key())?.and_then(|stream| stream.keys().next_back());
    let behind = |ms: u64| match top {
        Some(top) if top.ms >= ms => StreamId { ms: top.ms, number: top.number.wrapping_add(1) },
        _ => StreamId { ms, number: u64::from(ms == 0) },
    };
    let id = match call.word(2).as_ref() {
        b"*" => behind(u64::try_from(call.now_ms).unwrap_or(0)),
        word => {
            let (ms, number) = parse(word)?;
            StreamId { ms, number: number.unwrap_or(0) }
        }
    };
    if id == (StreamId { ms: 0, number: 0 }) {
        return Err(Refusal::err("The ID specified in XADD must be greater than 0-0"));
    }
    if top.is_some_and(|top| id <= *top) {
        return Err(Refusal::invalid(TOO_SMALL));
    }
    let mut effects = call.before_new(call.key());
    let fields = call.words[3..].to_vec();
    effects.push(Record::StreamAdd { key: call.key().clone(), id, fields });
    Ok(wrote(Value::bulk(id.to_string()), effects))
}
