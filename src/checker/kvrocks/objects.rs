//! Lists, sets, counters and locks: whether what clients saw of one can have been a list, a set, a counter
//! or a lock at all.
//!
//! Two operations contradict each other only within one ownership term: what a failover between them may
//! have taken back explains a great deal, and is counted as permitted. Where the term of an operation is not
//! known, a contradiction is neither blamed nor forgiven: the verdict is unknown. What lost writes and stale
//! reads have checkers of their own for is left to them.

mod breach;
mod counts;
mod deeds;
mod growth;
mod holders;
mod line;
mod order;
#[cfg(test)]
mod tests;
mod tokens;
mod torn;
mod unwritten;
mod vanished;
mod within;

use super::answers::Pair;
use super::evidence::Evidence;
use super::{KvrocksChecks, KvrocksObject, lost};
use crate::checker::{Budget, Checker, Finding};
use crate::history::History;
use breach::Found;
use deeds::Deed;
use line::Line;

/// Demands that objects behave as what they are.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    pub checks: KvrocksChecks,
}

impl Objects {
    fn search(&self, pairs: &[Pair], evidence: &Evidence, budget: &Budget) -> Found {
        let mut found = Found::default();
        match self.checks.object {
            Some(KvrocksObject::List) => {
                let deeds = deeds::transactions(pairs);
                unwritten::search(&deeds, &mut found);
                torn::search(&deeds, &mut found);
                order::search(&deeds, evidence, &mut found);
                self.growth(&deeds, pairs, evidence, growth::lists, budget, &mut found);
            }
            Some(KvrocksObject::Set) => {
                let deeds = deeds::sets(pairs);
                unwritten::search(&deeds, &mut found);
                self.growth(&deeds, pairs, evidence, growth::sets, budget, &mut found);
            }
            Some(KvrocksObject::Counter) => counts::search(pairs, evidence, &mut found),
            Some(KvrocksObject::Lock { ttl }) => {
                holders::search(pairs, evidence, ttl, &mut found);
                tokens::search(pairs, evidence, &mut found);
            }
            Some(KvrocksObject::Register(_)) | None => {}
        }
        found
    }

    fn growth(
        &self,
        deeds: &[Deed],
        pairs: &[Pair],
        evidence: &Evidence,
        search: fn(&[Line], &mut Found),
        budget: &Budget,
        found: &mut Found,
    ) {
        if (budget.exhausted)() {
            found.is_unfinished = true;
            return;
        }
        let lines = line::lines(deeds, evidence);
        search(&lines, found);
        let losses = lost::losses(pairs, evidence, &self.checks);
        vanished::search(&lines, losses.as_ref(), found);
    }
}

impl Checker for Objects {
    fn name(&self) -> &'static str {
        "model"
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding {
        let pairs = history.operations();
        let evidence = Evidence::of(history, &pairs, &self.checks.shards);
        self.search(&pairs, &evidence, budget).finding(self.name())
    }
}
