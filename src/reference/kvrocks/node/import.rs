//! A node as a migration's destination.

use super::standing::clear_range;
use super::{Level, Node};
use crate::reference::host::Host;
use crate::reference::kvrocks::slot_range::SlotRange;

impl<H: Host> Node<H> {
    /// `CLUSTER IMPORT slots 0`: what this node holds of the slots is deleted first.
    pub fn start_import(&self, slots: SlotRange, by: u64) -> Result<(), String> {
        let is_new = self.cluster.borrow_mut().start_import(slots, by).map_err(refusal)?;
        if is_new {
            self.delete(slots)?;
        }
        self.say(&format!("[import] Start importing slot(s) {slots}"));
        Ok(())
    }

    /// `CLUSTER IMPORT slots 1`
    pub fn finish_import(&self, slots: SlotRange, by: u64) -> Result<(), String> {
        self.cluster.borrow_mut().finish_import(slots, by).map_err(refusal)?;
        self.say(&format!("[import] Mark the importing slot(s) {slots} as succeed"));
        Ok(())
    }

    /// `CLUSTER IMPORT slots 2`
    pub fn fail_import(&self, slots: SlotRange) -> Result<(), String> {
        self.cluster.borrow_mut().fail_import(slots).map_err(refusal)?;
        self.delete(slots)?;
        self.say(&format!("[import] Mark the importing slot(s) {slots} as failed"));
        Ok(())
    }

    /// A connection that had begun an import is gone; what is half copied goes with it.
    pub fn lose_import(&self, peer: u64) {
        let lost = self.cluster.borrow_mut().lose_import(peer);
        let Some(slots) = lost else { return };
        self.tell(Level::Error, &format!("[import] The source of slot(s) {slots} is gone"));
        if let Err(why) = self.delete(slots) {
            self.tell(Level::Error, &why);
        }
    }

    fn delete(&self, slots: SlotRange) -> Result<(), String> {
        let is_empty = {
            let store = self.store.borrow();
            slots.slots().all(|slot| store.keys_of_slot(slot).next().is_none())
        };
        if is_empty { Ok(()) } else { self.commit(clear_range(slots)) }
    }
}

fn refusal(why: impl std::fmt::Display) -> String {
    format!("ERR {why}")
}
