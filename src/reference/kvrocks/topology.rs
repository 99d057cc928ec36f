//! Who belongs to the cluster and who owns which slot, at one version.
//!
//! Pure. It is never changed but as a whole, or slot by slot with the next version.

mod read;
mod saved;
#[cfg(test)]
mod tests;
mod told;

use crate::resp::SLOTS;

use super::slot_range::SlotRange;

pub use saved::Saved;

/// The length of a node's id.
pub const ID_LENGTH: usize = 40;

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub id: String,
    pub host: String,
    pub port: u16,
    /// The id of its master; `None` for a master.
    pub master: Option<String>,
}

impl Member {
    pub fn is_master(&self) -> bool {
        self.master.is_none()
    }

    /// `host:port`
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// Why a topology is refused, as kvrocks says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTopology {
    #[error("Invalid cluster version")]
    Version,
    #[error("Invalid cluster nodes info")]
    Nodes,
    #[error("Invalid cluster node id")]
    Id,
    #[error("Invalid cluster node port")]
    Port,
    #[error("Invalid cluster node role")]
    Role,
    #[error("Slot distribution is overlapped")]
    Overlapped,
    #[error("Slot is out of range")]
    OutOfRange,
    #[error("No this node in the cluster")]
    NoSuchNode,
    #[error("The node isn't a master")]
    NotAMaster,
}

/// Nobody owns the slot.
const NOBODY: u16 = u16::MAX;

/// The cluster at one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    version: i64,
    /// In the order that they were told in.
    members: Vec<Member>,
    /// For each slot a position in `members`.
    owners: Vec<u16>,
}

impl Topology {
    /// Reads what `CLUSTERX SETNODES` gives: `id host port role master [slots]...` a line.
    pub fn read(nodes: &str, version: i64) -> Result<Topology, BadTopology> {
        if version < 0 {
            return Err(BadTopology::Version);
        }
        let (members, owners) = read::nodes(nodes)?;
        Ok(Topology { version, members, owners })
    }

    pub fn version(&self) -> i64 {
        self.version
    }

    pub fn members(&self) -> &[Member] {
        &self.members
    }

    pub fn member(&self, id: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.id == id)
    }

    pub fn owner(&self, slot: u16) -> Option<&Member> {
        self.members.get(usize::from(*self.owners.get(usize::from(slot))?))
    }

    /// True if each of these slots is this node's.
    pub fn owns_all(&self, id: &str, slots: SlotRange) -> bool {
        slots.slots().all(|slot| self.owner(slot).is_some_and(|owner| owner.id == id))
    }

    pub fn replicas<'a>(&'a self, of: &'a str) -> impl Iterator<Item = &'a Member> {
        self.members.iter().filter(move |member| member.master.as_deref() == Some(of))
    }

    /// Gives slots to a node; the version must be the next one.
    pub fn give(&mut self, slots: SlotRange, to: &str, version: i64) -> Result<(), BadTopology> {
        if version <= 0 || version != self.version + 1 {
            return Err(BadTopology::Version);
        }
        if to.len() != ID_LENGTH {
            return Err(BadTopology::Id);
        }
        let position = self.members.iter().position(|member| member.id == to);
        let position = position.ok_or(BadTopology::NoSuchNode)?;
        if !self.members[position].is_master() {
            return Err(BadTopology::NotAMaster);
        }
        self.version = version;
        slots.slots().for_each(|slot| self.owners[usize::from(slot)] = position as u16);
        Ok(())
    }

    /// Runs of slots with one owner, in order.
    pub fn runs(&self) -> Vec<(SlotRange, &Member)> {
        let mut runs: Vec<(SlotRange, &Member)> = Vec::new();
        let mut first = 0;
        for slot in 0..SLOTS {
            let owner = self.owners[usize::from(slot)];
            let next = self.owners.get(usize::from(slot) + 1);
            if next != Some(&owner) {
                let run = SlotRange::new(first, slot).zip(self.owner(slot));
                runs.extend(run);
                first = slot + 1;
            }
        }
        runs
    }

    /// The slots of a node as runs.
    pub fn slots_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = SlotRange> + 'a {
        self.runs().into_iter().filter(move |(_, owner)| owner.id == id).map(|(run, _)| run)
    }

    /// How many slots have an owner.
    pub fn assigned(&self) -> usize {
        self.owners.iter().filter(|owner| **owner != NOBODY).count()
    }

    /// How many masters own slots.
    pub fn size(&self) -> usize {
        let owning = |position: &usize| self.owners.contains(&(*position as u16));
        (0..self.members.len()).filter(owning).count()
    }
}
