//! What each node told that it holds, key by key: the last time that it did.

use std::collections::BTreeMap;

use super::super::answers::Pair;
use crate::op::{Kind, Nanos, NodeName, SECOND, Value};

/// All nodes are asked for a key within this time.
const ROUND_TAKES: Nanos = 2 * SECOND;

/// A key that nodes of one shard hold differently.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Differing {
    pub key: String,
    /// In the order of the shard; those that told of the key.
    pub held: Vec<(NodeName, String)>,
    /// Since when all of them have told these values, and when the last of them did so last.
    pub first: Nanos,
    pub last: Nanos,
    /// Indices of the last dumps.
    pub ops: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Held {
    value: serde_json::Value,
    /// When it was first told to be this, without a break.
    since: Nanos,
    answered: Nanos,
    op: u64,
}

/// By node and key.
#[derive(Clone, Debug, Default)]
pub(super) struct Dumps {
    held: BTreeMap<NodeName, BTreeMap<String, Held>>,
    count: usize,
}

impl Dumps {
    pub fn of(pairs: &[Pair]) -> Dumps {
        let mut dumps = Dumps::default();
        let mut answered: Vec<_> = pairs
            .iter()
            .filter(|(invocation, _)| &*invocation.f == "dump")
            .filter_map(|(invocation, completion)| Some((*invocation, (*completion)?)))
            .filter(|(_, completion)| completion.kind == Kind::Ok)
            .collect();
        answered.sort_by_key(|(_, completion)| (completion.time, completion.index));
        for (invocation, completion) in answered {
            let (Some(node), Value::Json(json)) = (completion.node, &completion.value) else {
                continue;
            };
            dumps.count += 1;
            let of_node = dumps.held.entry(node).or_default();
            for (key, value) in json.as_object().into_iter().flatten() {
                let same = of_node.get(key).filter(|held| held.value == *value);
                let since = same.map_or(completion.time, |held| held.since);
                let (answered, op) = (completion.time, invocation.index);
                let held = Held { value: value.clone(), since, answered, op };
                of_node.insert(key.clone(), held);
            }
        }
        dumps
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// How many keys at least two of these nodes told of, and those that they hold differently.
    pub fn compare(&self, nodes: &[NodeName]) -> (usize, Vec<Differing>) {
        let mut by_key: BTreeMap<&str, Vec<(NodeName, &Held)>> = BTreeMap::new();
        for node in nodes {
            for (key, held) in self.held.get(node).into_iter().flatten() {
                by_key.entry(key).or_default().push((*node, held));
            }
        }
        // What a node refuses by now, it told earlier than the others.
        for held in by_key.values_mut() {
            let latest = held.iter().map(|(_, held)| held.answered).max().unwrap_or(0);
            held.retain(|(_, held)| held.answered + ROUND_TAKES >= latest);
        }
        by_key.retain(|_, held| held.len() > 1);
        let differs =
            |held: &[(NodeName, &Held)]| held.iter().any(|(_, h)| h.value != held[0].1.value);
        let differing = by_key.iter().filter(|(_, held)| differs(held)).map(|(key, held)| {
            let each = || held.iter().map(|(_, held)| *held);
            Differing {
                key: (*key).to_owned(),
                held: held.iter().map(|(node, held)| (*node, held.value.to_string())).collect(),
                first: each().map(|held| held.since).max().unwrap_or(0),
                last: each().map(|held| held.answered).max().unwrap_or(0),
                ops: each().map(|held| held.op).collect(),
            }
        });
        let differing = differing.collect();
        (by_key.len(), differing)
    }
}
