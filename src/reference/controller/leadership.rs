//! Who leads, as far as this controller knows.

use std::cell::{Cell, RefCell};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

use crate::reference::host::Host;

/// It is told only of changes; between them it goes on believing what it was told last.
pub struct Leadership<H> {
    host: H,
    id: String,
    leader: RefCell<String>,
    /// Until when its own lease lasts, by its own wall clock; `None` where office needs no lease.
    lease_ends_ms: Cell<Option<i64>>,
    /// What its writes are bound to, where they are.
    fence: Cell<Option<i32>>,
    changes: UnboundedSender<()>,
}

impl<H: Host> Leadership<H> {
    /// The id is new for every start: `<8 random chars>/<addr>`. The receiver hears of each change.
    pub fn new(host: H, addr: &str) -> (Leadership<H>, UnboundedReceiver<()>) {
        let mut chance = host.chance(&format!("session of a start at {}", host.wall_ms()));
        let id = format!("{}/{addr}", super::letters(&mut chance, 8));
        let (changes, heard) = unbounded();
        let leadership = Leadership {
            host,
            id,
            leader: RefCell::default(),
            lease_ends_ms: Cell::default(),
            fence: Cell::default(),
            changes,
        };
        (leadership, heard)
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The leader's id; empty until one is known.
    pub fn leader(&self) -> String {
        self.leader.borrow().clone()
    }

    /// Where the leader is reached.
    pub fn leader_addr(&self) -> String {
        let leader = self.leader();
        leader.split_once('/').map(|(_, addr)| addr.to_owned()).unwrap_or(leader)
    }

    pub fn is_leader(&self) -> bool {
        let has_lease = self.lease_ends_ms.get().is_none_or(|ends| self.host.wall_ms() < ends);
        *self.leader.borrow() == self.id && has_lease
    }

    pub fn set_leader(&self, leader: &str) {
        if !leader.is_empty() && *self.leader.borrow() != leader {
            *self.leader.borrow_mut() = leader.to_owned();
            self.changed();
        }
    }

    /// Lets everybody look again whether it leads.
    pub fn changed(&self) {
        // Nobody listens any more only when the process ends.
        let _ = self.changes.unbounded_send(());
    }

    pub fn set_lease_end(&self, ends_ms: i64) {
        self.lease_ends_ms.set(Some(ends_ms));
    }

    pub fn fence(&self) -> Option<i32> {
        self.fence.get()
    }

    pub fn set_fence(&self, fence: Option<i32>) {
        self.fence.set(fence);
    }
}
