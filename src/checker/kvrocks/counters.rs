//! Counters that only grow, by one.

use std::collections::BTreeMap;

use super::answers::{Answer, Pair};
use crate::op::{Key, Kind, Nanos, Value};

/// An answer that told a count: of an increment, the count after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count<'a> {
    pub count: i64,
    pub answer: Answer<'a>,
}

/// All that concerns one counter.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter<'a> {
    /// Acknowledged increments, in order of invocation.
    pub increments: Vec<Count<'a>>,
    pub reads: Vec<Count<'a>>,
    /// When each increment that may have happened was invoked, ascending.
    pub invoked: Vec<Nanos>,
}

pub(super) fn counters<'a>(pairs: &[Pair<'a>]) -> BTreeMap<&'a Key, Counter<'a>> {
    let mut counters: BTreeMap<&Key, Counter> = BTreeMap::new();
    for pair in pairs {
        let (invocation, completion) = *pair;
        let Some(key) = invocation.key.as_ref() else { continue };
        let is_increment = &*invocation.f == "incr";
        if !is_increment && &*invocation.f != "read" {
            continue;
        }
        let counter = counters.entry(key).or_default();
        if is_increment && completion.is_none_or(|event| event.kind != Kind::Fail) {
            counter.invoked.push(invocation.time);
        }
        let Some(answer) = Answer::of(pair) else { continue };
        let count = match answer.completion.value {
            Value::Int(count) => count,
            // A counter that nobody incremented is not there.
            Value::Nil if !is_increment => 0,
            _ => continue,
        };
        let told = Count { count, answer };
        match is_increment {
            true => counter.increments.push(told),
            false => counter.reads.push(told),
        }
    }
    counters
}
