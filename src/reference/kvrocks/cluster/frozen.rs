//! The mark of the variant `freeze-until-topology`: slots whose owner a topology has yet to name.

use super::{Cluster, MigrationState};
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::reference::kvrocks::topology::ID_LENGTH;

/// Slots that wait for a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    pub slots: SlotRange,
    /// The destination's id.
    pub to: String,
    /// This node has told, or may have told, that the migration has succeeded: a controller may give the
    /// slots away at any time from now on, whatever topologies come in between.
    pub is_announced: bool,
}

impl Frozen {
    /// The mark for the next start. Only what was announced must outlive a process: of the rest no
    /// controller knows.
    pub fn write(mark: Option<&Frozen>) -> String {
        let announced = mark.filter(|mark| mark.is_announced);
        announced.map_or_else(String::new, |mark| format!("{} {}\n", mark.slots, mark.to))
    }

    /// `Err` with what was found instead of a mark.
    pub fn read(text: &str) -> Result<Option<Frozen>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        let whole = text.strip_suffix('\n').and_then(|line| line.split_once(' '));
        let mark = whole.and_then(|(slots, to)| {
            let slots = SlotRange::parse(slots).ok()?;
            let to = Some(to).filter(|to| to.len() == ID_LENGTH)?.to_owned();
            Some(Frozen { slots, to, is_announced: true })
        });
        mark.map(Some).ok_or_else(|| text.escape_debug().to_string())
    }
}

impl Cluster {
    pub fn frozen(&self) -> Option<&Frozen> {
        self.frozen.as_ref()
    }

    pub fn freeze(&mut self, slots: SlotRange, to: &str, is_announced: bool) {
        self.frozen = Some(Frozen { slots, to: to.to_owned(), is_announced });
    }

    /// A topology has come: ends the freeze if it may. The slots that were announced.
    ///
    /// Before the announcement nobody can have given the slots away because of it, so any topology ends
    /// it. After it only one that names another owner does: a topology that was made for another reason,
    /// and still names this node, may be overtaken by the one that follows from the announcement.
    pub(super) fn thaw(&mut self) -> Vec<u16> {
        let waits =
            |mark: &Frozen| mark.is_announced && mark.slots.slots().any(|slot| self.is_mine(slot));
        if self.frozen.as_ref().is_some_and(waits) {
            return Vec::new();
        }
        let Some(Frozen { slots, is_announced, .. }) = self.frozen.take() else {
            return Vec::new();
        };
        if !is_announced {
            return Vec::new();
        }
        // Should this node become their owner again, nobody must read of that success any more.
        self.migration.take_if(|migration| migration.state == MigrationState::Success);
        self.forbidden = None;
        slots.slots().collect()
    }
}
