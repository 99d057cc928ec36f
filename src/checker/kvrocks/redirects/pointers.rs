//! Whom each node names for a slot, as time goes by, and when that is a circle.

use std::collections::BTreeMap;

use super::super::answers::Pair;
use crate::op::{Nanos, NodeName};

/// Statements that an episode keeps: the first ones.
const SAID_MAX: usize = 6;

/// Nodes that named each other for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    pub slot: u16,
    /// In the order in which they name each other.
    pub nodes: Vec<NodeName>,
    /// When it was first and last seen.
    pub from: Nanos,
    pub last: Nanos,
    /// Nobody said anything else after it.
    pub is_open: bool,
    pub said: Vec<(Nanos, NodeName, NodeName)>,
    /// Operations that first and last saw it.
    pub ops: Vec<u64>,
}

/// What a node said of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub time: Nanos,
    pub op: u64,
    pub node: NodeName,
    /// Whom it named; `None` where it took the request for its own.
    pub target: Option<NodeName>,
}

/// By slot, in order of time.
pub(super) fn statements(pairs: &[Pair]) -> BTreeMap<u16, Vec<Statement>> {
    let mut by_slot: BTreeMap<u16, Vec<Statement>> = BTreeMap::new();
    for (invocation, completion) in pairs {
        let route = completion.and_then(|event| event.route.as_deref());
        // Replicas answer some readers what they send others on for.
        if invocation.f.starts_with("stale") || &*invocation.f == "dump" {
            continue;
        }
        let Some((route, slot)) = route.and_then(|route| Some((route, route.slot?))) else {
            continue;
        };
        let said = route.hops.iter().filter_map(|hop| {
            let target = target(&hop.said)?;
            let time = invocation.time + hop.after_us * 1_000;
            Some(Statement { time, op: invocation.index, node: hop.node, target })
        });
        by_slot.entry(slot).or_default().extend(said);
    }
    by_slot.values_mut().for_each(|said| said.sort_by_key(|one| (one.time, one.op)));
    by_slot
}

/// `None` of what tells nothing: a connection that broke, a timeout.
fn target(said: &str) -> Option<Option<NodeName>> {
    let mut words = said.split(' ');
    match words.next()? {
        "MOVED" => Some(Some(words.nth(1)?.into())),
        "ok" | "TRYAGAIN" | "CLUSTERDOWN" | "ASK" => Some(None),
        _ => None,
    }
}

pub(super) fn episodes(pairs: &[Pair]) -> Vec<Episode> {
    let by_slot = statements(pairs);
    let mut all: Vec<Episode> =
        by_slot.iter().flat_map(|(slot, said)| episodes_of(*slot, said)).collect();
    all.sort_by_key(|episode| (episode.from, episode.slot));
    all
}

/// The episodes of one slot. One is proven from the moment that closed the circle to the last one by which
/// all of its nodes had said the same again.
pub(super) fn episodes_of(slot: u16, said: &[Statement]) -> Vec<Episode> {
    let mut names: BTreeMap<NodeName, NodeName> = BTreeMap::new();
    let mut latest: BTreeMap<NodeName, Nanos> = BTreeMap::new();
    let mut episodes: Vec<Episode> = Vec::new();
    for one in said {
        let same = one.target.is_some() && names.get(&one.node) == one.target.as_ref();
        latest.insert(one.node, one.time);
        match one.target {
            Some(target) => names.insert(one.node, target),
            None => names.remove(&one.node),
        };
        let concerned = |open: &&mut Episode| open.is_open && open.nodes.contains(&one.node);
        if let Some(open) = episodes.iter_mut().find(concerned) {
            if same {
                let last = open.nodes.iter().filter_map(|node| latest.get(node)).min();
                open.last = last.copied().unwrap_or(open.from).max(open.from);
                open.ops.truncate(1);
                open.ops.push(one.op);
                if let (true, Some(target)) = (open.said.len() < SAID_MAX, one.target) {
                    open.said.push((one.time, one.node, target));
                }
                continue;
            }
            open.is_open = false;
        }
        if let Some(nodes) = circle(&names, one.node) {
            let said = vec![(one.time, one.node, names[&one.node])];
            let (from, last) = (one.time, one.time);
            episodes.push(Episode {
                slot,
                nodes,
                from,
                last,
                is_open: true,
                said,
                ops: vec![one.op],
            });
        }
    }
    // What a node said long before the other may have been over by then.
    episodes.retain(|episode| episode.from < episode.last);
    episodes
}

/// The circle that this node is part of.
fn circle(names: &BTreeMap<NodeName, NodeName>, start: NodeName) -> Option<Vec<NodeName>> {
    let mut nodes = vec![start];
    let mut next = *names.get(&start)?;
    while next != start {
        if nodes.contains(&next) {
            return None;
        }
        nodes.push(next);
        next = *names.get(&next)?;
    }
    Some(nodes)
}
