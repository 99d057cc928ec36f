//! Whose request a node serves, and what it says to the rest.

use bytes::Bytes;

use super::{Cluster, Standing};
use crate::reference::NodeVariant;
use crate::resp::slot_of;

const FORBIDDEN: &str =
    "TRYAGAIN Can't write to slot being migrated which is in write forbidden phase";
const FROZEN: &str = "TRYAGAIN Can't read from slot being migrated which waits for its new owner";
const CROSS_SLOT: &str = "CROSSSLOT Attempted to access keys that don't hash to the same slot";
const NOT_SERVED: &str = "CLUSTERDOWN Hash slot not served";
const NO_LEASE: &str = "CLUSTERDOWN The node has not heard a controller for too long";

/// Who asks, and for what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asker {
    pub writes: bool,
    pub is_reader: bool,
    pub asks: bool,
    pub is_importing: bool,
}

/// What a master may serve; of meaning to the variants `lease` and `freeze-until-topology`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    Held,
    /// Reads alone.
    Over,
    /// Nothing: since its start no controller was heard, and another may be master by now.
    Unheard,
}

impl Cluster {
    /// Whether a request on these keys may be executed here, else the error to answer.
    pub fn admit(&self, keys: &[&Bytes], asker: Asker, lease: Lease) -> Result<(), String> {
        let Some((first, others)) = keys.split_first() else { return Ok(()) };
        let slot = slot_of(first);
        if others.iter().any(|key| slot_of(key) != slot) {
            return Err(CROSS_SLOT.to_owned());
        }
        let topology = self.topology.as_ref();
        let Some(owner) = topology.and_then(|topology| topology.owner(slot)) else {
            return Err(NOT_SERVED.to_owned());
        };
        if self.is_mine(slot) {
            return self.admit_to_own(slot, asker, lease);
        }
        let is_arriving = self.importing.is_some_and(|slots| slots.contains(slot));
        if is_arriving && (asker.is_importing || asker.asks) {
            return Ok(());
        }
        if self.imported.contains(&slot) {
            let serves = self.variant != NodeVariant::AskingOnly || asker.asks;
            if serves {
                return within_lease(asker, lease);
            }
        }
        if let Standing::Slave { of: Some(master) } = self.standing()
            && master.id == owner.id
            && asker.is_reader
            && !asker.writes
        {
            return Ok(());
        }
        Err(format!("MOVED {slot} {}", owner.address()))
    }

    fn admit_to_own(&self, slot: u16, asker: Asker, lease: Lease) -> Result<(), String> {
        if let Some(frozen) = self.frozen.as_ref().filter(|frozen| frozen.slots.contains(slot)) {
            match asker.writes {
                true => return Err(FORBIDDEN.to_owned()),
                false if frozen.is_announced => return Err(FROZEN.to_owned()),
                false => {}
            }
        }
        if let Some(address) = self.migrated.get(&slot) {
            // Who follows it says ASKING there, and is served.
            let word = if self.variant == NodeVariant::AskingOnly { "ASK" } else { "MOVED" };
            return Err(format!("{word} {slot} {address}"));
        }
        if asker.writes && self.forbidden.is_some_and(|slots| slots.contains(slot)) {
            return Err(FORBIDDEN.to_owned());
        }
        within_lease(asker, lease)
    }
}

fn within_lease(asker: Asker, lease: Lease) -> Result<(), String> {
    match lease {
        Lease::Unheard => Err(NO_LEASE.to_owned()),
        Lease::Over if asker.writes => Err(NO_LEASE.to_owned()),
        Lease::Over | Lease::Held => Ok(()),
    }
}
