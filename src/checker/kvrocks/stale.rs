//! Stale reads: an answer that lacks what had been acknowledged before it was asked for, and by how much.
//!
//! Only within one ownership term: what a failover may have taken back nobody needs to see. What is gone
//! for good is lost rather than late, and not told here.

mod counter;
mod elements;
mod register;

use std::collections::BTreeMap;

use super::answers::{Answer, Pair};
use super::evidence::Evidence;
use super::terms::Terms;
use super::wording::{bounded, counted, finding, line, milliseconds, seconds, what};
use super::{KvrocksChecks, KvrocksObject};
use crate::checker::{Anomaly, Budget, Checker, Finding};
use crate::history::History;
use crate::op::{Nanos, NodeName};

/// Demands that reads see what had been acknowledged.
#[derive(Clone, Debug)]
pub(super) struct StaleReads {
    pub checks: KvrocksChecks,
}

/// A read that saw too little.
#[derive(Clone, Copy, Debug)]
struct Stale<'a> {
    read: Answer<'a>,
    /// The first acknowledged operation that it should have seen.
    missed: Answer<'a>,
    /// For how long what it saw had been out of date.
    late: Nanos,
    /// How many acknowledged writes it lacked, at least.
    behind: usize,
}

/// What was found, and among how many reads whose term is known.
#[derive(Default)]
struct Found<'a> {
    stale: Vec<Stale<'a>>,
    judged: usize,
    /// Reads around failovers that may belong to several terms.
    open: usize,
}

impl Found<'_> {
    /// The term of an operation, if it is a single one; of reads, it is counted.
    fn term(&mut self, terms: &Terms, read: &Answer) -> Option<usize> {
        let term = single_term(terms, read);
        match term {
            Some(_) => self.judged += 1,
            None => self.open += 1,
        }
        term
    }
}

fn single_term(terms: &Terms, answer: &Answer) -> Option<usize> {
    let range = terms.range(&answer.node, answer.start, answer.end);
    (range.start() == range.end()).then_some(*range.start())
}

/// The terms of the slot that these operations were about.
fn terms_of<'e, 'a>(
    evidence: &'e Evidence,
    answers: impl IntoIterator<Item = &'a Answer<'a>>,
) -> Terms<'e> {
    Terms::of(evidence, answers.into_iter().find_map(|answer| answer.slot))
}

fn search<'a>(pairs: &[Pair<'a>], evidence: &Evidence, object: &KvrocksObject) -> Found<'a> {
    let mut found = Found::default();
    match object {
        KvrocksObject::Register(_) => register::search(pairs, evidence, &mut found),
        KvrocksObject::List => {
            elements::search(&super::elements::lists(pairs), evidence, &mut found);
        }
        KvrocksObject::Set => {
            elements::search(&super::elements::sets(pairs), evidence, &mut found);
        }
        KvrocksObject::Counter => counter::search(pairs, evidence, &mut found),
        KvrocksObject::Lock { .. } => {}
    }
    found.stale.sort_by_key(|stale| (stale.read.end, stale.read.invocation.index));
    found
}

impl Checker for StaleReads {
    fn name(&self) -> &'static str {
        "stale-reads"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let pairs = history.operations();
        let evidence = Evidence::of(history, &pairs, &self.checks.shards);
        let found = self.checks.object.as_ref().map(|object| search(&pairs, &evidence, object));
        let found = found.unwrap_or_default();
        let mut late: Vec<Nanos> = found.stale.iter().map(|stale| stale.late).collect();
        late.sort_unstable();
        let worst = milliseconds(late.last().copied().unwrap_or(0));
        let median = milliseconds(late.get(late.len() / 2).copied().unwrap_or(0));
        let behind = found.stale.iter().map(|stale| stale.behind).max().unwrap_or(0);
        let mut why = counted(found.judged, "read");
        why += &match found.stale.len() {
            0 => ": none was stale".to_owned(),
            count => format!(": {count} stale, by {worst} ms and {behind} writes at worst"),
        };
        if found.open > 0 {
            why += &format!("; {} around failovers not judged", counted(found.open, "read"));
        }
        let figures = [
            ("reads", found.judged as f64),
            ("stale-reads", found.stale.len() as f64),
            ("worst-ms", worst),
            ("p50-ms", median),
            ("worst-writes-behind", behind as f64),
        ];
        finding(self.name(), why, anomalies(&found.stale), figures)
    }
}

/// One for each node, in name order, told by its worst.
fn anomalies(stale: &[Stale]) -> Vec<Anomaly> {
    let mut nodes: BTreeMap<NodeName, Vec<&Stale>> = BTreeMap::new();
    for one in stale {
        nodes.entry(one.read.node).or_default().push(one);
    }
    nodes.iter().filter_map(|(node, stale)| anomaly(*node, stale)).collect()
}

fn anomaly(node: NodeName, stale: &[&Stale]) -> Option<Anomaly> {
    let mut by_age: Vec<&&Stale> = stale.iter().collect();
    by_age.sort_by_key(|one| (std::cmp::Reverse(one.late), one.read.invocation.index));
    let worst = by_age.first()?;
    let shown = by_age.iter().take(2).flat_map(|one| {
        let (late, behind) = (milliseconds(one.late), counted(one.behind, "write"));
        [line(&one.missed), line(&one.read), format!("stale by {late} ms, at least {behind}")]
    });
    let mut ops = vec![worst.missed.invocation.index, worst.read.invocation.index];
    ops.sort_unstable();
    let mut nodes = vec![node.to_string(), worst.missed.node.to_string()];
    nodes.dedup();
    let process = worst.read.invocation.process;
    Some(Anomaly {
        kind: "stale-read".to_owned(),
        summary: format!(
            "{node} answered {} with what had been replaced, by {} ms at worst: process {process} asked for {} at {} and did not see {}, which {} had acknowledged at {}",
            counted(stale.len(), "read"),
            milliseconds(worst.late),
            what(worst.read.completion),
            seconds(worst.read.invocation.time),
            what(worst.missed.invocation),
            worst.missed.node,
            seconds(worst.missed.end),
        ),
        details: bounded(shown),
        key: worst.read.invocation.key.as_ref().map(ToString::to_string),
        nodes,
        ops,
        from: worst.missed.invocation.time,
        to: worst.read.end,
        faults: None,
        cycle: None,
    })
}

#[cfg(test)]
mod tests;
