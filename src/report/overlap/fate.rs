//! What became of a write that one of two owners acknowledged: whether it was there under the topology
//! that came after them.

use std::collections::BTreeMap;

use super::End;
use crate::op::{Key, Kind, Nanos, NodeName, Value};
use crate::report::digest::Operation;

/// What is known of an acknowledged write.
#[derive(Clone, Copy)]
pub(in crate::report) enum Fate<'a> {
    /// It was seen afterwards, or its node is the one that kept the slot, or nothing tells.
    Unknown,
    /// Nobody saw it afterwards; a later write may have replaced it.
    Unseen,
    /// The first to look at the node that kept the slot found what had been there before it, and nobody
    /// ever found it there.
    Gone { proof: Operation<'a> },
}

/// What clients saw of the slot at the node that kept it.
pub(super) struct Fates<'a> {
    owner: NodeName,
    /// By key, in order of time: who looked, and what was there.
    seen: BTreeMap<Key, Vec<(Operation<'a>, Vec<i64>)>>,
    /// When the write of a value had completed.
    written: BTreeMap<(Key, i64), Nanos>,
    /// Keys whose values replace each other.
    registers: bool,
}

impl<'a> Fates<'a> {
    pub(super) fn at(of_slot: &[Operation<'a>], end: End) -> Fates<'a> {
        let mut fates = Fates {
            owner: end.owner,
            seen: BTreeMap::new(),
            written: BTreeMap::new(),
            registers: of_slot.iter().any(|op| matches!(&*op.invoke.f, "write" | "cas")),
        };
        for operation in of_slot.iter().filter(|operation| operation.kind() == Kind::Ok) {
            for (key, value) in made(operation) {
                fates.written.insert((key, value), operation.ended(0));
            }
            if operation.node() == Some(end.owner) {
                for (key, values) in seen(operation) {
                    fates.seen.entry(key).or_default().push((*operation, values));
                }
            }
        }
        fates
    }

    pub(super) fn of(&self, write: &Operation<'a>) -> Fate<'a> {
        if write.node() == Some(self.owner) {
            return Fate::Unknown;
        }
        // Of several values of one transaction the first tells.
        let Some((key, value)) = made(write).into_iter().next() else { return Fate::Unknown };
        let sights = self.seen.get(&key).map_or(&[][..], Vec::as_slice);
        let completed = write.ended(0);
        let sights = &sights[sights.partition_point(|(look, _)| look.invoke.time < completed)..];
        let Some((proof, found)) = sights.first() else { return Fate::Unknown };
        if sights.iter().any(|(_, values)| values.contains(&value)) {
            return Fate::Unknown;
        }
        let is_older = match (self.registers, found.as_slice()) {
            (true, [other]) => {
                let written = self.written.get(&(key, *other));
                written.is_some_and(|written| *written < write.invoke.time)
            }
            // Nothing is there, or not this element.
            _ => true,
        };
        if is_older { Fate::Gone { proof: *proof } } else { Fate::Unseen }
    }
}

/// Values that it wrote, by key; none of a counter, whose counts are not its own.
fn made(operation: &Operation) -> Vec<(Key, i64)> {
    let invoke = operation.invoke;
    match (&*invoke.f, &invoke.value, &invoke.key) {
        ("write" | "add", Value::Int(value), Some(key)) => vec![(key.clone(), *value)],
        ("cas", Value::Pair(_, to), Some(key)) => vec![(key.clone(), *to)],
        ("txn", value, _) => parts(value)
            .filter(|part| part.first().is_some_and(|f| f == "append"))
            .filter_map(|part| Some((Key::Int(part.get(1)?.as_i64()?), part.get(2)?.as_i64()?)))
            .collect(),
        _ => Vec::new(),
    }
}

/// What it found under each key.
fn seen(operation: &Operation) -> Vec<(Key, Vec<i64>)> {
    let Some(completion) = operation.completion else { return Vec::new() };
    match (&*operation.invoke.f, &completion.value, &operation.invoke.key) {
        ("read", Value::Nil, Some(key)) => vec![(key.clone(), Vec::new())],
        ("read", Value::Int(value), Some(key)) => vec![(key.clone(), vec![*value])],
        ("read", list, Some(key)) => {
            list.as_list().map(|values| (key.clone(), values)).into_iter().collect()
        }
        ("cas", Value::Pair(from, _), Some(key)) => vec![(key.clone(), vec![*from])],
        ("txn", value, _) => parts(value)
            .filter(|part| part.first().is_some_and(|f| f == "r"))
            .filter_map(|part| {
                let values = match part.get(2)? {
                    serde_json::Value::Null => Vec::new(),
                    list => list.as_array()?.iter().filter_map(|one| one.as_i64()).collect(),
                };
                Some((Key::Int(part.get(1)?.as_i64()?), values))
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn parts(value: &Value) -> impl Iterator<Item = &Vec<serde_json::Value>> {
    let list = match value {
        Value::Json(json) => json.as_array(),
        _ => None,
    };
    list.into_iter().flatten().filter_map(|part| part.as_array())
}
