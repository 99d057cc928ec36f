//! What the agent's threads share: all that is in force, the lease and the way out to the orchestrator.
//!
//! Nothing waits for the orchestrator while it holds what is in force, so healing never waits for it
//! either.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cap::Caps;
use super::clock::Clocks;
use super::fault_table::FaultTables;
use super::interposer::{Interposers, Sighting};
use super::lease::Lease;
use super::protocol::{Cause, Healed, Message, Tally};
use super::refusal::Refusals;

pub struct Session {
    tables: Mutex<FaultTables>,
    refusals: Mutex<Refusals>,
    caps: Mutex<Caps>,
    clocks: Mutex<Clocks>,
    interposers: Mutex<Interposers>,
    pub lease: Lease,
}

impl Session {
    pub fn new(run: &str, tables: FaultTables, interposers: Interposers, lease: Lease) -> Session {
        let (tables, refusals) = (Mutex::new(tables), Mutex::new(Refusals::new(run)));
        let (caps, clocks) = (Mutex::default(), Mutex::default());
        let interposers = Mutex::new(interposers);
        Session { tables, refusals, caps, clocks, interposers, lease }
    }

    /// A thread that panicked leaves the tables usable: each change was one transaction.
    pub fn tables(&self) -> MutexGuard<'_, FaultTables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each change of a cap is recorded before it is made, so one that was cut short can be taken back.
    pub fn caps(&self) -> MutexGuard<'_, Caps> {
        self.caps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Likewise: the state of a clock is in the process whose clock it is.
    pub fn clocks(&self) -> MutexGuard<'_, Clocks> {
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each order to an interposer is carried out as a whole.
    pub fn interposers(&self) -> MutexGuard<'_, Interposers> {
        self.interposers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn heal(&self, because: Cause) -> Healed {
        let (mut tallies, mut left, closed) = {
            let mut tables = self.tables();
            let (tallies, left) = tables.heal();
            (tallies, left, tables.is_closed())
        };
        let (refused, refusing) = self.refusals().heal();
        let (hit, capped) = self.caps().heal();
        let (hits, armed) = self.interposers().heal();
        tallies.extend(refused.into_iter().chain(hits));
        tallies.extend(hit.into_iter().map(|(fault, packets)| Tally { fault, packets, probes: 0 }));
        left.extend(refusing.into_iter().chain(capped).chain(armed));
        let tallies = Tally::summed(tallies);
        // Links do not wait for a clock that is just being changed.
        let mut skewed = self.clocks();
        if closed {
            skewed.close();
        }
        let (clocks, still_skewed) = skewed.heal_all();
        left.extend(still_skewed);
        Healed { because, tallies, clocks, swept: Vec::new(), left }
    }

    /// Passes on what interposers see, until they are gone.
    pub fn tell(&self, sightings: &Receiver<Sighting>) {
        while let Ok(Sighting { concerning, node, message, at }) = sightings.recv() {
            let age_us = at.elapsed().as_micros() as u64;
            self.say(&Message::Seen { concerning, node, message, age_us });
        }
    }

    /// Heals for good and says so, once.
    pub fn end(&self, because: Cause) {
        {
            let mut tables = self.tables();
            if tables.is_closed() {
                return;
            }
            tables.close();
            self.refusals().close();
            self.caps().close();
        }
        self.say(&Message::Healed { healed: self.heal(because) });
    }

    pub fn say(&self, message: &Message) {
        let mut line = match serde_json::to_string(message) {
            Ok(line) => line,
            Err(error) => return eprintln!("cannot say {message:?}: {error}"),
        };
        line.push('\n');
        let mut output = io::stdout().lock();
        // Nobody is there to be told that nobody listens; the end of input will follow.
        let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
    }

    /// Heals each time the lease runs out.
    pub fn watch_lease(&self) {
        loop {
            self.lease.await_expiry();
            let healed = self.heal(Cause::LeaseExpired);
            self.say(&Message::Healed { healed });
        }
    }
}
