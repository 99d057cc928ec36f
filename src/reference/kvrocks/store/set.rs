//! Commands on sets.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::Record;
use super::call::{Answer, Call, int, read, wrote};
use crate::resp::Value;

type Set = BTreeSet<Bytes>;

pub fn members(call: &Call<'_>) -> Answer {
    let members = call.set(call.key())?.into_iter().flatten();
    Ok(read(Value::Array(members.cloned().map(Value::Bulk).collect())))
}

pub fn is_member(call: &Call<'_>) -> Answer {
    let there = call.set(call.key())?.is_some_and(|set| set.contains(call.word(2)));
    Ok(read(Value::Int(there.into())))
}

pub fn are_members(call: &Call<'_>) -> Answer {
    let set = call.set(call.key())?;
    let there = |member: &Bytes| Value::Int(set.is_some_and(|set| set.contains(member)).into());
    Ok(read(Value::Array(call.words[2..].iter().map(there).collect())))
}

pub fn count(call: &Call<'_>) -> Answer {
    Ok(read(int(call.set(call.key())?.map_or(0, Set::len))))
}

/// How many members are new.
pub fn add(call: &Call<'_>) -> Answer {
    let old = call.set(call.key())?;
    let mut new: BTreeSet<&Bytes> = call.words[2..].iter().collect();
    new.retain(|member| old.is_none_or(|set| !set.contains(*member)));
    let count = new.len();
    let mut effects = if count > 0 { call.before_new(call.key()) } else { Vec::new() };
    let key = call.key();
    effects.extend(
        new.into_iter().map(|member| Record::SetAdd { key: key.clone(), member: member.clone() }),
    );
    Ok(wrote(int(count), effects))
}

pub fn remove(call: &Call<'_>) -> Answer {
    let members: BTreeSet<&Bytes> = call.words[2..].iter().collect();
    let Some(set) = call.set(call.key())? else { return Ok(read(Value::Int(0))) };
    let key = call.key();
    let there = members.into_iter().filter(|member| set.contains(*member));
    let effects: Vec<Record> = there
        .map(|member| Record::SetRemove { key: key.clone(), member: member.clone() })
        .collect();
    Ok(wrote(int(effects.len()), effects))
}
