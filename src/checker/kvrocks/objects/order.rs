//! Lists only grow at their end, so what stands before an element never changes: wherever an element is seen,
//! the same stands before it. And within a term two different elements never follow the same one.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::breach::{Breach, Found};
use super::deeds::Deed;
use super::within::{KeyTerms, Place, Relation, relation};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::wording::seconds;
use crate::op::Key;

const KIND: &str = "incompatible-order";

/// The elements that follow one, and who saw them: one of each place is enough.
type Followers = BTreeMap<i64, Vec<(Place, usize)>>;

/// What somebody saw of a list.
struct Sight<'d, 'a> {
    answer: &'d Answer<'a>,
    values: &'d [i64],
    is_stale: bool,
}

pub(super) fn search(deeds: &[Deed], evidence: &Evidence, found: &mut Found) {
    let mut keys: BTreeMap<&Key, Vec<Sight>> = BTreeMap::new();
    for deed in deeds {
        for (answer, key, values) in deed.sights() {
            // What is there twice has no place; it is told of elsewhere.
            let distinct: FxHashSet<i64> = values.iter().copied().collect();
            if distinct.len() == values.len() {
                let sight = Sight { answer, values, is_stale: deed.is_stale };
                keys.entry(key).or_default().push(sight);
            }
        }
    }
    for (key, sights) in keys {
        search_key(key, &sights, evidence, found);
    }
}

fn search_key(key: &Key, sights: &[Sight], evidence: &Evidence, found: &mut Found) {
    let terms = KeyTerms::of(evidence, sights.iter().map(|sight| sight.answer));
    let mut before: FxHashMap<i64, (Option<i64>, usize)> = FxHashMap::default();
    let mut after: BTreeMap<Option<i64>, Followers> = BTreeMap::new();
    for (number, sight) in sights.iter().enumerate() {
        let place = match sight.is_stale {
            true => terms.anywhere(),
            false => terms.place(sight.answer),
        };
        let mut last = None;
        for value in sight.values {
            let (known, by) = *before.entry(*value).or_insert((last, number));
            if known != last {
                found.add(KIND, || moved(key, *value, &sights[by], sight));
                break;
            }
            let seen = after.entry(last).or_default().entry(*value).or_default();
            if !seen.iter().any(|(known, _)| *known == place) {
                seen.push((place.clone(), number));
            }
            last = Some(*value);
        }
    }
    for (last, followers) in &after {
        fork(key, *last, followers, sights, found);
    }
}

/// Elements that follow the same one: a failover lies between those who saw them.
fn fork(key: &Key, last: Option<i64>, followers: &Followers, sights: &[Sight], found: &mut Found) {
    let seen: Vec<(i64, &Place, usize)> = followers
        .iter()
        .flat_map(|(value, seen)| seen.iter().map(|(place, number)| (*value, place, *number)))
        .collect();
    let mut worst: Option<(Relation, [(i64, usize); 2])> = None;
    for (position, (value, place, number)) in seen.iter().enumerate() {
        for (other, other_place, other_number) in &seen[position + 1..] {
            if value == other {
                continue;
            }
            let may_lag = |number: &usize| sights[*number].is_stale;
            let relation = match relation(place, other_place) {
                // A replica may go on showing what was lost in its failover.
                Relation::Open if may_lag(number) || may_lag(other_number) => Relation::Apart,
                relation => relation,
            };
            let rank = |relation| match relation {
                Relation::Same => 2,
                Relation::Open => 1,
                Relation::Apart => 0,
            };
            if worst.is_none_or(|(known, _)| rank(known) < rank(relation)) {
                worst = Some((relation, [(*value, *number), (*other, *other_number)]));
            }
        }
    }
    if let Some((relation, [(value, one), (other, another)])) = worst {
        let [one, another] = [&sights[one], &sights[another]];
        found.judge(KIND, relation, || forked(key, last, [value, other], [one, another]));
    }
}

fn forked(key: &Key, last: Option<i64>, [value, other]: [i64; 2], seen: [&Sight; 2]) -> Breach {
    let place = match last {
        None => "first".to_owned(),
        Some(last) => format!("right after {last}"),
    };
    let [one, another] = seen.map(|sight| sight.answer);
    let summary = format!(
        "the list of key {key} has two histories: {} had element {value} {place} at {}, {} had {other} there at {}",
        one.node,
        seconds(one.end),
        another.node,
        seconds(another.end)
    );
    Breach::new(key, summary, &[one, another])
}

fn moved(key: &Key, value: i64, one: &Sight, another: &Sight) -> Breach {
    let before = |sight: &Sight| {
        let at = sight.values.iter().position(|other| *other == value).unwrap_or(0);
        let last = at.checked_sub(1).map(|before| sight.values[before]);
        last.map_or("nothing".to_owned(), |last| last.to_string())
    };
    let summary = format!(
        "element {value} of key {key} stands in two places: after {} as {} answered at {}, after {} as {} answered at {}",
        before(one),
        one.answer.node,
        seconds(one.answer.end),
        before(another),
        another.answer.node,
        seconds(another.answer.end)
    );
    Breach::new(key, summary, &[one.answer, another.answer])
}
