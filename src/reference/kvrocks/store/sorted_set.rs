//! Commands on sorted sets: few, and without options.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::call::{Answer, Call, Refusal, int, read, wrote};
use super::{Record, number};
use crate::resp::Value;

pub fn score(call: &Call<'_>) -> Answer {
    let score = call.sorted_set(call.key())?.and_then(|set| set.get(call.word(2)));
    Ok(read(score.map_or(Value::Null, |score| Value::bulk(number::shortest(*score)))))
}

pub fn count(call: &Call<'_>) -> Answer {
    Ok(read(int(call.sorted_set(call.key())?.map_or(0, BTreeMap::len))))
}

/// By rank only.
pub fn range(call: &Call<'_>) -> Answer {
    let (start, stop) = (number::argument(call.word(2))?, number::argument(call.word(3))?);
    let with_scores = match &call.words[4..] {
        [] => false,
        [word] if word.eq_ignore_ascii_case(b"withscores") => true,
        _ => return Err(Refusal::syntax()),
    };
    let mut members: Vec<(&Bytes, f64)> = match call.sorted_set(call.key())? {
        Some(set) => set.iter().map(|(member, score)| (member, *score)).collect(),
        None => Vec::new(),
    };
    members.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(b.0)));
    let mut reply = Vec::new();
    for (member, score) in &members[number::span(start, stop, members.len())] {
        reply.push(Value::Bulk((*member).clone()));
        if with_scores {
            reply.push(Value::bulk(number::shortest(*score)));
        }
    }
    Ok(read(Value::Array(reply)))
}

/// How many members are new.
pub fn add(call: &Call<'_>) -> Answer {
    if !call.words.len().is_multiple_of(2) {
        return Err(Refusal::syntax());
    }
    let mut new: BTreeMap<&Bytes, f64> = BTreeMap::new();
    for pair in call.words[2..].chunks_exact(2) {
        let score = number::float(&pair[0]);
        new.insert(&pair[1], score.ok_or_else(|| Refusal::err("score is not a valid float"))?);
    }
    let old = call.sorted_set(call.key())?;
    let there = |member: &Bytes| old.and_then(|set| set.get(member));
    let added = new.keys().filter(|member| there(member).is_none()).count();
    new.retain(|member, score| there(member) != Some(score));
    let key = call.key();
    let mut effects = call.before_new(key);
    effects.extend(new.into_iter().map(|(member, score)| Record::SortedSetPut {
        key: key.clone(),
        member: member.clone(),
        score,
    }));
    Ok(wrote(int(added), effects))
}

pub fn remove(call: &Call<'_>) -> Answer {
    let members: BTreeSet<&Bytes> = call.words[2..].iter().collect();
    let Some(set) = call.sorted_set(call.key())? else { return Ok(read(Value::Int(0))) };
    let key = call.key();
    let there = members.into_iter().filter(|member| set.contains_key(*member));
    let effects: Vec<Record> = there
        .map(|member| Record::SortedSetRemove { key: key.clone(), member: member.clone() })
        .collect();
    Ok(wrote(int(effects.len()), effects))
}
