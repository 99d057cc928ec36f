//! Leadership as a lease: a znode names the holder and until when, by the wall clock.
//!
//! Each controller judges the lease by its own wall clock, so a clock that is ahead takes it from a holder
//! who still believes in it, until that one next renews it; and a holder whose clock is set back goes on
//! believing in a lease that has ended for everybody else.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Shared;
use super::document::json;
use super::failure::Failure;
use crate::cluster::{CoordinationError, CreateMode, MultiOp, MultiResult};
use crate::reference::host::Host;

const LEASE_MS: i64 = 6_000;
/// It is renewed when no more than this is left.
const RENEWAL_MS: i64 = 3_000;
/// A holder stops so long before the end: clocks may differ by so much.
const MARGIN_MS: i64 = 500;
const LOOK: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Lease {
    holder: String,
    ends_ms: i64,
}

/// A lease of its own.
#[derive(Clone, Copy, Debug)]
struct Held {
    znode_version: i32,
    ends_ms: i64,
}

struct Holder<H: Host> {
    shared: Rc<Shared<H>>,
    held: Cell<Option<Held>>,
}

fn lease_path(elect_path: &str) -> String {
    format!("{elect_path}-lease")
}

/// Takes the lease when it may and renews it, for as long as the process lives.
pub async fn hold<H: Host>(shared: Rc<Shared<H>>) {
    let holder = Holder { shared, held: Cell::new(None) };
    let mut led = false;
    loop {
        // What fails is tried again; the end of the lease waits for nobody.
        let _ = holder.look().await;
        let leads = holder.shared.leadership.is_leader();
        if leads != led {
            holder.shared.leadership.changed();
            led = leads;
        }
        holder.shared.host.sleep(LOOK).await;
    }
}

impl<H: Host> Holder<H> {
    fn now_ms(&self) -> i64 {
        self.shared.host.wall_ms()
    }

    fn path(&self) -> String {
        lease_path(&self.shared.config.elect_path)
    }

    fn own(&self) -> Lease {
        let holder = self.shared.leadership.id().to_owned();
        Lease { holder, ends_ms: self.now_ms() + LEASE_MS }
    }

    async fn look(&self) -> Result<(), Failure> {
        if let Some(held) = self.held.get() {
            if held.ends_ms - self.now_ms() > RENEWAL_MS {
                return Ok(());
            }
            let lease = self.own();
            let data = json(&lease).into_bytes();
            match self.shared.engine.set(&self.path(), &data, Some(held.znode_version)).await {
                Ok(stat) => {
                    self.keep(stat.version, lease.ends_ms);
                    return Ok(());
                }
                Err(CoordinationError::BadVersion | CoordinationError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let Some((data, stat)) = self.shared.engine.get(&self.path()).await? else {
            return self.take(None).await;
        };
        match serde_json::from_slice::<Lease>(&data) {
            Ok(lease) if lease.holder == self.shared.leadership.id() => {
                let was_held = self.held.get().is_some();
                self.keep(stat.version, lease.ends_ms);
                if was_held { Ok(()) } else { self.begin().await }
            }
            Ok(lease) if lease.ends_ms > self.now_ms() => {
                self.held.set(None);
                self.shared.leadership.set_leader(&lease.holder);
                Ok(())
            }
            _ => self.take(Some(stat.version)).await,
        }
    }

    fn keep(&self, znode_version: i32, ends_ms: i64) {
        self.held.set(Some(Held { znode_version, ends_ms }));
        self.shared.leadership.set_lease_end(ends_ms - MARGIN_MS);
    }

    /// Takes the lease and the leader's znode together.
    async fn take(&self, version: Option<i32>) -> Result<(), Failure> {
        self.held.set(None);
        let (engine, office) = (&self.shared.engine, &self.shared.config.elect_path);
        let lease = self.own();
        let data = json(&lease).into_bytes();
        let mode = CreateMode::Persistent;
        if version.is_none() {
            // What is above it is created with it.
            match engine.create(&self.path(), b"", mode).await {
                Ok(()) | Err(CoordinationError::NodeExists) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        let mut parts = vec![MultiOp::Set { path: self.path(), data, version }];
        if engine.exists(office).await?.is_some() {
            parts.push(MultiOp::Delete { path: office.clone(), version: None });
        }
        let id = self.shared.leadership.id().as_bytes().to_vec();
        parts.push(MultiOp::Create { path: office.clone(), data: id, mode });
        let results = engine.multi(parts).await.map_err(|(_, error)| Failure::from(error))?;
        if let Some(MultiResult::Set { stat }) = results.first() {
            self.keep(stat.version, lease.ends_ms);
        }
        self.begin().await
    }

    /// Leads from now on.
    async fn begin(&self) -> Result<(), Failure> {
        let possession = self.shared.store.take_possession().await;
        if possession.is_err() {
            // It is held, but not led: the next look begins again.
            self.held.set(None);
        }
        possession?;
        self.shared.leadership.set_leader(self.shared.leadership.id());
        Ok(())
    }
}
