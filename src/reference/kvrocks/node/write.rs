//! How a write becomes true: first in the log, then in the store, then acknowledged.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use super::{Level, Node};
use crate::reference::NodeVariant;
use crate::reference::host::Host;
use crate::reference::kvrocks::log::Batch;
use crate::reference::kvrocks::store::Record;

/// How long the variant `ack-before-log` lets acknowledged writes wait for the log.
const LOGGED_EACH: Duration = Duration::from_millis(500);

const SYNCED_EACH: Duration = Duration::from_secs(1);

impl<H: Host> Node<H> {
    /// Logs and applies records as one; an error is the reply to whoever asked for the write.
    ///
    /// Nothing of it is seen after an error, but nobody knows whether the disk has it: it may be there
    /// after a restart.
    pub fn commit(&self, records: Vec<Record>) -> Result<(), String> {
        if records.is_empty() {
            return Ok(());
        }
        let logged = records.clone();
        if self.variant() == NodeVariant::AckBeforeLog {
            self.log.borrow_mut().buffer(logged);
        } else {
            let appended = self.log.borrow_mut().append(logged);
            appended.map_err(|error| self.refused(&error))?;
            self.logged.give();
        }
        self.apply(&records);
        Ok(())
    }

    /// Puts all that was acknowledged into the log; only the variant `ack-before-log` leaves any out.
    pub fn settle(&self) {
        let flushed = self.log.borrow_mut().flush();
        if let Err(error) = flushed {
            self.refused(&error);
        }
        self.logged.give();
    }

    /// Takes a write of this node's master as it is.
    pub fn replicate(&self, batch: Batch) -> Result<(), String> {
        let appended = self.log.borrow_mut().append_batch(batch.clone());
        appended.map_err(|error| self.refused(&error))?;
        self.apply(&batch.records);
        self.logged.give();
        Ok(())
    }

    /// Takes all of a master's data instead of its own; `last` is their last sequence number.
    pub fn restart(&self, term: &str, last: u64, records: Vec<Record>) -> Result<(), String> {
        let restarted = self.log.borrow_mut().restart(records.iter().cloned(), last);
        if let Err(error) = restarted {
            let why = format!("the data of the master may or may not be on the disk: {error}");
            self.doom.seal(why.clone());
            return Err(why);
        }
        self.apply(&[Record::Clear]);
        self.apply(&records);
        self.logged.give();
        // Last: under its old name the new log is in nobody's history.
        self.replication.adopt(&self.host, term).map_err(|wrong| format!("{wrong:#}"))
    }

    fn apply(&self, records: &[Record]) {
        let mut store = self.store.borrow_mut();
        records.iter().for_each(|record| store.apply(record));
    }

    fn refused(&self, error: &io::Error) -> String {
        self.tell(Level::Error, &format!("The log does not take a write: {error}"));
        format!("ERR IO error: {error}")
    }
}

/// The task of the variant `ack-before-log`.
pub async fn flush_later<H: Host>(node: Rc<Node<H>>) {
    loop {
        node.host.sleep(LOGGED_EACH).await;
        node.settle();
    }
}

/// The task of a log that is synced every second.
pub async fn sync_often<H: Host>(node: Rc<Node<H>>) {
    loop {
        node.host.sleep(SYNCED_EACH).await;
        let synced = node.log.borrow_mut().sync_if_due(node.host.monotonic());
        if let Err(error) = synced {
            node.tell(Level::Error, &format!("The log cannot be synced: {error}"));
        }
    }
}
