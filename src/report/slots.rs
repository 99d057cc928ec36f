//! Who answered for which slot over time: from the ways of operations that changed something.

use std::collections::{BTreeMap, BTreeSet};

use super::digest::{Digest, Operation};
use crate::checker::Anomaly;
use crate::op::{Event, Kind, Nanos, NodeName, Value};

/// Slots that are drawn.
const SLOTS_MAX: usize = 6;
/// Stretches of one lane; nearer ones are drawn as one.
const STRETCHES_MAX: usize = 150;

/// One slot that is drawn.
pub(super) struct SlotStory {
    pub slot: u16,
    /// An anomaly is about it.
    pub is_told: bool,
    /// How often the next acknowledged write came from another node than the one before.
    pub turns: u64,
    /// In name order.
    pub lanes: Vec<SlotLane>,
    /// Migrations of it that were asked for, and the shards that it was to go to.
    pub moves: Vec<(Nanos, u64)>,
}

/// What one node did for the slot.
pub(super) struct SlotLane {
    pub node: NodeName,
    pub writes: u64,
    /// From the first to the last of writes that it acknowledged with no other node's in between.
    pub stretches: Vec<(Nanos, Nanos)>,
}

/// All slots of a run.
#[derive(Default)]
pub(super) struct Slots {
    /// Those of anomalies first, then those that changed their node most often.
    pub stories: Vec<SlotStory>,
    /// Slots with acknowledged writes.
    pub count: usize,
    /// Of these, the ones that more than one node acknowledged writes of.
    pub moved: usize,
}

/// One acknowledged write.
struct Ack {
    node: NodeName,
    from: Nanos,
    to: Nanos,
}

impl Slots {
    pub(super) fn of(digest: &Digest, anomalies: &[(&str, &Anomaly)]) -> Slots {
        let mut acks: BTreeMap<u16, Vec<Ack>> = BTreeMap::new();
        for operation in digest.operations.iter().filter(|operation| changes(operation)) {
            if let Some((slot, ack)) = ack(operation) {
                acks.entry(slot).or_default().push(ack);
            }
        }
        let told = told_slots(digest, anomalies);
        let moves = moves(digest);
        let mut stories: Vec<SlotStory> = Vec::new();
        let (count, mut moved) = (acks.len(), 0);
        for (slot, mut acks) in acks {
            acks.sort_by_key(|ack| ack.to);
            let nodes: BTreeSet<NodeName> = acks.iter().map(|ack| ack.node).collect();
            moved += usize::from(nodes.len() > 1);
            let turns = acks.windows(2).filter(|two| two[0].node != two[1].node).count() as u64;
            let is_told = told.contains(&slot);
            if is_told || turns > 0 {
                let moves = moves.get(&slot).cloned().unwrap_or_default();
                let lanes = lanes(&acks, &nodes, digest.end);
                stories.push(SlotStory { slot, is_told, turns, lanes, moves });
            }
        }
        stories.sort_by_key(|story| (!story.is_told, std::cmp::Reverse(story.turns)));
        stories.truncate(SLOTS_MAX);
        Slots { stories, count, moved }
    }
}

/// It changes something if it happens.
pub(super) fn changes(operation: &Operation) -> bool {
    match &*operation.invoke.f {
        "write" | "cas" | "add" | "incr" | "acquire" | "release" | "store" => true,
        "txn" => appends(&operation.invoke.value),
        _ => false,
    }
}

fn appends(value: &Value) -> bool {
    let Value::Json(json) = value else { return false };
    json.as_array()
        .is_some_and(|parts| parts.iter().any(|part| part.get(0) == Some(&"append".into())))
}

/// The slot and who acknowledged: of an operation that was `ok` and whose way is known.
fn ack(operation: &Operation) -> Option<(u16, Ack)> {
    let completion = operation.completion.filter(|event| event.kind == Kind::Ok)?;
    let route = completion.route.as_ref()?;
    let ack = Ack { node: route.last()?.node, from: operation.invoke.time, to: completion.time };
    Some((route.slot?, ack))
}

/// The slots of operations that anomalies name.
fn told_slots(digest: &Digest, anomalies: &[(&str, &Anomaly)]) -> BTreeSet<u16> {
    let named: BTreeSet<u64> =
        anomalies.iter().flat_map(|(_, anomaly)| anomaly.ops.iter().copied()).collect();
    let named =
        digest.operations.iter().filter(|operation| named.contains(&operation.invoke.index));
    named.filter_map(Operation::slot).collect()
}

/// Migrations that were asked for, by slot: when, and to which shard.
pub(super) fn moves(digest: &Digest) -> BTreeMap<u16, Vec<(Nanos, u64)>> {
    let mut moves: BTreeMap<u16, Vec<(Nanos, u64)>> = BTreeMap::new();
    let asked = digest.operations.iter().map(|operation| operation.invoke);
    for invoke in asked.filter(|invoke| &*invoke.f == "migrate") {
        if let (Some(slot), Some(target)) = (argument(invoke, "slot"), argument(invoke, "target")) {
            moves.entry(slot as u16).or_default().push((invoke.time, target));
        }
    }
    moves
}

