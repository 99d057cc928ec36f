//! What told tests of these checkers share: two shards of two nodes, documents, and how a finding reads.

use expect_test::Expect;

use super::{KvrocksChecks, KvrocksObject};
use crate::checker::{Budget, Checker, RegisterModel};
use crate::history::History;

pub(super) fn register() -> KvrocksObject {
    KvrocksObject::Register(RegisterModel::CAS_REGISTER)
}

pub(super) fn checks(object: Option<KvrocksObject>) -> KvrocksChecks {
    let shard = |nodes: [&str; 2]| nodes.map(Into::into).to_vec();
    let shards = vec![shard(["kvrocks1", "kvrocks2"]), shard(["kvrocks3", "kvrocks4"])];
    KvrocksChecks { shards, object, ..KvrocksChecks::default() }
}

/// The topology in which nothing has moved yet, perhaps with a slot of shard 0 on its way.
pub(super) fn document(version: u64, mark: Option<(u16, usize)>) -> String {
    let first = part("kvrocks1", "kvrocks2", "0-8191", mark);
    let second = part("kvrocks3", "kvrocks4", "8192-16383", None);
    format!(r#"{{"version":{version},"shards":[{first},{second}]}}"#)
}

/// One shard of a document.
pub(super) fn part(master: &str, replica: &str, slots: &str, mark: Option<(u16, usize)>) -> String {
    let mark = mark.map_or(String::new(), |(slot, target)| {
        format!(r#","migrating_slot":"{slot}","target_shard_index":{target}"#)
    });
    let nodes = [(master, "master"), (replica, "slave")].map(|(name, role)| node(name, role));
    let ranges = slots.split(',').filter(|range| !range.is_empty());
    let ranges: Vec<String> = ranges.map(|range| format!("{range:?}")).collect();
    let (nodes, ranges) = (nodes.join(","), ranges.join(","));
    format!(r#"{{"nodes":[{nodes}],"slot_ranges":[{ranges}]{mark}}}"#)
}

/// One node of a document.
pub(super) fn node(name: &str, role: &str) -> String {
    format!(r#"{{"addr":"{name}:6666","role":"{role}"}}"#)
}

/// Compares what a checker finds, all of it, with what is expected.
pub(super) fn check(checker: &mut dyn Checker, history: &History, expected: Expect) {
    let finding = checker.finish(history, &Budget::UNBOUNDED);
    let mut told = format!("{}: {}\n", finding.verdict.name(), finding.why);
    for anomaly in &finding.anomalies {
        told += &format!("{}: {}\n", anomaly.kind, anomaly.summary);
        for line in &anomaly.details {
            told += &format!("  {line}\n");
        }
        let (from, to) = (anomaly.from / 1_000_000, anomaly.to / 1_000_000);
        let key = anomaly.key.as_deref().unwrap_or("none");
        let nodes = anomaly.nodes.join(" ");
        told += &format!("  [{nodes}; key {key}; ops {:?}; {from} to {to} ms]\n", anomaly.ops);
    }
    expected.assert_eq(&told);
}
