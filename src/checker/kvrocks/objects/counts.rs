//! Counters that grow by one: whether all counts that were told can have been.
//!
//! Within one term the count `c` is reached at one moment: within the increment that was answered `c`, or
//! else within one whose fate nobody knows; before the end of every answer of `c` or more. Going up the
//! counts, the earliest moments that will do either fit all answers, or no order does. A read of less than
//! what had been told is stale, and told by the checker of stale reads.

mod climb;

use std::collections::BTreeMap;

use super::breach::{Breach, Found};
use super::within::{KeyTerms, relation};
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::counters::{Count, Counter, counters};
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::wording::{counted, seconds, what};
use crate::op::{Event, Key, Kind};
use climb::{Climb, Fault};

pub(super) fn search(pairs: &[Pair], evidence: &Evidence, found: &mut Found) {
    let mut unknown: BTreeMap<&Key, Vec<&Event>> = BTreeMap::new();
    for pair in pairs.iter().filter(|(invocation, _)| &*invocation.f == "incr") {
        let is_refused = pair.1.is_some_and(|event| event.kind == Kind::Fail);
        if let Some(key) = pair.0.key.as_ref()
            && !is_refused
            && Answer::of(pair).is_none()
        {
            unknown.entry(key).or_default().push(pair.0);
        }
    }
    for (key, counter) in counters(pairs) {
        let unknown = unknown.get(key).map_or(&[][..], Vec::as_slice);
        search_key(key, &counter, unknown, evidence, found);
    }
}

fn search_key(
    key: &Key,
    counter: &Counter,
    unknown: &[&Event],
    evidence: &Evidence,
    found: &mut Found,
) {
    let all = || counter.increments.iter().chain(&counter.reads);
    let terms = KeyTerms::of(evidence, all().map(|told| &told.answer));
    found.judged += all().count();
    let mut climbs: Vec<Climb> = (0..terms.count()).map(Climb::of_term).collect();
    for increment in &counter.increments {
        match terms.single(&increment.answer) {
            Some(term) => climbs[term].increments.push(*increment),
            // It happened in one of these.
            None => {
                for term in terms.place(&increment.answer) {
                    climbs[term].unknown.push(increment.answer.invocation);
                }
            }
        }
    }
    for read in &counter.reads {
        if let Some(term) = terms.single(&read.answer) {
            climbs[term].reads.push(*read);
        }
    }
    let mut sound = true;
    for mut climb in climbs {
        climb.unknown.extend(unknown);
        if let Some(fault) = climb.fault() {
            sound = false;
            let (kind, breach) = told(key, &fault);
            found.add(kind, || breach);
        }
    }
    if terms.count() > 1 && sound {
        across_terms(key, counter, &terms, found);
    }
}

/// Whatever failovers there were, a counter never exceeds the increments that were asked for. And counts
/// that were answered twice were so because of them.
fn across_terms(key: &Key, counter: &Counter, terms: &KeyTerms, found: &mut Found) {
    for told in counter.increments.iter().chain(&counter.reads) {
        let asked = counter.invoked.partition_point(|invoked| *invoked <= told.answer.end);
        if told.count > asked as i64 {
            let fault = Fault::TooMany { told: *told, needed: 0, asked };
            let (kind, breach) = self::told(key, &fault);
            found.add(kind, || breach);
        }
    }
    let mut by_count: BTreeMap<i64, Vec<&Count>> = BTreeMap::new();
    for increment in &counter.increments {
        by_count.entry(increment.count).or_default().push(increment);
    }
    for same in by_count.values() {
        for two in same.windows(2) {
            let relation = relation(&terms.place(&two[0].answer), &terms.place(&two[1].answer));
            let fault = Fault::Twice { one: *two[0], other: *two[1] };
            let (kind, breach) = self::told(key, &fault);
            found.judge(kind, relation, || breach);
        }
    }
}

fn told(key: &Key, fault: &Fault) -> (&'static str, Breach) {
    match fault {
        Fault::Twice { one, other } => {
            let [first, second] = [&one.answer, &other.answer];
            let summary = format!(
                "two increments of key {key} were both answered {}: by {} at {} and by {} at {}",
                one.count,
                first.node,
                seconds(first.end),
                second.node,
                seconds(second.end)
            );
            ("duplicate-count", Breach::new(key, summary, &[first, second]))
        }
        Fault::Backward { before, increment } => {
            let [first, second] = [&before.answer, &increment.answer];
            let summary = format!(
                "{} answered {} to an increment of key {key} that was asked for at {}, though {} had told {} by {} ({})",
                second.node,
                increment.count,
                seconds(second.start),
                first.node,
                before.count,
                seconds(first.end),
                what(first.invocation)
            );
            ("backward-count", Breach::new(key, summary, &[first, second]))
        }
        Fault::TooMany { told, needed, asked } => {
            let answer = &told.answer;
            let why = match needed {
                0 => format!("only {} had been asked for by then", counted(*asked, "increment")),
                needed => format!(
                    "{} up to there nobody was told of, and of unknown fate were only {} by then",
                    counted(*needed, "count"),
                    counted(*asked, "increment")
                ),
            };
            let summary = format!(
                "{} told {} of key {key} at {}, but {why}",
                answer.node,
                told.count,
                seconds(answer.end)
            );
            ("impossible-count", Breach::new(key, summary, &[answer]))
        }
    }
}
