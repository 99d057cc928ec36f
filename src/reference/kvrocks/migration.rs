//! A node as a migration's source: one job at a time, phase by phase.
//!
//! start → snapshot → catch-up → write-forbidden → SUCCESS told to the destination → local mark. The
//! destination has a second to answer whatever it is told. If the answer to SUCCESS does not come, the
//! source cannot know whether the destination serves the slots; the real one takes writes again all the
//! same.

mod courier;
mod job;
mod pace;
mod parcel;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::cluster::NoMigration;
use super::node::Node;
use super::signal::Signal;
use super::slot_range::SlotRange;
use crate::reference::host::{Host, Running, within};

use job::Job;

/// What the node knows of its job.
#[derive(Default)]
pub struct Desk {
    /// The job is to end without having done it.
    is_stopped: Cell<bool>,
    /// A job has come to its end, or its failure is known.
    ended: Signal,
    outcome: RefCell<Option<Result<(), String>>>,
    task: RefCell<Option<Running>>,
}

impl Desk {
    /// This node is no master any more, or its data are gone.
    pub fn stop(&self) {
        self.is_stopped.set(true);
    }

    fn end(&self, outcome: Result<(), String>) {
        *self.outcome.borrow_mut() = Some(outcome);
        self.ended.give();
    }
}

/// One job of the desk, for who waits for its end.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(u64);

impl<H: Host> Node<H> {
    /// Begins to migrate slots to the node of this id.
    pub fn start_migration(
        self: &Rc<Self>,
        slots: SlotRange,
        to: &str,
    ) -> Result<Ticket, NoMigration> {
        self.cluster.borrow_mut().start_migration(slots, to)?;
        let desk = &self.migration;
        desk.is_stopped.set(false);
        let ticket = Ticket(desk.ended.count());
        let address = self
            .cluster
            .borrow()
            .topology()
            .and_then(|topology| topology.member(to))
            .map(|member| member.address());
        let job = Job::new(self, slots, to, address.unwrap_or_default());
        self.say(&format!("[migrate] Start migrating slot(s) {slots} to {}", job.address()));
        *desk.task.borrow_mut() = Some(self.host.keep_running(job.run()));
        Ok(ticket)
    }

    /// Waits for a job's end, at most so long (0: for ever); `None` when the time ran out.
    pub async fn migrated(&self, ticket: Ticket, patience: Duration) -> Option<Result<(), String>> {
        let ended = self.migration.ended.after(ticket.0);
        match patience.is_zero() {
            true => ended.await,
            false => within(&self.host, patience, ended).await?,
        }
        self.migration.outcome.borrow().clone()
    }
}
