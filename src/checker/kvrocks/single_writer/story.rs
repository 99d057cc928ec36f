//! Tells a split brain: which two nodes took writes for one slot, when, under which versions of the
//! topology, what transfers there had been, and what of it is lost.

mod afterlife;
mod versions;

use std::collections::BTreeSet;

use super::{Side, Violation};
use crate::checker::Anomaly;
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::lost::{Blame, Gone};
use crate::checker::kvrocks::wording::{bounded, counted, line, seconds, times};
use crate::op::{Nanos, NodeName};
use afterlife::Afterlife;
use versions::Versions;

/// Turns that are shown of those that real time forces; the last is the one that nothing pays for.
const TURNS_SHOWN: usize = 4;

/// The stretch of time in which two nodes took writes.
struct Episode<'a> {
    /// The one that came first in it, and the other.
    nodes: [NodeName; 2],
    from: Nanos,
    to: Nanos,
    /// Writes of the first and of the other.
    counts: [usize; 2],
    /// Each of them took a write after one of the other.
    mutual: bool,
    /// The writes that real time puts in an order that no transfers explain.
    chain: Vec<Answer<'a>>,
}

/// What there is to say of an episode beyond itself.
struct Told {
    lost: usize,
    afterlife: Option<Afterlife>,
    versions: [Versions; 2],
}

pub(super) fn tell(
    violation: &Violation,
    writes: &[Answer],
    evidence: &Evidence,
    blamed: &[(Gone, Blame)],
) -> Anomaly {
    let mut episode = Episode::of(violation, writes, evidence);
    let afterlife = Afterlife::of(violation, &episode, writes, evidence);
    if let Some(afterlife) = &afterlife {
        (episode.from, episode.to) = (afterlife.from, afterlife.to);
    }
    let gone = blamed.iter().map(|(gone, _)| gone);
    let lost: Vec<&Gone> = gone.filter(|gone| episode.holds(violation.slot, &gone.write)).collect();
    let told = Told {
        lost: lost.len(),
        afterlife,
        versions: episode
            .nodes
            .map(|node| Versions::of(node, (episode.from, episode.to), evidence)),
    };
    let mut details: Vec<String> = episode.chain.iter().map(line).collect();
    details.push(transfers(violation, episode.to, evidence));
    details.push(versions::told(&told.versions));
    details.extend(lost_told(&lost));
    let mut ops: BTreeSet<u64> = episode.chain.iter().map(|write| write.invocation.index).collect();
    ops.extend(lost.iter().take(TURNS_SHOWN).map(|gone| gone.write.invocation.index));
    let key = episode.chain.last().and_then(|write| write.invocation.key.as_ref());
    Anomaly {
        kind: "split-brain".to_owned(),
        summary: summary(violation, &episode, &told),
        details,
        key: key.map(ToString::to_string),
        nodes: episode.nodes.iter().map(ToString::to_string).collect(),
        ops: ops.into_iter().collect(),
        from: episode.from,
        to: episode.to,
        faults: None,
        cycle: None,
    }
}

