//! Fencing tokens: each lock comes with a higher one than all before, and a store takes none that is lower
//! than one that it has taken.

use std::collections::BTreeMap;

use super::breach::{Breach, Found};
use super::within::{KeyTerms, relation};
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::wording::seconds;
use crate::op::{Key, Nanos, Value};

const KIND: &str = "stale-token";

/// A token, and the answer that gave it out or took it.
type Shown<'a> = (i64, Answer<'a>);

pub(super) fn search(pairs: &[Pair], evidence: &Evidence, found: &mut Found) {
    let mut given: BTreeMap<&Key, Vec<Shown>> = BTreeMap::new();
    let mut taken: BTreeMap<&Key, Vec<Shown>> = BTreeMap::new();
    for pair in pairs {
        let Some((key, answer)) = pair.0.key.as_ref().zip(Answer::of(pair)) else { continue };
        match (&*pair.0.f, &answer.completion.value, &pair.0.value) {
            ("acquire", Value::Int(token), _) => {
                given.entry(key).or_default().push((*token, answer));
            }
            ("store", _, Value::Pair(token, _)) => {
                taken.entry(key).or_default().push((*token, answer));
            }
            _ => {}
        }
    }
    for (key, shown) in given {
        search_key(key, shown, 1, evidence, found);
    }
    for (key, shown) in taken {
        found.judged += shown.len();
        search_key(key, shown, 0, evidence, found);
    }
}

/// The highest token of those that ended first, answer by answer.
fn highest<'a>(shown: &[&Shown<'a>]) -> Vec<(Nanos, Shown<'a>)> {
    let mut in_order: Vec<Shown> = shown.iter().map(|shown| **shown).collect();
    in_order.sort_by_key(|(token, answer)| (answer.end, *token));
    let mut highest: Option<Shown> = None;
    let rise = |(token, answer): Shown<'a>| {
        let kept = highest.filter(|(known, _)| *known >= token).unwrap_or((token, answer));
        highest = Some(kept);
        (answer.end, kept)
    };
    in_order.into_iter().map(rise).collect()
}

fn at<'r, 'a>(records: &'r [(Nanos, Shown<'a>)], before: Nanos) -> Option<&'r Shown<'a>> {
    let over = records.partition_point(|(end, _)| *end < before);
    over.checked_sub(1).map(|last| &records[last].1)
}

/// `above`: by how much each must exceed those before it.
fn search_key(key: &Key, shown: Vec<Shown>, above: i64, evidence: &Evidence, found: &mut Found) {
    let terms = KeyTerms::of(evidence, shown.iter().map(|(_, answer)| answer));
    let mut by_term: BTreeMap<usize, Vec<&Shown>> = BTreeMap::new();
    for one in &shown {
        if let Some(term) = terms.single(&one.1) {
            by_term.entry(term).or_default().push(one);
        }
    }
    let by_term: BTreeMap<usize, Vec<(Nanos, Shown)>> =
        by_term.into_iter().map(|(term, shown)| (term, highest(&shown))).collect();
    let all = highest(&shown.iter().collect::<Vec<_>>());
    for later in &shown {
        let (token, answer) = later;
        let is_lower = |earlier: &&Shown| *token < earlier.0.saturating_add(above);
        let own = terms.single(answer).and_then(|term| by_term.get(&term));
        let own = own.and_then(|records| at(records, answer.start)).filter(is_lower);
        if let Some(earlier) = own.or_else(|| at(&all, answer.start).filter(is_lower)) {
            let relation = relation(&terms.place(&earlier.1), &terms.place(answer));
            found.judge(KIND, relation, || told(key, earlier, later));
        }
    }
}

fn told(key: &Key, (highest, earlier): &Shown, (token, later): &Shown) -> Breach {
    let (did, had) = match &*later.invocation.f {
        "store" => ("took a store under token", "had taken one under token"),
        _ => ("gave out token", "had given out token"),
    };
    let summary = format!(
        "{} {did} {token} of lock {key} at {} (process {}), though {} {had} {highest} by {}",
        later.node,
        seconds(later.end),
        later.invocation.process,
        earlier.node,
        seconds(earlier.end)
    );
    Breach::new(key, summary, &[earlier, later])
}
