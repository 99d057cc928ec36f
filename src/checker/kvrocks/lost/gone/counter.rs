//! Counters: of several increments that answered the same count only one can have lasted, and none
//! that answered more than the final count.

use std::collections::BTreeMap;

use super::{Gone, Search};
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::counters::counters;
use crate::op::{Key, Nanos};

pub(super) fn search<'a>(pairs: &[Pair<'a>], drain: Nanos, search: &mut Search<'a>) {
    for (key, counter) in counters(pairs) {
        if counter.increments.is_empty() {
            continue;
        }
        let last = counter.reads.iter().filter(|read| read.answer.start >= drain);
        // A final read of less was stale, or what it lacks would not have come back.
        let Some(last) = last.max_by_key(|read| read.count) else {
            search.unjudged += 1;
            continue;
        };
        search.acknowledged += counter.increments.len();
        search.keys += 1;
        let proof = last.answer;
        let gone = |write: Answer<'a>, count: i64| {
            let what = format!("increment of key {key} to {count}");
            Gone { key: Key::clone(key), write, what, proof }
        };
        let mut same: BTreeMap<i64, Vec<Gone>> = BTreeMap::new();
        for increment in &counter.increments {
            let lasted = increment.answer.end >= proof.start;
            match increment.count > last.count && !lasted {
                true => search.certain.push(gone(increment.answer, increment.count)),
                false => same
                    .entry(increment.count)
                    .or_default()
                    .push(gone(increment.answer, increment.count)),
            }
        }
        search.all_but_one.extend(same.into_values().filter(|group| group.len() > 1));
    }
}
