//! Commands on keys of any type.

use std::collections::BTreeSet;

use super::call::{Answer, Call, Refusal, int, read, wrote};
use super::{Record, dump};
use crate::resp::Value;

pub fn exists(call: &Call<'_>) -> Answer {
    let there = call.words[1..].iter().filter(|key| call.live(key).is_some());
    Ok(read(int(there.count())))
}

pub fn type_name(call: &Call<'_>) -> Answer {
    let name = call.live(call.key()).map_or("none", |entry| entry.content.type_name());
    Ok(read(Value::Simple(name.to_owned())))
}

pub fn delete(call: &Call<'_>) -> Answer {
    let keys: BTreeSet<_> = call.words[1..].iter().collect();
    let there = keys.into_iter().filter(|key| call.live(key).is_some());
    let effects: Vec<Record> = there.map(|key| Record::Delete { key: key.clone() }).collect();
    Ok(wrote(int(effects.len()), effects))
}

pub fn rename(call: &Call<'_>) -> Answer {
    Ok(wrote(Value::ok(), moved(call)?))
}

pub fn rename_new(call: &Call<'_>) -> Answer {
    if call.live(call.word(2)).is_some() && call.live(call.word(1)).is_some() {
        return Ok(read(Value::Int(0)));
    }
    Ok(wrote(Value::Int(1), moved(call)?))
}

fn moved(call: &Call<'_>) -> Result<Vec<Record>, Refusal> {
    let (from, to) = (call.word(1), call.word(2));
    let entry = call.live(from).ok_or_else(|| Refusal::err("no such key"))?;
    if from == to {
        return Ok(Vec::new());
    }
    let mut effects = vec![Record::Delete { key: to.clone() }];
    effects.extend(dump::entry_records(to, entry));
    effects.push(Record::Delete { key: from.clone() });
    Ok(effects)
}
