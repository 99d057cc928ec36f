//! Slots on their way: the one import and the one migration that a node has at a time.

use super::{Cluster, Standing};
use crate::reference::NodeVariant;
use crate::reference::kvrocks::slot_range::SlotRange;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportState {
    Start,
    Success,
    Failed,
}

/// The last import; it is told until the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub slots: SlotRange,
    pub state: ImportState,
    /// The peer that began it.
    pub by: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationState {
    Start,
    Success,
    Fail,
}

/// The last migration; it is told until the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    pub slots: SlotRange,
    /// The id of the destination.
    pub to: String,
    pub state: MigrationState,
}

/// Why `CLUSTER IMPORT` is refused, as kvrocks says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoImport {
    #[error("Slave can't import slot")]
    NotAMaster,
    #[error("Can't import slot which belongs to me")]
    Mine,
    #[error("only one importing job is allowed, current importing: {0}")]
    Busy(SlotRange),
    #[error("mismatch slot, importing slot(s): {importing}, but got: {got}")]
    Another { importing: String, got: SlotRange },
    /// Not of the real one.
    #[error("the import of slot(s) {0} is not under way on this connection")]
    Over(SlotRange),
}

/// Why `CLUSTERX MIGRATE` is refused, as kvrocks says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMigration {
    #[error("Can't find the destination node id")]
    NoDestination,
    #[error("Can't migrate slot which doesn't belong to me")]
    NotMine,
    #[error("Slave can't migrate slot")]
    NotAMaster,
    #[error("Can't migrate slot to a slave")]
    ToASlave,
    #[error("Can't migrate slot to myself")]
    ToMyself,
    #[error("There is already a migrating job")]
    Busy,
    #[error("Can't migrate slot which has been migrated")]
    Migrated,
}

impl Import {
    pub fn told(&self) -> String {
        let state = match self.state {
            ImportState::Start => "start",
            ImportState::Success => "success",
            ImportState::Failed => "error",
        };
        format!("importing_slot(s): {}\r\nimport_state: {state}\r\n", self.slots)
    }
}

impl Migration {
    pub fn told(&self) -> String {
        let state = match self.state {
            MigrationState::Start => "start",
            MigrationState::Success => "success",
            MigrationState::Fail => "fail",
        };
        let (slots, to) = (self.slots, &self.to);
        format!(
            "migrating_slot(s): {slots}\r\ndestination_node: {to}\r\nmigrating_state: {state}\r\n"
        )
    }
}

impl Cluster {
    /// `CLUSTER IMPORT` is for a master, and for slots of others.
    pub fn may_import(&self, slots: SlotRange) -> Result<(), NoImport> {
        if self.standing() != Standing::Master {
            return Err(NoImport::NotAMaster);
        }
        if self.is_mine(slots.first()) {
            return Err(NoImport::Mine);
        }
        Ok(())
    }

    /// Begins to import; true if the data of these slots are to be deleted first.
    ///
    /// The real one goes on with what a first connection has left if a second one begins the same import.
    pub fn start_import(&mut self, slots: SlotRange, by: u64) -> Result<bool, NoImport> {
        self.may_import(slots)?;
        let running = self.import.as_ref().filter(|import| import.state == ImportState::Start);
        let is_new = match running {
            Some(running) if running.slots != slots => return Err(NoImport::Busy(running.slots)),
            running => running.is_none() || self.is_strict(),
        };
        self.importers.insert(by);
        self.import = Some(Import { slots, state: ImportState::Start, by });
        self.importing = Some(slots);
        // It comes back: what its last migration away has left ends here.
        if self.forbidden == Some(slots) {
            self.forbidden = None;
            self.migration.take_if(|migration| migration.state == MigrationState::Success);
        }
        Ok(is_new)
    }

    /// All of it is here. As shipped the slots are served to everybody from now on.
    pub fn finish_import(&mut self, slots: SlotRange, by: u64) -> Result<(), NoImport> {
        let runs = |import: &Import| import.state == ImportState::Start && import.by == by;
        if self.is_strict() && !self.import.as_ref().is_some_and(runs) {
            return Err(NoImport::Over(slots));
        }
        self.end_import(slots, ImportState::Success)?;
        let serves = !matches!(
            self.variant,
            NodeVariant::FreezeUntilTopology | NodeVariant::NoImportedSlots
        );
        if serves {
            self.imported.extend(slots.slots());
        }
        Ok(())
    }

