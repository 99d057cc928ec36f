//! Sets and lists: a read lacks an element that had been acknowledged, and that was seen later.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Found, Stale, single_term, terms_of};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::elements::{Collection, Collections, Reading};
use crate::checker::kvrocks::evidence::Evidence;
use crate::op::Nanos;

/// The acknowledged elements of one term that somebody saw.
#[derive(Default)]
struct Acknowledged<'a> {
    /// In order of their ends.
    added: Vec<(i64, Answer<'a>)>,
    by_value: FxHashMap<i64, Nanos>,
    /// From when on each need not be seen any more, ascending: nobody saw it again.
    given_up: Vec<Nanos>,
}

pub(super) fn search<'a>(
    collections: &Collections<'a>,
    evidence: &Evidence,
    found: &mut Found<'a>,
) {
    for collection in collections.values() {
        search_collection(collection, evidence, found);
    }
}

fn search_collection<'a>(collection: &Collection<'a>, evidence: &Evidence, found: &mut Found<'a>) {
    let acknowledged = || collection.added.iter().filter_map(|added| added.answer.as_ref());
    let terms = terms_of(evidence, acknowledged());
    let mut last_seen: FxHashMap<i64, Nanos> = FxHashMap::default();
    for reading in &collection.readings {
        for value in &reading.values {
            let last = last_seen.entry(*value).or_default();
            *last = reading.answer.end.max(*last);
        }
    }
    let mut by_term: BTreeMap<usize, Acknowledged> = BTreeMap::new();
    for added in &collection.added {
        let Some((answer, seen)) = added.answer.zip(last_seen.get(&added.value)) else { continue };
        let Some(term) = single_term(&terms, &answer) else { continue };
        let known = by_term.entry(term).or_default();
        known.added.push((added.value, answer));
        known.by_value.insert(added.value, answer.end);
        known.given_up.push(answer.end.max(*seen));
    }
    for acknowledged in by_term.values_mut() {
        acknowledged.added.sort_by_key(|(_, answer)| answer.end);
        acknowledged.given_up.sort_unstable();
    }
    for reading in &collection.readings {
        let Some(term) = found.term(&terms, &reading.answer) else { continue };
        let stale = by_term.get(&term).and_then(|known| known.stale(reading, &last_seen));
        found.stale.extend(stale);
    }
}

impl<'a> Acknowledged<'a> {
    fn stale(&self, reading: &Reading<'a>, last_seen: &FxHashMap<i64, Nanos>) -> Option<Stale<'a>> {
        let start = reading.answer.start;
        let due = self.added.partition_point(|(_, answer)| answer.end < start);
        let given_up = self.given_up.partition_point(|moment| *moment < start);
        // What is read twice is seen once.
        let seen: FxHashSet<i64> = reading.values.iter().copied().collect();
        let is_due = |value: &&i64| self.by_value.get(*value).is_some_and(|end| *end < start);
        let behind = (due - given_up).checked_sub(seen.iter().filter(is_due).count())?;
        if behind == 0 {
            return None;
        }
        let lacks = |(value, _): &&(i64, Answer)| {
            !seen.contains(value) && last_seen.get(value).is_some_and(|last| *last >= start)
        };
        let (_, missed) = self.added[..due].iter().find(lacks)?;
        let late = start - missed.end;
        Some(Stale { read: reading.answer, missed: *missed, late, behind })
    }
}
