//! How fast a migration may send.

use std::time::Duration;

use crate::reference::host::Host;

/// Waits as needed to stay below a rate.
#[derive(Debug, Default)]
pub struct Pace {
    /// When the next piece may go, by the host's monotonic clock.
    next: Duration,
}

impl Pace {
    /// Waits until a piece may be sent that takes so long at the given rate.
    pub async fn step<H: Host>(&mut self, host: &H, takes: Duration) {
        let now = host.monotonic();
        let begins = self.next.max(now);
        self.next = begins + takes;
        if begins > now {
            host.sleep(begins - now).await;
        }
    }
}

/// What so many things take at this rate a second; no time where there is no rate.
pub fn time_of(count: u64, rate: Option<u64>) -> Duration {
    let Some(rate) = rate else { return Duration::ZERO };
    Duration::from_micros(count.saturating_mul(1_000_000) / rate.max(1))
}
