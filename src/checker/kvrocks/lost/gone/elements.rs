//! Elements of sets and lists: nothing takes them away, so one that a final read lacks is gone.

use rustc_hash::FxHashMap;

use super::{Gone, Search};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::elements::{Collection, Collections};
use crate::op::{Key, Nanos};

pub(super) fn search<'a>(collections: Collections<'a>, drain: Nanos, search: &mut Search<'a>) {
    for (key, collection) in &collections {
        let acknowledged: Vec<(i64, Answer)> =
            collection.added.iter().filter_map(|a| Some((a.value, a.answer?))).collect();
        if acknowledged.is_empty() {
            continue;
        }
        search_key(key, collection, &acknowledged, drain, search);
    }
}

fn search_key<'a>(
    key: &Key,
    collection: &Collection<'a>,
    acknowledged: &[(i64, Answer<'a>)],
    drain: Nanos,
    search: &mut Search<'a>,
) {
    let last = collection.readings.iter().filter(|reading| reading.answer.start >= drain);
    let Some(last) = last.max_by_key(|reading| reading.answer.start) else {
        search.unjudged += 1;
        return;
    };
    search.acknowledged += acknowledged.len();
    search.keys += 1;
    let written: FxHashMap<i64, Answer> = acknowledged.iter().copied().collect();
    // For each element the last read that saw it.
    let mut seen: FxHashMap<i64, Answer> = FxHashMap::default();
    let mut elsewhere: FxHashMap<i64, Answer> = FxHashMap::default();
    for reading in &collection.readings {
        for value in &reading.values {
            let known = seen.entry(*value).or_insert(reading.answer);
            if known.end < reading.answer.end {
                *known = reading.answer;
            }
            if written.get(value).is_some_and(|write| write.node != reading.answer.node) {
                elsewhere.entry(*value).or_insert(reading.answer);
            }
        }
    }
    let survived = elsewhere.into_iter().map(|(value, read)| (written[&value], read));
    search.survived.extend(survived);
    for (value, write) in acknowledged {
        let sight = seen.get(value);
        let lacks =
            write.end < last.answer.start && sight.is_none_or(|read| read.end < last.answer.start);
        if lacks {
            let (key, what) = (key.clone(), format!("element {value} of key {key}"));
            search.certain.push(Gone { key, write: *write, what, proof: last.answer });
        }
    }
}
