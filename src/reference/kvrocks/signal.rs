//! Something has happened: wakes all who wait for it, in the order that they came.
//!
//! A count tells whether it has happened since one last looked, so nobody misses it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

#[derive(Debug, Default)]
pub struct Signal {
    count: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

impl Signal {
    /// How often it has happened.
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    pub fn give(&self) {
        self.count.set(self.count.get() + 1);
        for waker in self.waiting.take() {
            waker.wake();
        }
    }

    /// Waits until it has happened more often than this.
    pub async fn after(&self, seen: u64) {
        poll_fn(|cx| {
            if self.count.get() > seen {
                return Poll::Ready(());
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}