fn argument(invoke: &Event, name: &str) -> Option<u64> {
    match &invoke.value {
        Value::Json(json) => json.get(name)?.as_u64(),
        _ => None,
    }
}

fn lanes(acks: &[Ack], nodes: &BTreeSet<NodeName>, end: Nanos) -> Vec<SlotLane> {
    let mut lanes: BTreeMap<NodeName, SlotLane> = BTreeMap::new();
    for node in nodes {
        lanes.insert(*node, SlotLane { node: *node, writes: 0, stretches: Vec::new() });
    }
    let mut last: Option<NodeName> = None;
    for ack in acks {
        let Some(lane) = lanes.get_mut(&ack.node) else { continue };
        lane.writes += 1;
        match lane.stretches.last_mut().filter(|_| last == Some(ack.node)) {
            Some(stretch) => stretch.1 = ack.to,
            None => lane.stretches.push((ack.from, ack.to)),
        }
        last = Some(ack.node);
    }
    let mut lanes: Vec<SlotLane> = lanes.into_values().collect();
    lanes.iter_mut().for_each(|lane| thin(&mut lane.stretches, end));
    lanes
}

/// Draws near stretches as one until there are few enough.
fn thin(stretches: &mut Vec<(Nanos, Nanos)>, end: Nanos) {
    let mut gap = end / 1_000;
    while stretches.len() > STRETCHES_MAX {
        let mut few: Vec<(Nanos, Nanos)> = Vec::new();
        for stretch in stretches.iter() {
            match few.last_mut().filter(|last| stretch.0.saturating_sub(last.1) <= gap) {
                Some(last) => last.1 = last.1.max(stretch.1),
                None => few.push(*stretch),
            }
        }
        *stretches = few;
        gap = (gap * 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    fn slots(text: &str) -> Vec<String> {
        let history = history(text);
        let digest = Digest::of(&history);
        let slots = Slots::of(&digest, &[]);
        let lane = |lane: &SlotLane| {
            let stretches = lane.stretches.iter();
            let seconds = |time: Nanos| time as f64 / 1e9;
            let stretches: Vec<String> = stretches
                .map(|(from, to)| format!("{}-{}", seconds(*from), seconds(*to)))
                .collect();
            format!("{} {}", lane.node, stretches.join(" "))
        };
        let told = |story: &SlotStory| {
            let lanes: Vec<String> = story.lanes.iter().map(lane).collect();
            format!("{} turns {}: {}", story.slot, story.turns, lanes.join(", "))
        };
        let mut lines: Vec<String> = slots.stories.iter().map(told).collect();
        lines.push(format!("{} of {}", slots.moved, slots.count));
        lines
    }

    #[test]
    fn stretches_end_where_another_node_answers() {
        let lines = slots(
            "
            1.0 0@kvrocks1 invoke write 1 key=1
            1.5 0@kvrocks1 ok write 1 key=1 slot=130 via=kvrocks1:ok
            2.0 0@kvrocks1 invoke write 2 key=1
            2.5 0@kvrocks1 ok write 2 key=1 slot=130 via=kvrocks1:ok
            3.0 0@kvrocks1 invoke write 3 key=1
            3.5 0@kvrocks1 ok write 3 key=1 slot=130 via=kvrocks1:MOVED@200000,kvrocks3:ok@400000
            4.0 0@kvrocks1 invoke write 4 key=1
            4.5 0@kvrocks1 ok write 4 key=1 slot=130 via=kvrocks1:ok
            5.0 0@kvrocks1 invoke read nil key=1
            5.5 0@kvrocks1 ok read 4 key=1 slot=130 via=kvrocks3:ok
            6.0 0@kvrocks1 invoke write 5 key=2
            6.5 0@kvrocks1 ok write 5 key=2 slot=7 via=kvrocks2:ok
            7.0 0@kvrocks1 invoke write 6 key=1
            7.5 0@kvrocks1 fail write 6 key=1 slot=130 via=kvrocks3:TRYAGAIN",
        );
        assert_eq!(lines, ["130 turns 2: kvrocks1 1-2.5 4-4.5, kvrocks3 3-3.5", "1 of 2"]);
    }

    #[test]
    fn many_short_stretches_are_drawn_as_few() {
        let mut stretches: Vec<(Nanos, Nanos)> =
            (0..10_000).map(|at| (at * 10, at * 10 + 1)).collect();
        thin(&mut stretches, 100_000);
        assert!(!stretches.is_empty() && stretches.len() <= STRETCHES_MAX);
        assert_eq!(stretches.last().map(|last| last.1), Some(99_991));
    }
}
