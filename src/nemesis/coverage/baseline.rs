//! What the workload looked like before any fault, and whether a stretch of it looked different.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::History;
use crate::name::Name;
use crate::op::{Event, Kind, Nanos, NodeName};

/// An operation is delayed if it took this many times the median before the first fault ...
const DELAY_FACTOR: Nanos = 5;
/// ... and longer than all but this share of those before.
const ORDINARY_PERCENT: usize = 99;
/// Fewer operations than this make no median.
const ENOUGH_FOR_MEDIAN: usize = 20;

/// Ordinary behaviour, by kind of operation.
pub(super) struct Baseline<'a> {
    operations: Vec<(&'a Event, Option<&'a Event>)>,
    /// Above this latency an operation counts as delayed.
    delay: BTreeMap<Name, Nanos>,
    /// Kinds that also fail without any fault, as compare-and-sets do.
    failing: BTreeSet<Name>,
}

impl<'a> Baseline<'a> {
    /// The operations of a history; those before `until` are the ordinary ones.
    pub fn of(history: &'a History, until: Nanos) -> Baseline<'a> {
        let operations = history.operations();
        let mut latencies: BTreeMap<Name, Vec<Nanos>> = BTreeMap::new();
        let mut failing = BTreeSet::new();
        for (invocation, completion) in &operations {
            let Some(completion) = completion.filter(|event| event.time < until) else { continue };
            match completion.kind {
                Kind::Ok => {
                    let latency = completion.time.saturating_sub(invocation.time);
                    latencies.entry(invocation.f).or_default().push(latency);
                }
                Kind::Fail => {
                    failing.insert(invocation.f);
                }
                Kind::Invoke | Kind::Info => {}
            }
        }
        latencies.retain(|_, latencies| latencies.len() >= ENOUGH_FOR_MEDIAN);
        let delay = latencies.into_iter().map(|(f, latencies)| (f, bound(latencies))).collect();
        Baseline { operations, delay, failing }
    }

    /// Whether an operation on one of these nodes (any, if none is named) was delayed, failed or
    /// lost while it was under way in this stretch of time.
    pub fn feels(&self, targets: &[NodeName], from: Nanos, to: Nanos) -> bool {
        self.operations.iter().any(|(invocation, completion)| {
            let ended = completion.map_or(Nanos::MAX, |event| event.time);
            let under_way = invocation.time <= to && ended >= from;
            let aimed_at = |node: &NodeName| targets.is_empty() || targets.contains(node);
            under_way
                && invocation.node.as_ref().is_some_and(aimed_at)
                && self.is_extraordinary(invocation, *completion)
        })
    }

    fn is_extraordinary(&self, invocation: &Event, completion: Option<&Event>) -> bool {
        let Some(completion) = completion else { return true };
        match completion.kind {
            Kind::Info => true,
            Kind::Fail => !self.failing.contains(&invocation.f),
            Kind::Ok => {
                let latency = completion.time.saturating_sub(invocation.time);
                self.delay.get(&invocation.f).is_some_and(|delay| latency > *delay)
            }
            Kind::Invoke => false,
        }
    }
}

fn bound(mut latencies: Vec<Nanos>) -> Nanos {
    latencies.sort_unstable();
    let median = latencies[latencies.len() / 2];
    let ordinary = latencies[(latencies.len() - 1) * ORDINARY_PERCENT / 100];
    ordinary.max(median.saturating_mul(DELAY_FACTOR))
}
