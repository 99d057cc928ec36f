//! How a write becomes true: first in the log, then in the store, then acknowledged.

use std::rc::Rc;
use std::time::Duration;

use super::{Level, Node};
use crate::reference::NodeVariant;
use crate::reference::host::Host;
use crate::reference::kvrocks::store::Record;

/// How long the variant `ack-before-log` lets acknowledged writes wait for the log.
const LOGGED_EACH: Duration = Duration::from_millis(500);

impl<H: Host> Node<H> {
    /// Logs and applies records as one; an error is the reply to whoever asked for the write.
    pub fn commit(&self, records: Vec<Record>) -> Result<(), String> {
        if records.is_empty() {
            return Ok(());
        }
        if let Some(why) = &*self.broken.borrow() {
            return Err(why.clone());
        }
        if self.variant() == NodeVariant::AckBeforeLog {
            self.apply(&records);
            self.unlogged.borrow_mut().push(records);
            return Ok(());
        }
        self.append_and_apply(records)
    }

    /// Puts all that was acknowledged into the log.
    pub fn settle(&self) {
        for records in self.unlogged.take() {
            // Acknowledged long ago: there is nobody to tell but the log.
            if let Err(error) = self.append(records) {
                self.log(Level::Error, &error);
            }
        }
    }

    /// Takes records of this node's master as they are.
    pub fn replicate(&self, records: Vec<Record>) -> Result<(), String> {
        if let Some(why) = &*self.broken.borrow() {
            return Err(why.clone());
        }
        self.append_and_apply(records)
    }

    fn append_and_apply(&self, records: Vec<Record>) -> Result<(), String> {
        let to_apply = records.clone();
        self.append(records)?;
        self.apply(&to_apply);
        Ok(())
    }

    /// Takes all of a master's data instead of its own; `last` is their last sequence number.
    pub fn restart(&self, term: &str, last: u64, records: Vec<Record>) -> Result<(), String> {
        let restarted = self.journal.borrow_mut().restart(last, &records);
        restarted.map_err(|error| self.broke(&error))?;
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

    /// Once the disk has failed nobody knows what it holds: nothing is written any more until a start.
    fn append(&self, records: Vec<Record>) -> Result<(), String> {
        let appended = self.journal.borrow_mut().append(records);
        self.logged.give();
        appended.map_err(|error| self.broke(&error))
    }

    pub fn broke(&self, error: &std::io::Error) -> String {
        let why = format!("ERR IO error: {error}");
        self.log(Level::Error, &format!("The log takes no more writes until a restart: {error}"));
        *self.broken.borrow_mut() = Some(why.clone());
        why
    }
}

/// The task of the variant `ack-before-log`.
pub async fn log_later<H: Host>(node: Rc<Node<H>>) {
    loop {
        node.host.sleep(LOGGED_EACH).await;
        node.settle();
    }
}
