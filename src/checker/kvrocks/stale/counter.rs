//! Counters: a read shows less than what somebody had been told before.

use std::collections::BTreeMap;

use super::{Found, Stale, single_term, terms_of};
use crate::checker::kvrocks::answers::Pair;
use crate::checker::kvrocks::counters::{Count, counters};
use crate::checker::kvrocks::evidence::Evidence;

pub(super) fn search<'a>(pairs: &[Pair<'a>], evidence: &Evidence, found: &mut Found<'a>) {
    for counter in counters(pairs).values() {
        let all = || counter.increments.iter().chain(&counter.reads);
        let terms = terms_of(evidence, all().map(|told| &told.answer));
        // Of each term those answers, in order of their ends, that told more than all before.
        let mut records: BTreeMap<usize, Vec<Count>> = BTreeMap::new();
        let mut told: Vec<&Count> = all().collect();
        told.sort_by_key(|told| told.answer.end);
        for told in told {
            let Some(term) = single_term(&terms, &told.answer) else { continue };
            let records = records.entry(term).or_default();
            if records.last().is_none_or(|last| last.count < told.count) {
                records.push(*told);
            }
        }
        for read in &counter.reads {
            let Some(term) = found.term(&terms, &read.answer) else { continue };
            let known = records.get(&term).map_or(&[][..], Vec::as_slice);
            let over = known.partition_point(|record| record.answer.end < read.answer.start);
            let Some(last) = known[..over].last() else { continue };
            let Ok(behind @ 1..) = usize::try_from(last.count - read.count) else { continue };
            let first = known.partition_point(|record| record.count <= read.count);
            let missed = known[first].answer;
            let late = read.answer.start - missed.end;
            found.stale.push(Stale { read: read.answer, missed, late, behind });
        }
    }
}
