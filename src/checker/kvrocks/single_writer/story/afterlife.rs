//! A master that was deposed and went on, or came back: what it took after its successor had taken over.

use super::{Episode, end};
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::single_writer::{Side, Violation};
use crate::op::{Nanos, NodeName};

pub(super) struct Afterlife {
    pub deposed: NodeName,
    pub by: NodeName,
    /// By then its successor had taken over.
    pub taken: Nanos,
    /// What it acknowledged after that: so many writes, of which the first began and the last ended then.
    pub count: usize,
    pub from: Nanos,
    pub to: Nanos,
}

impl Afterlife {
    /// `None` where no failover of one of the two by the other explains the first change.
    pub fn of(
        violation: &Violation,
        episode: &Episode,
        writes: &[Answer],
        evidence: &Evidence,
    ) -> Option<Afterlife> {
        let Side::Node(_, shard) = violation.side else { return None };
        let [one, other] = episode.nodes;
        let promotions = evidence.promotions.all.iter().filter(|p| p.shard == shard);
        let between = promotions.filter(|p| {
            ((p.from, p.to) == (one, other) || (p.from, p.to) == (other, one))
                && p.not_before <= episode.to
        });
        let promotion = between.max_by_key(|p| p.version)?;
        let (deposed, by) = (promotion.from, promotion.to);
        let of = |node: NodeName| writes.iter().filter(move |write| write.node == node);
        let taken = of(by).filter(|write| write.end >= promotion.not_before);
        let taken = taken.map(|write| write.end).min()?;
        let until = end(violation, episode.to, evidence);
        let on = || of(deposed).filter(|write| write.start > taken && write.end < until);
        let from = on().map(|write| write.start).min()?;
        let to = on().map(|write| write.end).max()?;
        Some(Afterlife { deposed, by, taken, count: on().count(), from, to })
    }
}
