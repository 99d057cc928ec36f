//! Sets and lists: which elements were added to a key, and what was read of it.

use std::collections::BTreeMap;

use super::answers::{Answer, Pair, parts};
use crate::op::{Key, Value};

/// One element that somebody wanted to add.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added<'a> {
    pub value: i64,
    pub answer: Option<Answer<'a>>,
}

/// What an operation saw of a key.
#[derive(Clone, Debug)]
pub(super) struct Reading<'a> {
    pub answer: Answer<'a>,
    pub values: Vec<i64>,
}

/// All that concerns one key, in order of invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Collection<'a> {
    pub added: Vec<Added<'a>>,
    pub readings: Vec<Reading<'a>>,
}

/// Everything by key.
pub(super) type Collections<'a> = BTreeMap<Key, Collection<'a>>;

/// From `add` and `read`.
pub(super) fn sets<'a>(pairs: &[Pair<'a>]) -> Collections<'a> {
    let mut keys = Collections::new();
    for pair in pairs {
        let (invocation, _) = pair;
        let Some(key) = &invocation.key else { continue };
        match (&*invocation.f, &invocation.value) {
            ("add", Value::Int(value)) => {
                keys.entry(key.clone()).or_default().added.push(added(*value, pair));
            }
            ("read", _) => {
                let Some(answer) = Answer::of(pair) else { continue };
                let Some(values) = elements(&answer.completion.value) else { continue };
                let reading = Reading { answer, values };
                keys.entry(key.clone()).or_default().readings.push(reading);
            }
            _ => {}
        }
    }
    keys
}

/// From `txn`.
pub(super) fn lists<'a>(pairs: &[Pair<'a>]) -> Collections<'a> {
    let mut keys = Collections::new();
    for pair in pairs.iter().filter(|(invocation, _)| &*invocation.f == "txn") {
        let answer = Answer::of(pair);
        let told = answer.map_or(&pair.0.value, |answer| &answer.completion.value);
        for part in parts(told) {
            let [f, key, value] = part else { continue };
            let Some(key) = key.as_i64() else { continue };
            let collection = keys.entry(Key::Int(key)).or_default();
            match (f.as_str(), value.as_i64(), value.as_array(), answer) {
                (Some("append"), Some(value), _, _) => {
                    collection.added.push(added(value, pair));
                }
                (Some("r"), _, Some(values), Some(answer)) => {
                    let values = values.iter().map(serde_json::Value::as_i64).collect();
                    let Some(values) = values else { continue };
                    collection.readings.push(Reading { answer, values });
                }
                _ => {}
            }
        }
    }
    keys
}

fn added<'a>(value: i64, pair: &Pair<'a>) -> Added<'a> {
    Added { value, answer: Answer::of(pair) }
}

/// The elements in a result; none in one that is empty.
pub(super) fn elements(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Nil => Some(Vec::new()),
        value => value.as_list(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    #[test]
    fn sets_and_lists_are_read() {
        let history = history(
            r#"
            1 0@n1 invoke add 5 key=1
            2 0@n1 ok add 5 key=1
            3 0@n1 invoke read nil key=1
            4 0@n1 ok read [5,6,7] key=1
            5 0@n1 invoke txn [["append",2,8],["r",2,null],["r",3,null]]
            6 0@n1 ok txn [["append",2,8],["r",2,[7,8]],["r",3,[]]]
            7 0@n1 invoke txn [["append",2,9],["r",2,null]]
            8 0@n1 info txn nil"#,
        );
        let pairs = history.operations();
        let sets = sets(&pairs);
        assert_eq!(sets[&Key::Int(1)].added[0].value, 5);
        assert_eq!(sets[&Key::Int(1)].readings[0].values, [5, 6, 7]);
        let lists = lists(&pairs);
        let list = &lists[&Key::Int(2)];
        let added: Vec<_> =
            list.added.iter().map(|added| (added.value, added.answer.is_some())).collect();
        assert_eq!(added, [(8, true), (9, false)]);
        assert_eq!(list.readings[0].values, [7, 8]);
        assert!(lists[&Key::Int(3)].readings[0].values.is_empty());
    }
}
