//! Slots on their way from one shard to the other, step by step.

use super::store::Change;
use super::{Cause, Cluster, Flaw};

/// A slot on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub slot: u16,
    pub target: usize,
    /// The destination serves it, though no topology says so yet.
    pub arrived: bool,
    /// So does the source.
    pub split: bool,
}

impl Cluster {
    /// A migration takes its next step.
    pub(super) fn migrate(&mut self) {
        let Some(moving) = self.moving else {
            let slots: Vec<u16> = self.owners.keys().copied().collect();
            let slot = *self.rng.pick(&slots).expect("slots");
            let target = 1 - self.owners[&slot];
            self.version += 1;
            self.moving = Some(Moving { slot, target, arrived: false, split: false });
            let info = self.rng.chance(0.2);
            let document = self.document();
            self.recorder.migrate(slot, target, (!info).then_some(document));
            return;
        };
        if self.pending.is_some() || self.deposed.keys().any(|node| !self.deposed[node]) {
            // A master that does not know better would go on with a slot that is moved away.
            return;
        }
        match moving.arrived {
            true => self.decide(moving),
            false if self.rng.chance(0.3) => self.end_of_migration(),
            false => self.arrive(moving),
        }
    }

    fn arrive(&mut self, moving: Moving) {
        let split = self.plan.flaw == Flaw::SplitMigration && self.rng.chance(0.6);
        let short = self.plan.flaw == Flaw::ShortMigration && self.rng.chance(0.5);
        let [source, destination] = [1 - moving.target, moving.target].map(|s| self.masters[s]);
        for key in self.keys_in(moving.slot) {
            let mut held = self.stores[source].get(key);
            if short && let Some(last) = held.pop() {
                self.lose(&Change::Append(last), Cause::Flaw);
                self.flawed = true;
            }
            self.stores[destination].apply(key, Change::Replace(held));
        }
        self.moving = Some(Moving { arrived: true, split, ..moving });
    }

    /// The topology follows, or, after a split, takes the slot back from the destination.
    pub(super) fn decide(&mut self, moving: Moving) {
        let [source, destination] = [1 - moving.target, moving.target].map(|s| self.masters[s]);
        for key in self.keys_in(moving.slot) {
            if moving.split {
                let kept = self.stores[source].get(key);
                for value in self.stores[destination].get(key) {
                    if !kept.contains(&value) {
                        self.lose(&Change::Append(value), Cause::Flaw);
                    }
                }
                self.stores[destination].apply(key, Change::Replace(Vec::new()));
            } else {
                self.stores[source].apply(key, Change::Replace(Vec::new()));
            }
        }
        if moving.split {
            self.flawed = true;
        } else {
            self.owners.insert(moving.slot, moving.target);
        }
        self.end_of_migration();
    }

    pub(super) fn end_of_migration(&mut self) {
        self.moving = None;
        self.version += 1;
    }
}
