//! The mark of the variant `freeze-until-topology`: slots whose owner a topology has yet to name.

use super::Cluster;
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
        let Some(frozen) = &self.frozen else { return Vec::new() };
        let slots = frozen.slots.slots();
        match frozen.is_announced {
            true if slots.clone().any(|slot| self.is_mine(slot)) => Vec::new(),
            true => {
                self.frozen = None;
                slots.collect()
            }
            false => {
                self.frozen = None;
                Vec::new()
            }
        }
    }
}
