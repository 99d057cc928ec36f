//! The dead man's switch: a deadline that any sign of life moves, and a thread that watches it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// It runs from the first sign of life on.
pub struct Lease {
    length: Duration,
    deadline: Mutex<Option<Instant>>,
    started: Condvar,
}

impl Lease {
    pub fn new(length: Duration) -> Lease {
        Lease { length, deadline: Mutex::new(None), started: Condvar::new() }
    }

    pub fn length(&self) -> Duration {
        self.length
    }

    pub fn extend(&self) {
        let mut deadline = self.lock();
        if deadline.replace(Instant::now() + self.length).is_none() {
            self.started.notify_one();
        }
    }

    /// Returns when the lease has run out; the next sign of life starts it again.
    pub fn await_expiry(&self) {
        let mut deadline = self.lock();
        loop {
            let now = Instant::now();
            deadline = match *deadline {
                None => self.started.wait(deadline).unwrap_or_else(PoisonError::into_inner),
                Some(end) if end <= now => {
                    *deadline = None;
                    return;
                }
                // An extension needs no wake-up: the deadline is looked at again when this ends.
                Some(end) => {
                    let waited = self.started.wait_timeout(deadline, end - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_expires_no_earlier_than_its_length_after_the_last_sign_of_life() {
        let lease = Lease::new(Duration::from_millis(20));
        lease.extend();
        let last = Instant::now();
        lease.extend();
        lease.await_expiry();
        assert!(Instant::now() >= last + lease.length());
    }

    #[test]
    fn it_starts_again_after_it_expired() {
        let lease = Lease::new(Duration::from_millis(1));
        for _ in 0..2 {
            lease.extend();
            lease.await_expiry();
        }
        assert_eq!(*lease.lock(), None);
    }
}
