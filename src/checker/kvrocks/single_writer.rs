//! Single writer: at any time one node takes the writes of a slot.
//!
//! Ownership comes to another shard by a migration and to another node of its shard by a failover. Real
//! time forces acknowledged writes into some order, so it forces ownership to have come to a shard, or
//! within the shard to a node, at least so many times; each time must be paid for by a transfer that had
//! begun by then. Acknowledgements that overlap around one transfer force nothing.

mod forced;
mod story;

use std::collections::{BTreeMap, BTreeSet};

use super::KvrocksChecks;
use super::answers::Answer;
use super::evidence::Evidence;
use super::lost::losses;
use super::wording::{counted, finding};
use crate::checker::{Anomaly, Budget, Checker, Finding};
use crate::history::History;
use crate::op::{Nanos, NodeName};
use forced::{Span, Turn, first_unpaid, turns};

/// Slots whose violations are explained; the rest are counted.
const EXPLAINED: usize = 10;

/// Demands that changes of who takes a slot's writes are paid for by transfers.
#[derive(Clone, Debug)]
pub(super) struct SingleWriter {
    pub checks: KvrocksChecks,
}

/// To whom ownership comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Shard(usize),
    /// A node among those of its shard.
    Node(NodeName, usize),
}

/// Turns of which the last is not paid for.
struct Violation {
    slot: u16,
    side: Side,
    turns: Vec<Turn>,
}

impl Checker for SingleWriter {
    fn name(&self) -> &'static str {
        "single-writer"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let pairs = history.operations();
        let evidence = Evidence::of(history, &pairs, &self.checks.shards);
        let writes: Vec<Answer> =
            pairs.iter().filter_map(Answer::of).filter(Answer::is_write).collect();
        let mut slots: BTreeMap<u16, Vec<Answer>> = BTreeMap::new();
        for write in &writes {
            if let Some(slot) = write.slot {
                slots.entry(slot).or_default().push(*write);
            }
        }
        slots.values_mut().for_each(|writes| writes.sort_by_key(|write| write.end));
        let judged: usize = slots.values().map(Vec::len).sum();
        let mut violations: Vec<Violation> =
            slots.iter().filter_map(|(slot, writes)| violation(*slot, writes, &evidence)).collect();
        violations.sort_by_key(|violation| violation.shown());
        let violated = violations.len();
        violations.truncate(EXPLAINED);
        // Losses only go into stories.
        let losses = (violated > 0).then(|| losses(&pairs, &evidence, &self.checks)).flatten();
        let blamed = losses.map_or(Vec::new(), |losses| losses.blamed);
        let anomalies: Vec<Anomaly> = violations
            .iter()
            .map(|violation| story::tell(violation, &slots[&violation.slot], &evidence, &blamed))
            .collect();
        let why = why(slots.len(), judged, violated, writes.len() - judged);
        let figures = [
            ("slots", slots.len() as f64),
            ("writes", judged as f64),
            ("violated-slots", violated as f64),
            ("migrations", evidence.migrations.len() as f64),
            ("failovers", evidence.promotions.all.len() as f64),
        ];
        finding(self.name(), why, anomalies, figures)
    }
}

fn why(slots: usize, judged: usize, violated: usize, unrouted: usize) -> String {
    let work = format!("{} in {}", counted(judged, "acknowledged write"), counted(slots, "slot"));
    let mut why = match violated {
        0 => format!("{work}: every change of the node was paid for by a transfer"),
        1 => format!("{work}: one slot had two writers"),
        more => format!("{work}: {more} slots had two writers"),
    };
    if unrouted > 0 {
        why += &format!("; not judged, for want of a slot: {}", counted(unrouted, "write"));
    }
    why
}

impl Violation {
    /// The moment at which it shows.
    fn shown(&self) -> Nanos {
        self.turns.last().map_or(0, |turn| turn.by)
    }
}

/// The violation of a slot that shows first.
fn violation(slot: u16, writes: &[Answer], evidence: &Evidence) -> Option<Violation> {
    let nodes: BTreeSet<NodeName> = writes.iter().map(|write| write.node).collect();
    let shards: BTreeSet<usize> =
        nodes.iter().filter_map(|node| evidence.shards.of(node)).collect();
    let between = shards.iter().map(|shard| Side::Shard(*shard));
    let within = nodes.iter().filter_map(|node| Some(Side::Node(*node, evidence.shards.of(node)?)));
    between
        .chain(within)
        .filter_map(|side| {
            let turns = unpaid(slot, side, writes, evidence)?;
            Some(Violation { slot, side, turns })
        })
        .min_by_key(Violation::shown)
}

/// A transfer that ownership may come by.
struct Permit {
    begun: Nanos,
    /// Under this version of the topology it has come.
    version: Option<u64>,
}

