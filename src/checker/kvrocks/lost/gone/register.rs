//! Registers of different values: a write is gone if the final value goes back, step by step, to
//! something that was there before the write and was still there after it.
//!
//! Each step is a stretch of time: an older value had surely been written before it, and after it was
//! still what the next compare-and-set replaced. What was written and acknowledged wholly within a step is
//! not in the final value's past, and never will be.

use super::{Gone, Search, orphan};
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::registers::{Register, registers};
use crate::op::{Key, Nanos};
use std::collections::BTreeSet;

/// Steps back from the final value at most.
const STEPS_MAX: usize = 10_000;

pub(super) fn search<'a>(
    pairs: &[Pair<'a>],
    drain: Nanos,
    evidence: &Evidence,
    search: &mut Search<'a>,
) {
    for (key, register) in &registers(pairs) {
        let acknowledged = register.acknowledged();
        if acknowledged.is_empty() {
            continue;
        }
        let sights = Sights::of(register);
        for (read, value) in &register.reads {
            let write = value.and_then(|value| register.written.get(&value)?.answer);
            let elsewhere = write.filter(|write| write.node != read.node);
            search.survived.extend(elsewhere.map(|write| (write, *read)));
        }
        let last = register.reads.iter().filter(|(read, _)| read.start >= drain);
        let last = last.max_by_key(|(read, _)| read.start).filter(|_| !register.is_ambiguous);
        let Some((read, value)) = last else {
            search.unjudged += 1;
            continue;
        };
        search.acknowledged += acknowledged.len();
        search.keys += 1;
        let found = unseen_within(register, &acknowledged, (*read, *value), &sights);
        let mut found: Vec<_> = found.into_iter().map(|(value, w)| (value, w, *read)).collect();
        let known: BTreeSet<i64> = found.iter().map(|(value, ..)| *value).collect();
        let orphans = orphan::search(register, &acknowledged, evidence);
        found.extend(orphans.into_iter().filter(|(value, ..)| !known.contains(value)));
        search.certain.extend(found.into_iter().map(|(value, write, proof)| Gone {
            key: Key::clone(key),
            write,
            what: format!("{} {value} of key {key}", write.invocation.f),
            proof,
        }));
    }
}

/// For each value the read that saw it and ended last.
struct Sights<'a>(rustc_hash::FxHashMap<i64, Answer<'a>>);

impl<'a> Sights<'a> {
    fn of(register: &Register<'a>) -> Sights<'a> {
        let mut sights = Sights(Default::default());
        for (read, value) in &register.reads {
            let Some(value) = value else { continue };
            let known = sights.0.entry(*value).or_insert(*read);
            if known.end < read.end {
                *known = *read;
            }
        }
        sights
    }

    fn last(&self, value: i64) -> Option<Answer<'a>> {
        self.0.get(&value).copied()
    }
}

/// Acknowledged writes that lie wholly within a step and were not seen again.
fn unseen_within<'a>(
    register: &Register<'a>,
    acknowledged: &[(i64, Answer<'a>)],
    (read, value): (Answer<'a>, Option<i64>),
    sights: &Sights<'a>,
) -> Vec<(i64, Answer<'a>)> {
    let mut gone = Vec::new();
    for (after, before) in steps(register, value, read.start) {
        let first = acknowledged.partition_point(|(_, write)| write.start <= after);
        let within = acknowledged[first..].iter().take_while(|(_, write)| write.start < before);
        gone.extend(within.filter(|(written, write)| {
            let alive = sights.last(*written).is_some_and(|seen| seen.end >= read.start);
            write.end < before && Some(*written) != value && !alive
        }));
    }
    gone.sort_by_key(|(value, write)| (write.invocation.index, *value));
    gone.dedup_by_key(|(value, _)| *value);
    gone
}

/// Stretches of time in which one value was there all along, in the past of this value.
fn steps(register: &Register, mut value: Option<i64>, mut until: Nanos) -> Vec<(Nanos, Nanos)> {
    let mut steps = Vec::new();
    while steps.len() < STEPS_MAX {
        let Some(since) = register.since(value) else { break };
        if since < until {
            steps.push((since, until));
        }
        // Nobody knows what a plain write replaced.
        let Some(written) = value.and_then(|value| register.written.get(&value)) else { break };
        let Some(replaced) = written.replaced else { break };
        value = Some(replaced);
        until = written.answer.map_or(written.invocation.time, |answer| answer.start);
    }
    steps
}
