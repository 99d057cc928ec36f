//! What comes with leading: checkers of all clusters, which come and go with the office.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use futures::StreamExt;
use futures::channel::mpsc::UnboundedReceiver;
use futures::channel::oneshot;

use super::Shared;
use super::checker::Checking;
use super::store::{Event, Key};
use crate::reference::host::Host;

/// After a failure to begin it waits so long.
const REST: Duration = Duration::from_secs(1);

struct Office<H: Host> {
    shared: Rc<Shared<H>>,
    checkers: RefCell<BTreeMap<Key, Checking>>,
}

/// Follows changes of leadership and of metadata in tasks of its own; returns when a leader is known.
pub async fn run<H: Host>(
    shared: &Rc<Shared<H>>,
    changes: UnboundedReceiver<()>,
    events: UnboundedReceiver<Event>,
) {
    let office = Rc::new(Office { shared: shared.clone(), checkers: RefCell::default() });
    let (known, is_known) = oneshot::channel();
    shared.host.run(office.clone().follow_leadership(changes, known));
    shared.host.run(office.follow_events(events));
    let _ = is_known.await;
}

impl<H: Host> Office<H> {
    async fn follow_leadership(
        self: Rc<Self>,
        mut changes: UnboundedReceiver<()>,
        known: oneshot::Sender<()>,
    ) {
        let mut known = Some(known);
        let mut leads = false;
        while let Some(()) = changes.next().await {
            if let Some(known) = known.take() {
                let _ = known.send(());
            }
            match (leads, self.shared.leadership.is_leader()) {
                (false, true) => leads = self.resume().await,
                (true, false) => {
                    self.checkers.take();
                    leads = false;
                    self.shared.log.warn("Lost the leader, suspend the controller", &[]);
                }
                _ => {}
            }
        }
    }

    /// Begins to look after all clusters; false if it did not come to that before the office was lost.
    async fn resume(&self) -> bool {
        while self.shared.leadership.is_leader() {
            match self.shared.store.all().await {
                Ok(clusters) => {
                    clusters.into_iter().for_each(|key| self.add(key));
                    self.shared.log.info("Became the leader, resume the controller", &[]);
                    return true;
                }
                Err(error) => {
                    let fields = [("error", error.to_string().into())];
                    self.shared.log.error("Failed to resume the controller", &fields);
                    self.shared.host.sleep(REST).await;
                }
            }
        }
        false
    }

    fn add(&self, key: Key) {
        let mut checkers = self.checkers.borrow_mut();
        checkers.entry(key.clone()).or_insert_with(|| Checking::start(&self.shared, key));
    }

    /// Only the leader follows, and only what it changed itself. A cluster that a follower creates is looked
    /// after from the next election on.
    async fn follow_events(self: Rc<Self>, mut events: UnboundedReceiver<Event>) {
        while let Some(event) = events.next().await {
            if !self.shared.leadership.is_leader() {
                continue;
            }
            match event {
                Event::Created(key) => self.add(key),
                Event::Removed(key) => drop(self.checkers.borrow_mut().remove(&key)),
                Event::Updated(key) => {
                    if let Some(checking) = self.checkers.borrow_mut().get_mut(&key) {
                        checking.ask_for_sync();
                    }
                }
            }
        }
    }
}
