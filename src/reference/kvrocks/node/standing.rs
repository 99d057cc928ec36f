//! What a new topology asks of a node: to follow a master or to be one, and to delete what is not its own.

use std::rc::Rc;
use std::time::Duration;

use super::{Level, Node};
use crate::reference::host::Host;
use crate::reference::kvrocks::cluster::Standing;
use crate::reference::kvrocks::dispatch::Reaction;
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::reference::kvrocks::store::Record;
use crate::resp::Value;

/// How long a slave that becomes master is deaf to everybody if its master was gone: the real one waits
/// so long for the thread that tried to reach it (measured: about 1.5 s).
const DROPS_DEAD_LINK: Duration = Duration::from_millis(1500);

impl<H: Host> Node<H> {
    /// A topology was taken; the data of these slots are not this node's any more.
    pub fn take_topology(self: &Rc<Self>, left: Vec<u16>) -> Reaction {
        if let Err(wrong) = self.keep_topology().and_then(|()| self.keep_frozen()) {
            self.tell(Level::Error, &format!("{wrong:#}"));
            return Reaction::error(format!("ERR {wrong:#}"));
        }
        let dropped_dead_link = match self.follow_topology() {
            Ok(dropped) => dropped,
            Err(wrong) => return Reaction::error(format!("ERR {wrong:#}")),
        };
        // A slave's data are its master's business.
        if !self.is_slave()
            && let Err(refusal) = self.commit(clear(left))
        {
            return Reaction::error(refusal);
        }
        if !dropped_dead_link {
            return Reaction::Reply(Value::ok());
        }
        let (shut, sleep) = (self.gate.shut(), self.host.sleep(DROPS_DEAD_LINK));
        Reaction::Later(Box::pin(async move {
            sleep.await;
            drop(shut);
            Value::ok()
        }))
    }

    /// Follows whom the topology names, or nobody; true if a master was left that was out of reach.
    pub fn follow_topology(self: &Rc<Self>) -> anyhow::Result<bool> {
        match self.standing() {
            Standing::Slave { of } => {
                self.migration.stop();
                let address = of.map(|master| master.address());
                if self.replication.follows() == address {
                    return Ok(false);
                }
                self.replication.end_feeds();
                self.say(&format!(
                    "SLAVE OF {} enabled by cluster topology setting",
                    address.as_deref().unwrap_or("nobody in the topology")
                ));
                self.replication.follow(self, address);
                Ok(false)
            }
            Standing::Master | Standing::Outside => {
                let Some(link) = self.replication.leave() else { return Ok(false) };
                self.begin_term()?;
                self.say("MASTER MODE enabled by cluster topology setting");
                Ok(!link.is_up)
            }
        }
    }

    /// From here on the records are this node's own.
    pub fn begin_term(&self) -> anyhow::Result<()> {
        self.settle();
        let last = self.log.borrow().sequence();
        self.replication.begin_term(&self.host, last)
    }
}

/// Records that delete these slots, which are in order.
pub fn clear(slots: Vec<u16>) -> Vec<Record> {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for slot in slots {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == slot => *last = slot,
            _ => runs.push((slot, slot)),
        }
    }
    runs.into_iter().map(|(first, last)| Record::ClearSlots { first, last }).collect()
}

/// The record that deletes these slots.
pub fn clear_range(slots: SlotRange) -> Vec<Record> {
    vec![Record::ClearSlots { first: slots.first(), last: slots.last() }]
}
