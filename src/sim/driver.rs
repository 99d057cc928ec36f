//! The one task that moves a world along tokio's paused clock.
//!
//! tokio's timers have a grain of 1 ms. The driver sleeps until the millisecond that follows the next
//! event, then performs all events that are due, each at its exact virtual time, and lets programs run
//! after each. What tasks of the runtime see of time is therefore whole milliseconds; what servers,
//! programs and the network see is nanoseconds.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::world::Handle;
use crate::op::{MILLISECOND, Nanos};

/// Its future must run unconstrained: programs' tasks share its budget.
pub struct Driver {
    world: Handle,
    sleep: Pin<Box<Sleep>>,
}

impl Driver {
    pub fn new(world: Handle) -> Driver {
        Driver { world, sleep: Box::pin(tokio::time::sleep_until(Instant::now())) }
    }
}

/// Whoever waits for the world must learn that it stands still, also when a defect stopped it.
impl Drop for Driver {
    fn drop(&mut self) {
        self.world.end(std::thread::panicking());
    }
}

impl Future for Driver {
    type Output = ();

    /// Never ends: whoever spawned it stops it.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let (now, start) = (self.world.now(), self.world.start());
            self.world.with(|world| world.driver = None);
            self.world.advance(now);
            self.world.rest(cx.waker());
            let next = self.world.with(|world| {
                let next = world.next_at();
                world.driver = Some((next.unwrap_or(Nanos::MAX), cx.waker().clone()));
                next
            });
            let Some(next) = next else { return Poll::Pending };
            let wake_at = Duration::from_nanos(next.next_multiple_of(MILLISECOND));
            self.sleep.as_mut().reset(start + wake_at);
            if self.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}
