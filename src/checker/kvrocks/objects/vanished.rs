//! Elements that were there and are not any more, within one term, in which nothing can be lost.
//!
//! Acknowledged ones that are seen again later were late rather than gone, and those that are gone for good
//! without excuse are lost: both are told by checkers of their own. What is left are elements that a later
//! failover would excuse, had they not been gone before it; elements of unknown fate that were seen; and
//! those that a read lacks though it shows what was added after them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::breach::{Breach, Found};
use super::line::{Known, Line, Sight};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::lost::Losses;
use crate::checker::kvrocks::wording::{seconds, what};
use crate::op::{Key, Nanos};

pub(super) fn search(lines: &[Line], losses: Option<&Losses>, found: &mut Found) {
    let blamed = losses.map_or(&[][..], |losses| losses.blamed.as_slice());
    let blamed: FxHashSet<(&Key, u64)> =
        blamed.iter().map(|(gone, _)| (&gone.key, gone.write.invocation.index)).collect();
    for line in lines {
        let is_blamed = |added: &Answer| blamed.contains(&(line.key, added.invocation.index));
        search_line(line, &is_blamed, found);
    }
}

fn search_line(line: &Line, is_blamed: &dyn Fn(&Answer) -> bool, found: &mut Found) {
    let mut last_seen: FxHashMap<i64, Nanos> = FxHashMap::default();
    for sight in &line.sights {
        for value in sight.values {
            let last = last_seen.entry(*value).or_default();
            *last = sight.answer.end.max(*last);
        }
    }
    // Told by the checkers of stale reads and lost writes.
    let is_told = |value: i64, term: usize, start: Nanos| {
        line.acknowledged.get(&value).is_some_and(|(own, answer)| {
            let is_late = last_seen.get(&value).is_some_and(|last| *last >= start);
            is_blamed(answer) || (is_late && *own == term && answer.end < start)
        })
    };
    let mut told = FxHashSet::default();
    for (term, sights) in line.by_term() {
        let Some(known) = line.known.get(&term) else { continue };
        let mut order: Vec<(Nanos, i64)> =
            known.iter().map(|(value, answer)| (answer.end, *value)).collect();
        order.sort_unstable();
        for sight in sights {
            let newest = sight.values.iter().max_by_key(|value| line.asked(**value));
            let horizon = newest.map_or(0, |value| line.asked(*value)).max(sight.answer.start);
            for value in missing(sight.values, horizon, known, &order) {
                if !is_told(value, term, sight.answer.start) && told.insert(value) {
                    let known = known[&value];
                    found.add("vanished-element", || {
                        vanished(line.key, value, known, sight, newest.copied())
                    });
                }
            }
        }
    }
}

/// What surely had been there before this moment and is not seen.
fn missing(seen: &[i64], horizon: Nanos, known: &Known, order: &[(Nanos, i64)]) -> Vec<i64> {
    let due = &order[..order.partition_point(|(since, _)| *since < horizon)];
    let seen: FxHashSet<i64> = seen.iter().copied().collect();
    let is_due = |value: &&i64| known.get(*value).is_some_and(|answer| answer.end < horizon);
    if seen.iter().filter(is_due).count() == due.len() {
        return Vec::new();
    }
    due.iter().map(|(_, value)| *value).filter(|value| !seen.contains(value)).collect()
}

fn vanished(key: &Key, value: i64, known: &Answer, sight: &Sight, newest: Option<i64>) -> Breach {
    let answer = sight.answer;
    let how = if known.is_write() { "acknowledged" } else { "showed" };
    let lacks = match newest.filter(|_| known.end >= answer.start) {
        None => format!("did not show it to process {}", answer.invocation.process),
        Some(newest) => format!(
            "showed {newest}, which was added later, without it to process {}",
            answer.invocation.process
        ),
    };
    let summary = format!(
        "{} {how} element {value} of key {key} at {} ({}), and {} {lacks} that asked at {}; no failover lies between",
        known.node,
        seconds(known.end),
        what(known.invocation),
        answer.node,
        seconds(answer.invocation.time)
    );
    Breach::new(key, summary, &[known, answer])
}
