//! One migration, from its start to the local mark or to its failure.

use std::rc::Rc;

use bytes::Bytes;

use super::courier::{Courier, ImportStatus};
use super::parcel::Parcel;
use crate::reference::NodeVariant;
use crate::reference::host::Host;
use crate::reference::kvrocks::MigrateType;
use crate::reference::kvrocks::cluster::MigrationState;
use crate::reference::kvrocks::node::{Level, Node};
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::reference::kvrocks::store::Record;

/// The catch-up ends after so many rounds at the latest, however far behind it is.
const MOST_ROUNDS: usize = 10;

/// So many bytes of the log are looked at together.
const READ_AT_ONCE: usize = 256 << 10;

const IMPORT_FAILED: &str = "failed to set import status on destination node";

pub struct Job<H: Host> {
    node: Rc<Node<H>>,
    slots: SlotRange,
    /// The destination.
    to: String,
    address: String,
    migrate_type: MigrateType,
    /// Changes up to this sequence number were sent, or are in the snapshot.
    position: u64,
    courier: Option<Courier<H>>,
    /// SUCCESS may have reached the destination.
    asked: bool,
}

/// The phase that failed, and why.
struct Failure {
    phase: &'static str,
    why: String,
}

impl<H: Host> Job<H> {
    pub fn new(node: &Rc<Node<H>>, slots: SlotRange, to: &str, address: String) -> Job<H> {
        Job {
            node: node.clone(),
            slots,
            to: to.to_owned(),
            address,
            migrate_type: node.config(|config| config.migrate_type),
            position: 0,
            courier: None,
            asked: false,
        }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub async fn run(mut self) {
        let slots = self.slots;
        match self.attempt().await {
            Ok(()) => {
                self.say(&format!("Succeed to migrate slot(s) {slots}"));
                self.node.cluster.borrow_mut().end_migration(MigrationState::Success);
                self.node.migration.end(Ok(()));
            }
            Err(Failure { phase, why }) => {
                self.warn(&format!("Failed to {phase} slot(s) {slots}. Error: {why}"));
                self.node.migration.end(Err(why));
                self.fail().await;
                self.say(&format!("Failed to migrate a slot(s) {slots}"));
                self.node.cluster.borrow_mut().end_migration(MigrationState::Fail);
            }
        }
        self.say(&format!("Clean resources of migrating slot(s) {slots}"));
    }

    async fn attempt(&mut self) -> Result<(), Failure> {
        let snapshot = self.snapshot();
        let failed = |phase| move |why| Failure { phase, why };
        self.start().await.map_err(failed("start migrating"))?;
        self.say(&format!("Succeed to start migrating slot(s) {}", self.slots));
        self.send_snapshot(snapshot).await.map_err(failed("send snapshot of"))?;
        self.catch_up().await.map_err(failed("sync from WAL for"))?;
        self.say(&format!("Succeed to sync from WAL for slot(s) {}", self.slots));
        self.finish().await.map_err(failed("finish a successful migration of"))
    }

    /// All of the slots as of now; what comes later is caught up with.
    fn snapshot(&mut self) -> Snapshot {
        self.node.settle();
        self.position = self.node.log.borrow().sequence();
        let (store, now_ms) = (self.node.store.borrow(), self.node.host.wall_ms());
        let slots = self.slots.slots();
        match self.migrate_type {
            MigrateType::RedisCommand => {
                let commands = slots.flat_map(|slot| store.commands_of_slot(slot, now_ms));
                Snapshot::Commands(commands.collect())
            }
            MigrateType::RawKeyValue => {
                Snapshot::Records(slots.flat_map(|slot| store.records_of_slot(slot)).collect())
            }
        }
    }

    async fn start(&mut self) -> Result<(), String> {
        let connected = Courier::connect(&self.node.host, &self.address).await;
        let courier =
            connected.map_err(|why| format!("failed to connect to the destination node: {why}"))?;
        self.set_import_on(courier, ImportStatus::Start).await
    }

    async fn set_import_on(
        &mut self,
        courier: Courier<H>,
        status: ImportStatus,
    ) -> Result<(), String> {
        let courier = self.courier.insert(courier);
        let set = courier.set_import(self.slots, status).await;
        set.map_err(|why| format!("{IMPORT_FAILED}: {why}"))
    }

    async fn set_import(&mut self, status: ImportStatus) -> Result<(), String> {
        let courier = self.courier.take();
        let courier = courier.ok_or(format!("{IMPORT_FAILED}: there is no connection to it"))?;
        self.set_import_on(courier, status).await
    }

    async fn send_snapshot(&mut self, snapshot: Snapshot) -> Result<(), String> {
        let slots = self.slots;
        self.say(&format!(
            "Migrating snapshot of slot(s) {slots} by {}",
            self.migrate_type.words()
        ));
        let began = self.node.host.monotonic();
        let mut parcel = Parcel::new(self.migrate_type);
        let (node, Some(courier)) = (self.node.clone(), &mut self.courier) else {
            return Err("there is no connection to the destination node".to_owned());
        };
        match snapshot {
            Snapshot::Commands(commands) => {
                for command in commands {
                    parcel.put_command(&node, courier, &command).await?;
                }
            }
            Snapshot::Records(records) => {
                for record in records {
                    parcel.put_record(&node, courier, &record).await?;
                }
            }
        }
        parcel.send(&node, courier).await?;
        self.tell_sent("snapshot range", &parcel, began);
        Ok(())
    }

    /// Sends changes until few are left, forbids writes, and sends the rest.
    async fn catch_up(&mut self) -> Result<(), String> {
        let slots = self.slots;
        self.say(&format!("Syncing WAL of slot(s) {slots} by {}", self.migrate_type.words()));
        let began = self.node.host.monotonic();
        let mut parcel = Parcel::new(self.migrate_type);
        for round in 1..=MOST_ROUNDS {
            let limit = self.node.config(|config| config.migrate_sequence_gap);
            let last = self.node.log.borrow().sequence();
            let gap = last.saturating_sub(self.position);
            if gap <= limit {
                self.say(&format!(
                    "Incremental data sequence gap: {gap}, less than limit: {limit}, \
                     set forbidden slot(s): {slots}"
                ));
                break;
            }
            let from = self.position;
            self.send_changes(&mut parcel, last).await?;
            self.say(&format!(
                "Migrated incremental data, epoch: {round}, seq from {from} to {last}"
            ));
        }
        self.say(&format!("Setting forbidden slot(s) {slots}"));
        self.node.settle();
        self.node.cluster.borrow_mut().forbid(slots);
        let (from, last) = (self.position, self.node.log.borrow().sequence());
        if last > from {
            self.send_changes(&mut parcel, last).await?;
            self.say(&format!(
                "Migrated last incremental data after set forbidden slot, seq from {from} to {last}"
            ));
        }
        self.tell_sent("incremental data", &parcel, began);
        Ok(())
    }

    /// Sends what changed in the slots, up to this sequence number.
    async fn send_changes(&mut self, parcel: &mut Parcel, last: u64) -> Result<(), String> {
        let (node, slots, Some(courier)) = (self.node.clone(), self.slots, &mut self.courier)
        else {
            return Err("there is no connection to the destination node".to_owned());
        };
        while self.position < last {
            let batches = node.log.borrow().read(self.position, READ_AT_ONCE);
            for batch in batches.map_err(|why| why.to_string())? {
                for record in batch.records.iter().filter(|record| concerns(record, slots)) {
                    if record.key().is_none() {
                        return Err("key migration stopped: all keys were deleted".to_owned());
                    }
                    parcel.put_change(&node, courier, record).await?;
                }
                self.position = batch.last();
            }
        }
        parcel.send(&node, courier).await
    }

    /// Tells the destination that it has all of it, and marks the slots as migrated.
    async fn finish(&mut self) -> Result<(), String> {
        if self.node.migration.is_stopped.get() {
            return Err("key migration stopped due to a task cancellation".to_owned());
        }
        self.asked = true;
        self.set_import(ImportStatus::Success).await?;
        let (slots, to) = (self.slots, self.to.clone());
        if self.node.variant() == NodeVariant::FreezeUntilTopology {
            // Once it is told, a controller may give the slots away: the mark must outlive this process.
            self.node.cluster.borrow_mut().freeze(slots, &to, true);
            return self.node.keep_frozen().map_err(|wrong| format!("{wrong:#}"));
        }
        self.node.cluster.borrow_mut().hand_over(slots, &self.address);
        Ok(())
    }

    /// Takes writes again, and tells the destination that it came to nothing: on the same connection,
    /// also if that is the one that failed.
    async fn fail(&mut self) {
        let (slots, to) = (self.slots, self.to.clone());
        let freezes = self.asked && self.node.variant() == NodeVariant::FreezeUntilTopology;
        {
            let mut cluster = self.node.cluster.borrow_mut();
            cluster.release();
            if freezes {
                cluster.freeze(slots, &to, false);
            }
        }
        if let Err(why) = self.set_import(ImportStatus::Failed).await {
            self.warn(&format!(
                "Failed to finish a failed migration of slot(s) {slots}. Error: {why}"
            ));
        }
    }

    fn tell_sent(&self, what: &str, parcel: &Parcel, began: std::time::Duration) {
        let elapsed = self.node.host.monotonic().saturating_sub(began);
        let sent = parcel.sent;
        let rate = sent.bytes as f64 / 1024.0 / elapsed.as_secs_f64().max(0.001);
        self.say(&format!(
            "Succeed to migrate {what}, slot(s): {}, elapsed: {} ms, sent: {} bytes, \
             rate: {rate:.2} kb/s, batches: {}, entries: {}",
            self.slots,
            elapsed.as_millis(),
            sent.bytes,
            sent.batches,
            sent.entries
        ));
    }

    fn say(&self, text: &str) {
        self.node.say(&format!("[migrate] {text}"));
    }

    fn warn(&self, text: &str) {
        self.node.tell(Level::Error, &format!("[migrate] {text}"));
    }
}

/// All of some slots at one moment.
enum Snapshot {
    Commands(Vec<Vec<Bytes>>),
    Records(Vec<Record>),
}

fn concerns(record: &Record, slots: SlotRange) -> bool {
    match record.key() {
        Some(key) => slots.contains(crate::resp::slot_of(key)),
        None => slots.slots().any(|slot| record.concerns(slot)),
    }
}
