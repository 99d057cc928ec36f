//! What the loop tells the outside, and how the outside tells the loop to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

use crate::op::Event;
use crate::watch::Violation;

/// Takes events as they happen: a file, a progress line.
pub trait Sink {
    fn record(&mut self, event: &Event);

    /// Called before a fault is installed or undone, after its event was recorded: what has been
    /// recorded must be safe on disk when this returns.
    fn write_ahead(&mut self, event: &Event);

    /// Called when nothing more will come.
    fn flush(&mut self);

    /// What has been found in the events so far, if that is to end the main phase.
    fn violation(&mut self) -> Option<Violation> {
        None
    }
}

/// Counts requests to stop (Ctrl-C, SIGTERM) and wakes the loop. Cheap to clone, safe across threads.
#[derive(Clone, Default)]
pub struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    count: AtomicU32,
    notify: Notify,
}

impl Interrupt {
    pub fn raise(&self) {
        self.shared.count.fetch_add(1, Ordering::SeqCst);
        self.shared.notify.notify_one();
    }

    pub fn count(&self) -> u32 {
        self.shared.count.load(Ordering::SeqCst)
    }

    pub async fn raised(&self) {
        self.shared.notify.notified().await;
    }
}
