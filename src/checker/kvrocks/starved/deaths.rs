//! From when to when masters were dead, as views show it.

use std::collections::BTreeMap;

use super::super::answers::{Answer, Pair};
use super::super::evidence::Evidence;
use crate::cluster::{NodeState, Role};
use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Nanos, NodeName};

/// A master was down or frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Death {
    pub master: NodeName,
    pub shard: usize,
    pub from: Nanos,
    pub until: Nanos,
    pub end: End,
    /// Nodes that were dead when it died.
    pub dead_besides: Vec<NodeName>,
}

/// How a death ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was seen alive again.
    Alive,
    /// Another node took its place.
    Replaced(NodeName),
    /// The record ends before.
    Open,
}

pub(super) fn is_dead(state: NodeState) -> bool {
    matches!(state, NodeState::Down | NodeState::Paused)
}

/// Of nodes that were the only master of their shard when last seen alive.
pub(super) fn deaths(history: &History, shards: &[Vec<NodeName>]) -> Vec<Death> {
    let mut open: BTreeMap<NodeName, Death> = BTreeMap::new();
    let mut masters: Vec<Option<NodeName>> = vec![None; shards.len()];
    let (mut deaths, mut end) = (Vec::new(), 0);
    for event in history.events() {
        end = end.max(event.time);
        let Some(FaultRecord::View { view }) = FaultRecord::of(event) else { continue };
        let data = view.nodes.iter().filter(|(_, node)| node.role == Role::Kvrocks);
        let dead = data.clone().filter(|(_, node)| is_dead(node.state)).map(|(n, _)| *n);
        let dead: Vec<NodeName> = dead.collect();
        for (name, _) in data.filter(|(_, node)| !is_dead(node.state)) {
            if let Some(death) = open.remove(name) {
                deaths.push(Death { until: event.time, end: End::Alive, ..death });
            }
        }
        for (shard, nodes) in shards.iter().enumerate() {
            let leads = |name: &&NodeName| {
                view.nodes.get(*name).is_some_and(|node| node.leads && !is_dead(node.state))
            };
            let mut leading = nodes.iter().filter(leads);
            match (leading.next(), leading.next()) {
                (Some(master), None) => masters[shard] = Some(*master),
                (Some(_), Some(_)) => masters[shard] = None,
                (None, _) => {}
            }
            if let Some(master) = masters[shard].filter(|master| dead.contains(master))
                && !open.contains_key(&master)
            {
                let dead_besides = dead.iter().copied().filter(|node| *node != master).collect();
                let (from, until) = (event.time, event.time);
                let death = Death { master, shard, from, until, end: End::Open, dead_besides };
                open.insert(master, death);
            }
        }
    }
    deaths.extend(open.into_values().map(|death| Death { until: end, ..death }));
    deaths.sort_by_key(|death| (death.from, death.master));
    deaths
}

impl Death {
    /// The death as far as nobody had taken the master's place.
    pub fn up_to_replacement(&self, shard: &[NodeName], evidence: &Evidence) -> Death {
        let meanwhile = |time: Nanos| (self.from..=self.until).contains(&time);
        let others = |node: &NodeName| *node != self.master && shard.contains(node);
        let leads = evidence.views.data.iter().filter(|seen| seen.leads && others(&seen.node));
        let seen = leads.map(|seen| (seen.time, seen.node));
        let named = evidence.told.iter().filter_map(|told| {
            let master = told.document.shards.get(self.shard)?.master?;
            others(&master).then_some((told.answered, master))
        });
        match seen.chain(named).filter(|(time, _)| meanwhile(*time)).min() {
            Some((until, node)) => Death { until, end: End::Replaced(node), ..self.clone() },
            None => self.clone(),
        }
    }
}

/// Whether the shard surely held anything: one of its nodes had acknowledged a write.
pub(super) fn has_data(pairs: &[Pair], nodes: &[NodeName], by: Nanos) -> bool {
    pairs
        .iter()
        .filter_map(Answer::of)
        .any(|answer| answer.is_write() && answer.end <= by && nodes.contains(&answer.node))
}
