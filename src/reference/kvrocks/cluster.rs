//! What a node knows of its cluster: topology, slots on their way in and out.
//!
//! Pure: what a change asks of the node (delete data, follow a master) is returned to the caller.

mod admission;
mod frozen;
mod moves;

use std::collections::{BTreeMap, BTreeSet};

use crate::reference::NodeVariant;

use super::slot_range::SlotRange;
use super::topology::{BadTopology, ID_LENGTH, Member, Saved, Topology};

pub use admission::{Asker, Lease};
pub use frozen::Frozen;
pub use moves::{Import, ImportState, Migration, MigrationState, NoMigration};

/// What a node is in its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has no topology, or is not in it.
    Outside,
    Master,
    Slave {
        /// `None` where its master is not in the topology.
        of: Option<Member>,
    },
}

/// A node's view of the cluster.
#[derive(Debug)]
pub struct Cluster {
    variant: NodeVariant,
    id: Option<String>,
    topology: Option<Topology>,
    /// The topology is the one of an earlier process: who knows what came since.
    is_remembered: bool,
    /// Slots that an importing connection may fill. Forgotten with every topology.
    importing: Option<SlotRange>,
    /// Slots that were imported whole, and that the topology does not give to this node yet.
    imported: BTreeSet<u16>,
    /// Connections that have begun an import and are still open.
    importers: BTreeSet<u64>,
    /// Slots that were migrated away, and where to; the topology does not say so yet.
    migrated: BTreeMap<u16, String>,
    /// Slots that take no writes. They stay so after a migration, until they are imported again.
    forbidden: Option<SlotRange>,
    import: Option<Import>,
    migration: Option<Migration>,
    /// Only the variant `freeze-until-topology` has any.
    frozen: Option<Frozen>,
}

impl Cluster {
    pub fn new(variant: NodeVariant, saved: Option<Saved>, frozen: Option<Frozen>) -> Cluster {
        let (id, topology) = saved.map_or((None, None), |saved| (saved.id, Some(saved.topology)));
        // What was told before the end of the process still holds.
        let migration = frozen.as_ref().map(|frozen| Migration {
            slots: frozen.slots,
            to: frozen.to.clone(),
            state: MigrationState::Success,
        });
        Cluster {
            variant,
            id,
            is_remembered: topology.is_some(),
            topology,
            importing: None,
            imported: BTreeSet::new(),
            importers: BTreeSet::new(),
            migrated: BTreeMap::new(),
            forbidden: None,
            import: None,
            migration,
            frozen,
        }
    }

    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    pub fn topology(&self) -> Option<&Topology> {
        self.topology.as_ref()
    }

    pub fn version(&self) -> i64 {
        self.topology.as_ref().map_or(-1, Topology::version)
    }

    /// What is to be kept for the next start.
    pub fn saved(&self) -> Option<Saved> {
        let topology = self.topology.clone()?;
        Some(Saved { id: self.id.clone(), topology })
    }

    fn myself(&self) -> Option<&Member> {
        self.topology.as_ref()?.member(self.id.as_deref()?)
    }

    pub fn standing(&self) -> Standing {
        match self.myself() {
            None => Standing::Outside,
            Some(Member { master: None, .. }) => Standing::Master,
            Some(Member { master: Some(master), .. }) => {
                let of = self.topology.as_ref().and_then(|topology| topology.member(master));
                Standing::Slave { of: of.cloned() }
            }
        }
    }

    pub fn is_slave(&self) -> bool {
        matches!(self.standing(), Standing::Slave { .. })
    }

    pub fn set_id(&mut self, id: &str) -> Result<(), BadTopology> {
        if id.len() != ID_LENGTH {
            return Err(BadTopology::Id);
        }
        self.id = Some(id.to_owned());
        Ok(())
    }

    /// Takes a topology. `None`: it is the one that is known already. Else the slots whose data are to
    /// be deleted, as they belong to another node now.
    pub fn set_nodes(
        &mut self,
        nodes: &str,
        version: i64,
        is_forced: bool,
    ) -> Result<Option<Vec<u16>>, BadTopology> {
        let known = self.version();
        let may_be_lower = is_forced || self.variant == NodeVariant::LowerVersion;
        if version < 0 || (version < known && !may_be_lower) {
            return Err(BadTopology::Version);
        }
        if version == known && !is_forced {
            return Ok(None);
        }
        self.topology = Some(Topology::read(nodes, version)?);
        self.is_remembered = false;
        self.importing = None;
        self.imported.clear();
        let mut left: Vec<u16> = std::mem::take(&mut self.migrated).into_keys().collect();
        left.extend(self.thaw());
        left.retain(|slot| !self.is_mine(*slot));
        Ok(Some(left))
    }

    /// Gives slots to a node with the next version; the slots whose data are to be deleted.
    pub fn set_slots(
        &mut self,
        slots: SlotRange,
        to: &str,
        version: i64,
    ) -> Result<Vec<u16>, BadTopology> {
        let topology = self.topology.as_mut().ok_or(BadTopology::Version)?;
        topology.give(slots, to, version)?;
        let mut left = Vec::new();
        for slot in slots.slots().filter(|slot| !self.is_mine(*slot)).collect::<Vec<u16>>() {
            self.imported.remove(&slot);
            left.extend(self.migrated.remove(&slot).map(|_| slot));
        }
        left.extend(self.thaw().into_iter().filter(|slot| !self.is_mine(*slot)));
        Ok(left)
    }

    /// Forgets all but its id.
    pub fn reset(&mut self) {
        *self = Cluster::new(self.variant, None, None);
    }

    /// It goes by a topology of before its start.
    pub fn is_remembered(&self) -> bool {
        self.is_remembered
    }

    fn is_mine(&self, slot: u16) -> bool {
        let owner = self.topology.as_ref().and_then(|topology| topology.owner(slot));
        owner.is_some_and(|owner| Some(&owner.id) == self.id.as_ref())
    }

    /// `CLUSTER INFO`; `None` without a topology.
    pub fn told_info(&self) -> Option<String> {
        let mut info = self.topology.as_ref()?.told_info();
        if self.standing() == Standing::Master {
            self.migration.iter().for_each(|migration| info.push_str(&migration.told()));
            self.import.iter().for_each(|import| info.push_str(&import.told()));
        }
        Some(info)
    }

    /// `CLUSTER NODES`; `None` without a topology.
    pub fn told_nodes(&self, now_ms: i64) -> Option<String> {
        let topology = self.topology.as_ref()?;
        let mut moving = String::new();
        if let Some(Migration { slots, to, state: MigrationState::Start }) = &self.migration {
            moving.push_str(&format!(" [{slots}->-{to}]"));
        }
        if let Some(Import { slots, state: ImportState::Start, .. }) = &self.import {
            let from = topology.owner(slots.first()).map_or("", |owner| &owner.id);
            moving.push_str(&format!(" [{slots}-<-{from}]"));
        }
        Some(topology.told_nodes(self.id(), &moving, now_ms))
    }
}