impl<'a> Episode<'a> {
    fn of(violation: &Violation, writes: &[Answer<'a>], evidence: &Evidence) -> Episode<'a> {
        let shown = violation.turns.len().saturating_sub(TURNS_SHOWN);
        let chain = violation.turns[shown..].iter().filter_map(|t| writes.get(t.write as usize));
        let mut chain: Vec<Answer> = chain.copied().collect();
        // One turn alone is not paid for: what the owner took before it belongs to the story.
        if chain.len() == 1 {
            let before =
                writes.iter().filter(|w| w.node != chain[0].node && w.end < chain[0].start);
            chain.extend(before.max_by_key(|write| write.end));
        }
        chain.sort_by_key(|write| write.start);
        let last = chain[chain.len() - 1];
        let other = chain.iter().rev().find(|write| write.node != last.node);
        let other = other.map_or(last.node, |write| write.node);
        let of = |node: NodeName| writes.iter().filter(move |write| write.node == node);
        let from = of(other).filter(|write| write.end < last.start).map(|write| write.start);
        let from = chain
            .iter()
            .rev()
            .find(|write| write.node == other)
            .map_or_else(|| from.max().unwrap_or(last.start), |write| write.start);
        let until = end(violation, last.end, evidence);
        let latest = |node| of(node).map(|w| w.end).filter(|end| *end < until).max().unwrap_or(0);
        let to = latest(other).min(latest(last.node)).max(last.end);
        let within = |node| of(node).filter(move |w| w.start >= from && w.end <= to);
        let follows = |node, before| {
            let first = within(before).map(|w| w.end).min().unwrap_or(Nanos::MAX);
            of(node).any(|w| w.start > first && w.end < until)
        };
        Episode {
            nodes: [other, last.node],
            from,
            to,
            counts: [within(other).count(), within(last.node).count()],
            mutual: follows(other, last.node) && follows(last.node, other),
            chain,
        }
    }

    fn holds(&self, slot: u16, write: &Answer) -> bool {
        write.slot == Some(slot)
            && self.nodes.contains(&write.node)
            && write.end >= self.from
            && write.start <= self.to
    }
}

/// The next transfer begins another story.
fn end(violation: &Violation, after: Nanos, evidence: &Evidence) -> Nanos {
    let next = match violation.side {
        Side::Shard(_) => {
            evidence.migrations_of(violation.slot).map(|m| m.invoked).filter(|t| *t > after).min()
        }
        Side::Node(_, shard) => {
            let promotions = evidence.promotions.all.iter().filter(|p| p.shard == shard);
            promotions.map(|p| p.not_before).filter(|time| *time > after).min()
        }
    };
    next.unwrap_or(Nanos::MAX)
}

fn summary(violation: &Violation, episode: &Episode, told: &Told) -> String {
    let ([one, other], [ones, others]) = (episode.nodes, episode.counts);
    let (from, to) = (seconds(episode.from), seconds(episode.to));
    let lost = match told.lost {
        0 => String::new(),
        lost => format!(", at least {lost} of them lost"),
    };
    let slot = violation.slot;
    let topology = versions::both(&told.versions);
    if let Some(Afterlife { deposed, by, taken, count, .. }) = &told.afterlife {
        let (taken, count) = (seconds(*taken), counted(*count, "write"));
        return format!(
            "slot {slot}: deposed master {deposed} acknowledged {count} from {from} to {to}, though {by} had taken over by {taken}{lost}, {topology}"
        );
    }
    let what = match episode.mutual {
        true => format!("slot {slot} was written at {one} and {other} at the same time"),
        false => format!(
            "slot {slot} was written at {one} and then at {other}, to which it had not been given,"
        ),
    };
    let (ones, others) = (counted(ones, "write"), counted(others, "write"));
    format!("{what} from {from} to {to}: {ones} and {others} were acknowledged{lost}, {topology}")
}

/// What could have paid for turns to the side that took one too many.
fn transfers(violation: &Violation, by: Nanos, evidence: &Evidence) -> String {
    let turns = violation.turns.iter().filter(|turn| turn.inside).count();
    let came = times(turns);
    match violation.side {
        Side::Shard(shard) => {
            let migrations = evidence.migrations_of(violation.slot);
            let told = migrations.filter(|m| m.invoked <= by).map(|migration| {
                let (target, at) = (migration.target, seconds(migration.invoked));
                let over = migration.over.map_or(String::new(), |over| {
                    format!(", known to be over at {}", seconds(over))
                });
                format!("to shard {target} at {at}{over}")
            });
            let told = list(told.collect());
            format!(
                "the slot must have come to shard {shard} {came}; migrations of it asked for: {told}"
            )
        }
        Side::Node(node, shard) => {
            let promotions = evidence.promotions.all.iter().filter(|p| p.shard == shard);
            let told = promotions.filter(|promotion| promotion.not_before <= by).map(|p| {
                format!("{} under version {}, seen at {}", p.to, p.version, seconds(p.seen))
            });
            let told = list(told.collect());
            format!(
                "{node} must have become the slot's master {came}; failovers of its shard: {told}"
            )
        }
    }
}

fn list(told: Vec<String>) -> String {
    match told.is_empty() {
        true => "none".to_owned(),
        false => bounded(told).join("; "),
    }
}

fn lost_told(lost: &[&Gone]) -> Vec<String> {
    bounded(lost.iter().map(|gone| {
        let (node, at) = (gone.write.node, seconds(gone.write.end));
        format!("lost: {}, acknowledged by {node} at {at}", gone.what)
    }))
}
