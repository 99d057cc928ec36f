//! Ticks at a fixed pace: at most one waits for a listener who is late, the rest are dropped.

use std::time::Duration;

use crate::reference::host::Host;

pub struct Ticker<H> {
    host: H,
    every: Duration,
    next: Duration,
}

impl<H: Host> Ticker<H> {
    /// The first tick comes after one interval.
    pub fn new(host: &H, every: Duration) -> Ticker<H> {
        Ticker { host: host.clone(), every, next: host.monotonic() + every }
    }

    /// Nothing is lost if this is dropped before it is done.
    pub async fn tick(&mut self) {
        if let Some(time) = self.next.checked_sub(self.host.monotonic()) {
            self.host.sleep(time).await;
        }
        let late = self.host.monotonic().saturating_sub(self.next);
        let missed = late.as_nanos() / self.every.as_nanos().max(1);
        self.next += self.every * u32::try_from(missed + 1).unwrap_or(u32::MAX);
    }
}
