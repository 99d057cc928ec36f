//! Failovers that were asked for and of which nobody was seen to be the new master.
//!
//! Versions that nobody saw may hide them. And where controllers write without compare-and-set, the document
//! with a promotion may be replaced by another one of the same version; some nodes may have been told the
//! first, so it counts as begun.

use super::{ADOPTED_WITHIN, Promotions, Sources, Unseen};
use crate::checker::kvrocks::evidence::operators::FailoverOrder;
use crate::op::Nanos;

impl Promotions {
    /// The orders that are left when each promotion that was seen is put down to one.
    pub(super) fn unaccounted(&self, orders: &[FailoverOrder]) -> Vec<FailoverOrder> {
        let mut taken = vec![false; self.all.len()];
        let mut left = Vec::new();
        for order in orders {
            let until = order.completed.saturating_add(ADOPTED_WITHIN);
            // Promotions of a shard are in the order of their versions, so the first that fits is
            // the one that leaves the most to later orders.
            let fits = self.all.iter().zip(&taken).position(|(promotion, taken)| {
                let own = promotion.shard == order.shard && !taken;
                own && promotion.not_before <= until && promotion.seen >= order.invoked
            });
            match fits {
                Some(position) => taken[position] = true,
                None => left.push(*order),
            }
        }
        left
    }

    /// Adds a promotion for each of those that was acknowledged and that no hidden version explains.
    pub(super) fn add_unaccounted(&mut self, unaccounted: &[FailoverOrder], sources: &Sources) {
        for FailoverOrder { shard, invoked, completed } in unaccounted {
            let (shard, from) = (*shard, *invoked);
            let until = completed.saturating_add(ADOPTED_WITHIN);
            let open = |unseen: &Unseen| {
                unseen.shard == shard && unseen.from <= until && unseen.until >= from
            };
            if *completed == Nanos::MAX || self.unseen.iter().any(open) {
                continue;
            }
            let told = sources.told.iter().filter(|told| told.answered <= from);
            let seen = sources.views.data.iter().filter(|seen| seen.time <= from);
            let known = told.map(|told| told.document.version);
            let above = known.chain(seen.filter_map(|seen| seen.version)).max().unwrap_or(0);
            self.unseen.push(Unseen { shard, count: 1, from, until, above, by: None, after: None });
        }
    }
}
