//! What a history tells of a kvrocks cluster beside its clients' operations: who was master under which
//! version of the topology, which transfers of ownership began, and when a fault was in force.

mod calm;
mod custody;
mod document;
mod masters;
mod operators;
mod ownership;
mod shards;
mod slots;
mod views;

pub(super) use calm::Calm;
pub(super) use custody::Custody;
pub(super) use document::{Document, Mark, Part};
pub(super) use masters::{Promotion, Promotions, Unseen};
pub(super) use operators::{Migration, Told};
pub(super) use shards::Shards;

use crate::checker::phases::Phases;
use crate::history::History;
use crate::op::{Event, Nanos, NodeName};
use operators::Operators;
use ownership::Ownership;
pub(super) use views::Seen;
use views::Views;

/// All of it, read once.
pub(in crate::checker) struct Evidence {
    pub shards: Shards,
    pub phases: Phases,
    pub views: Views,
    /// What controllers told of the topology, in order of completion.
    pub told: Vec<Told>,
    /// In order of invocation; without those that surely did not happen.
    pub migrations: Vec<Migration>,
    pub promotions: Promotions,
    pub calm: Calm,
    ownership: Ownership,
}

impl Evidence {
    pub fn of(
        history: &History,
        pairs: &[(&Event, Option<&Event>)],
        shards: &[Vec<NodeName>],
    ) -> Evidence {
        let shards = Shards::new(shards);
        let views = Views::of(history);
        let Operators { told, migrations, failovers } =
            Operators::of(pairs, &shards, views.reads_are_current());
        let calm = Calm::of(history);
        let end = history.events().iter().map(|event| event.time).max().unwrap_or(0);
        let promotions = Promotions::of(&masters::Sources {
            shards: &shards,
            views: &views,
            told: &told,
            failovers: &failovers,
            calm: &calm,
            end,
        });
        let ownership = Ownership::of(&shards, &views, &told);
        let phases = Phases::of(history);
        Evidence { shards, phases, views, told, migrations, promotions, calm, ownership }
    }

    /// The shard that owned the slot under this version of the topology, where that is known.
    pub fn owner_at(&self, slot: u16, version: u64) -> Option<usize> {
        self.ownership.at(slot, version)
    }

    /// The shard that owned the slot before anybody asked for a transfer of it, where that is known.
    pub fn first_owner(&self, slot: u16) -> Option<usize> {
        let (owner, seen) = self.ownership.first(slot)?;
        let asked = self.migrations_of(slot).map(|migration| migration.invoked).min();
        asked.is_none_or(|asked| seen < asked).then_some(owner)
    }

    /// The migrations of a slot, in order of invocation.
    pub fn migrations_of(&self, slot: u16) -> impl Iterator<Item = &Migration> {
        self.migrations.iter().filter(move |migration| migration.slot == slot)
    }

    /// When final reads may begin: with drain, or in histories without phases at once.
    pub fn drain(&self) -> Option<Nanos> {
        match self.phases.is_foreign() {
            true => Some(0),
            false => self.phases.start(crate::nemesis::Phase::Drain).map(|mark| mark.time),
        }
    }
}
