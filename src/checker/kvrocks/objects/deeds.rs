//! What single operations put into sets and lists and saw of them, part by part.

use rustc_hash::FxHashMap;

use crate::checker::kvrocks::answers::{Answer, Pair, parts};
use crate::checker::kvrocks::elements::elements;
use crate::op::{Event, Key, Kind, Value};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Put { key: Key, value: i64 },
    Saw { key: Key, values: Vec<i64> },
}

impl Part {
    pub fn key(&self) -> &Key {
        match self {
            Part::Put { key, .. } | Part::Saw { key, .. } => key,
        }
    }
}

/// One operation.
#[derive(Clone, Debug)]
pub(super) struct Deed<'a> {
    pub invocation: &'a Event,
    pub answer: Option<Answer<'a>>,
    /// It surely did not happen.
    pub is_refused: bool,
    /// A replica answered, and may lag behind.
    pub is_stale: bool,
    /// In the order in which they were asked for.
    pub parts: Vec<Part>,
}

impl<'a> Deed<'a> {
    fn new(pair: &Pair<'a>, is_stale: bool, parts: Vec<Part>) -> Deed<'a> {
        let (invocation, completion) = *pair;
        let is_refused = completion.is_some_and(|event| event.kind == Kind::Fail);
        Deed { invocation, answer: Answer::of(pair), is_refused, is_stale, parts }
    }

    /// What it saw, with the answer that told it.
    pub fn sights(&self) -> impl Iterator<Item = (&Answer<'a>, &Key, &[i64])> {
        let answer = self.answer.as_ref();
        self.parts.iter().filter_map(move |part| match part {
            Part::Saw { key, values } => Some((answer?, key, values.as_slice())),
            Part::Put { .. } => None,
        })
    }

    pub fn puts(&self) -> impl Iterator<Item = (&Key, i64)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Put { key, value } => Some((key, *value)),
            Part::Saw { .. } => None,
        })
    }
}

/// From `txn` and `stale-txn`.
pub(super) fn transactions<'a>(pairs: &[Pair<'a>]) -> Vec<Deed<'a>> {
    let of_lists = pairs.iter().filter(|pair| ["txn", "stale-txn"].contains(&&*pair.0.f));
    let deed = |pair: &Pair<'a>| {
        let told = Answer::of(pair).map_or(&pair.0.value, |answer| &answer.completion.value);
        let parts = parts(told).filter_map(|part| {
            let [f, key, value] = part else { return None };
            let key = Key::Int(key.as_i64()?);
            match f.as_str()? {
                "append" => Some(Part::Put { key, value: value.as_i64()? }),
                "r" => {
                    let values = value.as_array()?.iter().map(serde_json::Value::as_i64);
                    Some(Part::Saw { key, values: values.collect::<Option<_>>()? })
                }
                _ => None,
            }
        });
        Deed::new(pair, &*pair.0.f == "stale-txn", parts.collect())
    };
    of_lists.map(deed).collect()
}

/// From `add`, `read` and `stale-read`.
pub(super) fn sets<'a>(pairs: &[Pair<'a>]) -> Vec<Deed<'a>> {
    let deed = |pair: &Pair<'a>| {
        let key = pair.0.key.clone()?;
        let part = match (&*pair.0.f, &pair.0.value) {
            ("add", Value::Int(value)) => Part::Put { key, value: *value },
            ("read" | "stale-read", _) => {
                let told = &Answer::of(pair)?.completion.value;
                Part::Saw { key, values: elements(told)? }
            }
            _ => return None,
        };
        Some(Deed::new(pair, &*pair.0.f == "stale-read", vec![part]))
    };
    pairs.iter().filter_map(deed).collect()
}

/// Who wanted to put each element where; places are those in the list of deeds.
pub(super) fn writers(deeds: &[Deed]) -> FxHashMap<(Key, i64), usize> {
    let puts = deeds.iter().enumerate().flat_map(|(place, deed)| {
        deed.puts().map(move |(key, value)| ((key.clone(), value), place))
    });
    puts.collect()
}
