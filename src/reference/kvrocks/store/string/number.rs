//! Strings that are numbers.

use bytes::Bytes;

use super::changed;
use crate::reference::kvrocks::store::call::{Answer, Call, Refusal, wrote};
use crate::reference::kvrocks::store::number;
use crate::resp::Value;

pub fn increment(call: &Call<'_>) -> Answer {
    add(call, 1)
}

pub fn decrement(call: &Call<'_>) -> Answer {
    add(call, -1)
}

pub fn increment_by(call: &Call<'_>) -> Answer {
    add(call, number::argument(call.word(2))?)
}

pub fn decrement_by(call: &Call<'_>) -> Answer {
    let by = number::argument(call.word(2))?.checked_neg();
    add(call, by.ok_or_else(|| Refusal::err("decrement would overflow"))?)
}

fn add(call: &Call<'_>, by: i64) -> Answer {
    let old = match call.string(call.key())? {
        None => 0,
        Some(value) if value.is_empty() => 0,
        Some(value) => number::integer(value)
            .ok_or_else(|| Refusal::invalid("value is not an integer or out of range"))?,
    };
    let sum = old
        .checked_add(by)
        .ok_or_else(|| Refusal::invalid("increment or decrement would overflow"))?;
    Ok(wrote(Value::Int(sum), vec![changed(call, Bytes::from(sum.to_string()))?]))
}

/// The reply has as many digits as are needed, what is stored has six behind the point.
pub fn increment_float(call: &Call<'_>) -> Answer {
    let by =
        number::float(call.word(2)).ok_or_else(|| Refusal::err("value is not a valid float"))?;
    let old = match call.string(call.key())? {
        None => 0.0,
        Some(value) if value.is_empty() => 0.0,
        Some(value) => {
            number::float(value).ok_or_else(|| Refusal::invalid("value is not a number"))?
        }
    };
    let sum = old + by;
    if !sum.is_finite() {
        return Err(Refusal::invalid("increment would produce NaN or Infinity"));
    }
    let stored = Bytes::from(format!("{sum:.6}"));
    Ok(wrote(Value::bulk(number::shortest(sum)), vec![changed(call, stored)?]))
}
