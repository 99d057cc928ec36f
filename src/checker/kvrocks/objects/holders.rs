//! Locks that expire: while one is surely held nobody else gets it.
//!
//! The time of a lock begins at its server after the server was asked, so by a sound clock it lasts at least
//! until that long after it was asked for, unless its owner gives it back.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::breach::{Breach, Found};
use super::within::{KeyTerms, Relation, relation};
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::wording::{milliseconds, seconds};
use crate::op::{Event, Key, Kind, MILLISECOND, Nanos, Value};

/// Of a thousand parts of its time a lock may lack one: clocks are slewed. And servers count in whole
/// milliseconds.
const SLEW: Nanos = 1_000;
const GRAIN: Nanos = MILLISECOND;

/// A lock that was taken: surely held from the end of its answer until then.
#[derive(Clone, Copy)]
struct Held<'a> {
    owner: i64,
    taken: Answer<'a>,
    until: Nanos,
}

pub(super) fn search(pairs: &[Pair], evidence: &Evidence, ttl: Nanos, found: &mut Found) {
    let lasts = ttl.saturating_sub(ttl / SLEW + GRAIN);
    for (key, held) in locks(pairs, lasts) {
        found.judged += held.len();
        let terms = KeyTerms::of(evidence, held.iter().map(|held| &held.taken));
        for (position, second) in held.iter().enumerate() {
            let Some((relation, first)) = conflict(&held[..position], second, &terms) else {
                continue;
            };
            found.judge("two-holders", relation, || told(key, &first, second, ttl));
        }
    }
}

/// By key, in order of the ends of their answers.
fn locks<'a>(pairs: &[Pair<'a>], lasts: Nanos) -> BTreeMap<&'a Key, Vec<Held<'a>>> {
    let released = releases(pairs);
    let mut locks: BTreeMap<&Key, Vec<Held>> = BTreeMap::new();
    for pair in pairs {
        let invocation: &Event = pair.0;
        let ("acquire", Some(key), Value::Int(owner), Some(taken)) =
            (&*invocation.f, &invocation.key, &invocation.value, Answer::of(pair))
        else {
            continue;
        };
        let ends = taken.start.saturating_add(lasts);
        let until = released.get(&(key, *owner)).map_or(ends, |released| ends.min(*released));
        locks.entry(key).or_default().push(Held { owner: *owner, taken, until });
    }
    locks.values_mut().for_each(|held| held.sort_by_key(|held| held.taken.end));
    locks
}

/// When the owner of a lock first asked for its release, unless that surely did not happen.
fn releases<'a>(pairs: &[Pair<'a>]) -> FxHashMap<(&'a Key, i64), Nanos> {
    let mut released = FxHashMap::default();
    for (invocation, completion) in pairs {
        let is_refused = completion.is_some_and(|event| event.kind == Kind::Fail);
        if let ("release", Some(key), Value::Int(owner), false) =
            (&*invocation.f, &invocation.key, &invocation.value, is_refused)
        {
            let first = released.entry((key, *owner)).or_insert(invocation.time);
            *first = invocation.time.min(*first);
        }
    }
    released
}

/// A lock that was surely held while another got it; the one that a failover explains least.
fn conflict<'a>(
    before: &[Held<'a>],
    second: &Held<'a>,
    terms: &KeyTerms,
) -> Option<(Relation, Held<'a>)> {
    let own = terms.place(&second.taken);
    let held = |first: &&Held| {
        first.taken.end < second.taken.start
            && second.taken.end < first.until
            && first.owner != second.owner
    };
    let conflicts = before.iter().filter(held).map(|first| {
        let relation = relation(&terms.place(&first.taken), &own);
        (relation, *first)
    });
    conflicts.min_by_key(|(relation, first)| {
        let rank = [Relation::Same, Relation::Open, Relation::Apart];
        (rank.iter().position(|one| one == relation), first.taken.end)
    })
}

fn told(key: &Key, first: &Held, second: &Held, ttl: Nanos) -> Breach {
    let [one, other] = [&first.taken, &second.taken];
    let summary = format!(
        "lock {key} had two holders: {} gave it to process {} (owner {}) by {} for {} ms, so it was held until {} at least, and {} gave it to process {} (owner {}) between {} and {}",
        one.node,
        one.invocation.process,
        first.owner,
        seconds(one.end),
        milliseconds(ttl),
        seconds(first.until),
        other.node,
        other.invocation.process,
        second.owner,
        seconds(other.start),
        seconds(other.end)
    );
    Breach::new(key, summary, &[one, other])
}
