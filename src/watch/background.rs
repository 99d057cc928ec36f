//! A watch on a thread of its own, for a run that must not wait for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Violation, Watch};
use crate::op::Event;

/// Of the thread's time, one part in so many goes into looking.
const IDLE_FOR_EACH_LOOK: u32 = 4;

const SHORTEST_IDLE: Duration = Duration::from_millis(500);

/// The thread and what it has seen. Ends with its owner.
pub struct Background {
    events: Option<Sender<Event>>,
    seen: Arc<OnceLock<Violation>>,
    full: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts the thread. `watch` is made on it, as checkers stay where they are made.
    pub fn start(watch: impl FnOnce() -> Watch + Send + 'static) -> std::io::Result<Background> {
        let (events, coming) = channel();
        let (seen, full) = (Arc::new(OnceLock::new()), Arc::new(AtomicBool::new(false)));
        let over = Arc::new(AtomicBool::new(false));
        let (found, is_full, is_over) = (seen.clone(), full.clone(), over.clone());
        let work = move || follow(watch(), &coming, &found, &is_full, &is_over);
        let thread = std::thread::Builder::new().name("watch".into()).spawn(work)?;
        Ok(Background { events: Some(events), seen, full, over, thread: Some(thread) })
    }

    pub fn observe(&mut self, event: &Event) {
        if let Some(events) = &self.events {
            // A thread that has seen a violation takes nothing in any more.
            let _ = events.send(event.clone());
        }
    }

    /// The first violation, once it has been seen.
    pub fn seen(&self) -> Option<&Violation> {
        self.seen.get()
    }

    /// As [`Watch::is_full`].
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.events = None;
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn follow(
    mut watch: Watch,
    coming: &Receiver<Event>,
    found: &OnceLock<Violation>,
    full: &AtomicBool,
    over: &AtomicBool,
) {
    let is_over = || over.load(Ordering::Relaxed);
    let mut idle_until = Instant::now() + SHORTEST_IDLE;
    let mut looked_at = 0;
    loop {
        let wait = idle_until.saturating_duration_since(Instant::now());
        let violation = match coming.recv_timeout(wait) {
            Ok(event) => {
                let violation = watch.observe(&event);
                full.store(watch.is_full(), Ordering::Relaxed);
                violation
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let began = Instant::now();
                let violation = match watch.events() > looked_at {
                    true => watch.look(&is_over),
                    false => None,
                };
                looked_at = watch.events();
                let idle = (began.elapsed() * IDLE_FOR_EACH_LOOK).max(SHORTEST_IDLE);
                idle_until = Instant::now() + idle;
                violation
            }
        };
        if let Some(violation) = violation {
            let _ = found.set(violation);
            return;
        }
    }
}
