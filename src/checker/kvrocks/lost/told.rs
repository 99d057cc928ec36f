//! Tells what is lost: one anomaly for what one node acknowledged of one slot and lost for one reason.

use std::collections::BTreeMap;

use super::excuse::Blame;
use super::gone::Gone;
use crate::checker::Anomaly;
use crate::checker::kvrocks::wording::{bounded, counted, line, seconds, what};
use crate::op::NodeName;

/// Anomalies at most; what is lost beyond is counted.
const EXPLAINED: usize = 10;
/// Losses of which the events are named.
const NAMED: usize = 5;

type Judged<'a> = (Gone<'a>, Blame<'a>);

pub(super) fn anomalies(blamed: &[Judged]) -> Vec<Anomaly> {
    let mut groups: BTreeMap<(NodeName, Option<u16>, u8), Vec<&Judged>> = BTreeMap::new();
    for judged in blamed {
        let (gone, blame) = judged;
        let key = (gone.write.node, gone.write.slot, reason(blame));
        groups.entry(key).or_default().push(judged);
    }
    let mut groups: Vec<Vec<&Judged>> = groups.into_values().collect();
    groups.sort_by_key(|group| group.first().map(|(gone, _)| gone.write.end));
    groups.truncate(EXPLAINED);
    groups.iter().filter_map(|group| anomaly(group)).collect()
}

fn reason(blame: &Blame) -> u8 {
    match blame {
        Blame::NeverDeposed => 0,
        Blame::NotItsSlot { .. } => 1,
        Blame::Gap { .. } => 2,
    }
}

fn anomaly(group: &[&Judged]) -> Option<Anomaly> {
    let [(first, blame), ..] = group else { return None };
    let (last, _) = group.last()?;
    let mut details = bounded(group.iter().map(|(gone, _)| line(&gone.write)));
    details.push(format!("the proof: {}", line(&first.proof)));
    if let Blame::Gap { survivor } = blame {
        details.push(format!("what survived: {}", line(survivor)));
    }
    let named = group.iter().take(NAMED).map(|(gone, _)| gone.write.invocation.index);
    let mut ops: Vec<u64> = named.chain([first.proof.invocation.index]).collect();
    ops.sort_unstable();
    ops.dedup();
    let mut nodes = vec![first.write.node.to_string(), first.proof.node.to_string()];
    nodes.dedup();
    Some(Anomaly {
        kind: "lost-write".to_owned(),
        summary: summary(group.len(), first, last, blame),
        details,
        key: Some(first.key.to_string()),
        nodes,
        ops,
        from: first.write.invocation.time,
        to: first.proof.end,
        faults: None,
        cycle: None,
    })
}

fn summary(count: usize, first: &Gone, last: &Gone, blame: &Blame) -> String {
    let node = first.write.node;
    let slot = first.write.slot.map_or(String::new(), |slot| format!(" (slot {slot})"));
    let why = match blame {
        Blame::NeverDeposed => "and no failover of its shard explains it".to_owned(),
        Blame::NotItsSlot { owner } => format!(
            "and no failover of its shard explains it, for the topology gave the slot to shard {owner}"
        ),
        Blame::Gap { survivor } => format!(
            "though {node}'s successor has what it acknowledged later ({})",
            what(survivor.invocation)
        ),
    };
    let reader = first.proof.node;
    let (at, acked) = (seconds(first.proof.invocation.time), seconds(first.write.end));
    match count {
        1 => format!(
            "{}{slot} was acknowledged by {node} at {acked} and is lost ({reader} did not have it at {at}), {why}",
            first.what
        ),
        more => format!(
            "{}{slot} that {node} acknowledged from {acked} to {} are lost (first {}, which {reader} did not have at {at}), {why}",
            counted(more, "write"),
            seconds(last.write.end),
            first.what
        ),
    }
}
