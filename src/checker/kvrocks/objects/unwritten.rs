//! Elements that are there twice, and elements that are there though nobody can have put them there.

use rustc_hash::FxHashSet;

use super::breach::{Breach, Found};
use super::deeds::{Deed, writers};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::wording::seconds;
use crate::op::Key;

pub(super) fn search(deeds: &[Deed], found: &mut Found) {
    let writers = writers(deeds);
    for (answer, key, values) in deeds.iter().flat_map(Deed::sights) {
        found.judged += 1;
        let mut seen = FxHashSet::default();
        for value in values {
            if !seen.insert(*value) {
                found.add("duplicate-element", || twice(answer, key, *value));
                continue;
            }
            let writer = writers.get(&(key.clone(), *value)).map(|place| &deeds[*place]);
            let unwritten = match writer {
                None => Some("nobody ever asked for".to_owned()),
                Some(deed) if deed.is_refused => Some(format!(
                    "process {} had been refused at {}",
                    deed.invocation.process,
                    seconds(deed.invocation.time)
                )),
                Some(deed) if deed.invocation.index > answer.completion.index => Some(format!(
                    "process {} asked for only at {}",
                    deed.invocation.process,
                    seconds(deed.invocation.time)
                )),
                Some(_) => None,
            };
            if let Some(why) = unwritten {
                found.add("unwritten-element", || {
                    let breach = unasked(answer, key, *value, &why);
                    match writer {
                        Some(deed) => breach.with_operation(deed.invocation),
                        None => breach,
                    }
                });
            }
        }
    }
}

fn twice(answer: &Answer, key: &Key, value: i64) -> Breach {
    let summary = format!(
        "{} showed element {value} of key {key} twice at {}, though it was added once",
        answer.node,
        seconds(answer.end)
    );
    Breach::new(key, summary, &[answer])
}

fn unasked(answer: &Answer, key: &Key, value: i64, why: &str) -> Breach {
    let summary = format!(
        "{} showed element {value} of key {key} at {}, which {why}",
        answer.node,
        seconds(answer.end)
    );
    Breach::new(key, summary, &[answer])
}
