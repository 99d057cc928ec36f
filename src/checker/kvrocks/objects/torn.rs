//! Transactions of lists take effect at one moment: others see all of one or nothing, its elements one after
//! the other, and it sees its own appends and nothing in between.
//!
//! A transaction is replicated and migrated as a whole, so this holds at replicas and after failovers too.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::breach::{Breach, Found};
use super::deeds::{Deed, Part, writers};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::wording::seconds;
use crate::op::Key;

const KIND: &str = "torn-transaction";

/// What one transaction puts into each list.
type Puts<'a> = BTreeMap<&'a Key, Vec<i64>>;

pub(super) fn search(deeds: &[Deed], found: &mut Found) {
    let writers = writers(deeds);
    let puts: Vec<Puts> = deeds.iter().map(of_each_key).collect();
    for (place, deed) in deeds.iter().enumerate() {
        let Some(answer) = &deed.answer else { continue };
        own_view(deed, answer, found);
        let seen = deed.sights().flat_map(|(_, key, values)| {
            values.iter().filter_map(|value| writers.get(&(key.clone(), *value)))
        });
        let seen: BTreeSet<usize> = seen.copied().filter(|writer| *writer != place).collect();
        for writer in seen {
            // One element alone cannot be seen in part.
            if puts[writer].values().map(Vec::len).sum::<usize>() > 1 {
                view_of_another(answer, deed, &deeds[writer], &puts[writer], found);
            }
        }
    }
}

fn of_each_key<'d>(deed: &'d Deed) -> Puts<'d> {
    let mut puts = Puts::new();
    for (key, value) in deed.puts() {
        puts.entry(key).or_default().push(value);
    }
    puts
}

/// A reader that saw some of a transaction saw all of it, wherever it looked.
fn view_of_another(answer: &Answer, reader: &Deed, writer: &Deed, puts: &Puts, found: &mut Found) {
    for (_, key, values) in reader.sights() {
        let Some(put) = puts.get(key) else { continue };
        let at: FxHashMap<i64, usize> = values.iter().copied().zip(0..).collect();
        let first = put.first().and_then(|value| at.get(value));
        let missing = put.iter().find(|value| !at.contains_key(value));
        let together = first.is_some_and(|first| {
            values.get(*first..*first + put.len()).is_some_and(|part| part == put.as_slice())
        });
        if together {
            continue;
        }
        let how = match missing {
            Some(missing) => format!("only in part: {missing} of key {key} was not there"),
            None => format!("torn apart: {put:?} of key {key} were not one after the other"),
        };
        found.add(KIND, || {
            let summary = format!(
                "process {} saw the transaction that process {} began at {} {how} ({} answered at {})",
                reader.invocation.process,
                writer.invocation.process,
                seconds(writer.invocation.time),
                answer.node,
                seconds(answer.end)
            );
            let answers: Vec<&Answer> = writer.answer.iter().chain([answer]).collect();
            Breach::new(key, summary, &answers).with_operation(writer.invocation)
        });
        return;
    }
}

/// Each read of a transaction ends in its own appends so far and shows nothing else than the one before.
fn own_view(deed: &Deed, answer: &Answer, found: &mut Found) {
    let mut expected: BTreeMap<&Key, Vec<i64>> = BTreeMap::new();
    let mut own: BTreeMap<&Key, Vec<i64>> = BTreeMap::new();
    let all = of_each_key(deed);
    for part in &deed.parts {
        match part {
            Part::Put { key, value } => {
                own.entry(key).or_default().push(*value);
                if let Some(expected) = expected.get_mut(key) {
                    expected.push(*value);
                }
            }
            Part::Saw { key, values } => {
                let own = own.get(key).map_or(&[][..], Vec::as_slice);
                let before = &values[..values.len().saturating_sub(own.len())];
                let mine = all.get(key).map_or(&[][..], Vec::as_slice);
                let sound = values.ends_with(own)
                    && !before.iter().any(|value| mine.contains(value))
                    && expected.get(key).is_none_or(|expected| expected == values);
                if !sound {
                    found.add(KIND, || own_breach(answer, key, values, own));
                    return;
                }
                expected.insert(key, values.clone());
            }
        }
    }
}

fn own_breach(answer: &Answer, key: &Key, values: &[i64], own: &[i64]) -> Breach {
    let saw = match values.len() {
        0..=8 => format!("{values:?}"),
        long => format!("[.. {} elements .., {:?}]", long - 4, &values[long - 4..]),
    };
    let summary = format!(
        "a transaction of process {} that {} executed by {} read {saw} of key {key}, where its own appends so far are {own:?}: it did not take effect at one moment",
        answer.invocation.process,
        answer.node,
        seconds(answer.end)
    );
    Breach::new(key, summary, &[answer])
}