impl Permit {
    /// From when on it pays for nothing more: all who write later have taken up that version. A
    /// controller's word is not enough, for nodes learn of it one by one.
    fn over(&self, last_writes: &BTreeMap<NodeName, Nanos>, evidence: &Evidence) -> Option<Nanos> {
        let version = self.version?;
        let settled = last_writes.iter().map(|(node, last)| {
            let learned = evidence.views.learned(node, version).unwrap_or(Nanos::MAX);
            learned.min(*last)
        });
        settled.max()
    }
}

/// Looks at the whole history, and at what is left of it after each transfer that is over: that one
/// pays for nothing any more.
fn unpaid(slot: u16, side: Side, writes: &[Answer], evidence: &Evidence) -> Option<Vec<Turn>> {
    let spans: Vec<Span> = spans(side, writes, evidence);
    let mut last_writes: BTreeMap<NodeName, Nanos> = BTreeMap::new();
    for span in &spans {
        let last = last_writes.entry(writes[span.write as usize].node).or_default();
        *last = span.start.max(*last);
    }
    let permits: Vec<(Nanos, Option<Nanos>)> = permits(slot, side, evidence)
        .iter()
        .map(|permit| (permit.begun, permit.over(&last_writes, evidence)))
        .collect();
    let all: Vec<Nanos> = permits.iter().map(|(begun, _)| *begun).collect();
    let mut found: Vec<Vec<Turn>> = Vec::new();
    found.extend(unpaid_among(&spans, owned_first(slot, side, evidence), all));
    let mut overs: Vec<Nanos> = permits.iter().filter_map(|(_, over)| *over).collect();
    overs.sort_unstable();
    overs.dedup();
    for over in overs {
        let rest: Vec<Span> = spans.iter().filter(|span| span.start > over).copied().collect();
        let still = permits.iter().filter(|(_, other)| other.is_none_or(|other| other > over));
        found.extend(unpaid_among(&rest, None, still.map(|(begun, _)| *begun).collect()));
    }
    found.into_iter().min_by_key(|turns| turns.last().map_or(0, |turn| turn.by))
}

/// The turns up to the first that is not paid for, whoever owned at first where that is not known.
fn unpaid_among(
    spans: &[Span],
    owned_first: Option<bool>,
    mut permits: Vec<Nanos>,
) -> Option<Vec<Turn>> {
    let mut judge = |inside_first: bool| {
        let mut turns = turns(spans, inside_first);
        let unpaid = first_unpaid(&turns, &mut permits)?;
        turns.truncate(unpaid + 1);
        Some(turns)
    };
    match owned_first {
        Some(inside) => judge(inside),
        None => {
            let (inside, outside) = (judge(true)?, judge(false)?);
            // Of two accounts the one that needs more is the harder to explain away.
            Some(if inside.len() >= outside.len() { inside } else { outside })
        }
    }
}

fn spans(side: Side, writes: &[Answer], evidence: &Evidence) -> Vec<Span> {
    let numbered = writes.iter().zip(0..);
    let concerned = numbered.filter(|(write, _)| match side {
        Side::Shard(_) => true,
        Side::Node(_, shard) => evidence.shards.of(&write.node) == Some(shard),
    });
    concerned
        .map(|(answer, write)| Span {
            start: answer.start,
            end: answer.end,
            inside: match side {
                Side::Shard(shard) => evidence.shards.of(&answer.node) == Some(shard),
                Side::Node(node, _) => answer.node == node,
            },
            write,
        })
        .collect()
}

fn owned_first(slot: u16, side: Side, evidence: &Evidence) -> Option<bool> {
    match side {
        Side::Shard(shard) => evidence.first_owner(slot).map(|first| first == shard),
        Side::Node(node, shard) => evidence.promotions.first_of(shard).map(|first| first == node),
    }
}

fn permits(slot: u16, side: Side, evidence: &Evidence) -> Vec<Permit> {
    match side {
        Side::Shard(shard) => evidence
            .migrations_of(slot)
            .filter(|migration| migration.target == shard)
            .map(|migration| Permit { begun: migration.invoked, version: migration.done })
            .collect(),
        Side::Node(node, shard) => {
            let seen = evidence.promotions.all.iter().filter(|promotion| promotion.to == node);
            let seen = seen.map(|p| Permit { begun: p.not_before, version: Some(p.version) });
            let unseen = evidence.promotions.unseen.iter().filter(|u| u.shard == shard);
            let unseen = unseen.flat_map(|unseen| {
                let permit = || Permit { begun: unseen.from, version: unseen.by };
                std::iter::repeat_with(permit).take(unseen.count)
            });
            seen.chain(unseen).collect()
        }
    }
}

#[cfg(test)]
mod tests;
