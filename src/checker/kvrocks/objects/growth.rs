//! Sets and lists only grow: within a term one of two reads shows all that the other does; and an element of
//! a list stands behind all that had been there when it was asked for.

use rustc_hash::FxHashSet;

use super::breach::{Breach, Found};
use super::line::{Line, Sight};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::wording::seconds;
use crate::op::{Key, Nanos};

const KIND: &str = "incompatible-order";

/// Reads of sets, none of which may show what another lacks and lack what it shows.
pub(super) fn sets(lines: &[Line], found: &mut Found) {
    for line in lines {
        for mut sights in line.by_term().into_values() {
            sights.sort_by_key(|sight| sight.values.len());
            for two in sights.windows(2) {
                let more: FxHashSet<i64> = two[1].values.iter().copied().collect();
                if let Some(only) = two[0].values.iter().find(|value| !more.contains(value)) {
                    told_elsewhere_or_here(line.key, *only, two, found);
                }
            }
        }
    }
}

/// Reads one after the other are a matter of elements that vanish.
fn told_elsewhere_or_here(key: &Key, only: i64, two: &[&Sight], found: &mut Found) {
    let [one, other] = [two[0], two[1]];
    let less: FxHashSet<i64> = one.values.iter().copied().collect();
    let Some(only_there) = other.values.iter().find(|value| !less.contains(value)) else { return };
    if one.answer.end < other.answer.start || other.answer.end < one.answer.start {
        return;
    }
    found.add(KIND, || {
        let summary = format!(
            "two reads of set {key} at the same time cannot both be: {} showed {only} without {only_there} at {}, {} showed {only_there} without {only} at {}",
            one.answer.node,
            seconds(one.answer.end),
            other.answer.node,
            seconds(other.answer.end)
        );
        Breach::new(key, summary, &[one.answer, other.answer])
    });
}

/// Elements of lists that stand before others which had been there when they were asked for.
pub(super) fn lists(lines: &[Line], found: &mut Found) {
    for line in lines {
        let mut told = FxHashSet::default();
        for (term, sights) in line.by_term() {
            let Some(known) = line.known.get(&term) else { continue };
            for sight in sights {
                let mut newest: Option<(Nanos, i64)> = None;
                for value in sight.values {
                    if let (Some(known), Some((asked, newer))) = (known.get(value), newest)
                        && known.end < asked
                        && told.insert(*value)
                    {
                        found.add(KIND, || {
                            inverted(line.key, [*value, newer], asked, known, sight.answer)
                        });
                    }
                    newest = newest.max(Some((line.asked(*value), *value)));
                }
            }
        }
    }
}

fn inverted(
    key: &Key,
    [value, newer]: [i64; 2],
    asked: Nanos,
    known: &Answer,
    answer: &Answer,
) -> Breach {
    let summary = format!(
        "{} showed element {newer} of key {key} before {value} at {}, though {newer} was asked for only at {}, and {value} had been there by {}",
        answer.node,
        seconds(answer.end),
        seconds(asked),
        seconds(known.end)
    );
    Breach::new(key, summary, &[known, answer])
}