    /// It came to nothing; the data of these slots are to be deleted. What was imported whole before
    /// stays imported, as in the real one.
    pub fn fail_import(&mut self, slots: SlotRange) -> Result<(), NoImport> {
        self.end_import(slots, ImportState::Failed)
    }

    fn end_import(&mut self, slots: SlotRange, state: ImportState) -> Result<(), NoImport> {
        self.may_import(slots)?;
        match &mut self.import {
            Some(import) if import.slots == slots => import.state = state,
            other => {
                let importing = other.as_ref().map(|import| import.slots.to_string());
                let importing = importing.unwrap_or_else(|| "-1".to_owned());
                return Err(NoImport::Another { importing, got: slots });
            }
        }
        Ok(())
    }

    /// A connection that imported is gone. The slots to delete, if the import was under way.
    ///
    /// To the real one any connection that ever began an import is as good as the one that imports now.
    pub fn lose_import(&mut self, by: u64) -> Option<SlotRange> {
        if !self.importers.remove(&by) {
            return None;
        }
        let (is_slave, is_strict) = (self.is_slave(), self.is_strict());
        let import = self.import.as_mut().filter(|import| import.state == ImportState::Start)?;
        if is_strict && import.by != by {
            return None;
        }
        import.state = ImportState::Failed;
        (!is_slave).then_some(import.slots)
    }

    /// Whether this peer may fill the slots that are being imported.
    pub fn is_filler(&self, peer: u64) -> bool {
        let by_it = |import: &Import| import.state == ImportState::Start && import.by == peer;
        !self.is_strict() || self.import.as_ref().is_some_and(by_it)
    }

    /// The sound variant holds an import to its one connection, from its beginning to its end.
    fn is_strict(&self) -> bool {
        self.variant == NodeVariant::FreezeUntilTopology
    }

    /// Whether slots may be migrated to this node; begins it.
    pub fn start_migration(&mut self, slots: SlotRange, to: &str) -> Result<(), NoMigration> {
        let Some(topology) = &self.topology else { return Err(NoMigration::NoDestination) };
        let destination = topology.member(to).ok_or(NoMigration::NoDestination)?;
        if !topology.owns_all(self.id(), slots) {
            return Err(NoMigration::NotMine);
        }
        if self.standing() != Standing::Master {
            return Err(NoMigration::NotAMaster);
        }
        if !destination.is_master() {
            return Err(NoMigration::ToASlave);
        }
        if destination.id == self.id() {
            return Err(NoMigration::ToMyself);
        }
        if self.is_migrating() {
            return Err(NoMigration::Busy);
        }
        let is_held = slots.slots().any(|slot| self.is_held(slot));
        if is_held {
            return Err(NoMigration::Migrated);
        }
        let to = to.to_owned();
        self.migration = Some(Migration { slots, to, state: MigrationState::Start });
        Ok(())
    }

    /// True of a slot that went away, or is about to, as far as this node is concerned.
    fn is_held(&self, slot: u16) -> bool {
        let holds = |slots: Option<SlotRange>| slots.is_some_and(|slots| slots.contains(slot));
        holds(self.forbidden)
            || holds(self.frozen.as_ref().map(|frozen| frozen.slots))
            || self.migrated.contains_key(&slot)
    }

    pub fn is_migrating(&self) -> bool {
        self.migration.as_ref().is_some_and(|running| running.state == MigrationState::Start)
    }

    pub fn is_importing(&self) -> bool {
        self.import.as_ref().is_some_and(|import| import.state == ImportState::Start)
    }

    /// From now on the slots take no writes.
    pub fn forbid(&mut self, slots: SlotRange) {
        self.forbidden = Some(slots);
    }

    /// The destination has said that all of it is there: requests are sent there.
    pub fn hand_over(&mut self, slots: SlotRange, address: &str) {
        for slot in slots.slots() {
            self.migrated.insert(slot, address.to_owned());
        }
    }

    /// The migration has failed: the slots take writes again.
    pub fn release(&mut self) {
        self.forbidden = None;
    }

    pub fn end_migration(&mut self, state: MigrationState) {
        if let Some(migration) = &mut self.migration {
            migration.state = state;
        }
    }
}
