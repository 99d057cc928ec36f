//! Election by an ephemeral znode: who creates it leads, everybody else waits for it to go.

use std::rc::Rc;
use std::time::Duration;

use super::config::Config;
use super::engine::{self, Engine};
use super::leadership::Leadership;
use crate::cluster::{Coordination, CoordinationError, CreateMode, Watch, WatchKind, Watched};
use crate::reference::ControllerVariant;
use crate::reference::host::Host;

/// After a failure it waits so long before it stands again.
const REST: Duration = Duration::from_secs(1);

/// A znode beside the leader's whose version counts the elections: a write that checks it cannot come from
/// an earlier term. The leader's own znode would not do, since every new one is of version 0.
pub fn epoch_path(config: &Config) -> String {
    format!("{}-epoch", config.elect_path)
}

/// Stands for election for as long as the process lives.
pub async fn stand<H: Host>(
    host: H,
    config: Rc<Config>,
    engine: Rc<Engine<H>>,
    leadership: Rc<Leadership<H>>,
) {
    loop {
        let session = engine.any_session().await;
        let candidate = Candidate { config: &config, session: &*session, leadership: &leadership };
        // What it believes stays as it is: that its session is over tells nothing of who leads.
        let _ = candidate.stand().await;
        host.sleep(REST).await;
    }
}

struct Candidate<'a, H: Host> {
    config: &'a Config,
    session: &'a H::Session,
    leadership: &'a Leadership<H>,
}

impl<H: Host> Candidate<'_, H> {
    /// Until something fails.
    async fn stand(&self) -> Result<(), CoordinationError> {
        self.leadership.set_fence(None);
        self.create().await?;
        loop {
            let watched = self.session.watch(&self.config.elect_path, Watch::Data).await?;
            let leader = match self.session.get(&self.config.elect_path).await {
                Ok((data, _)) => String::from_utf8_lossy(&data).into_owned(),
                Err(CoordinationError::NoNode) => {
                    self.create().await?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if leader == self.leadership.id() {
                self.fence().await?;
            }
            self.leadership.set_leader(&leader);
            match watched.fired().await.kind {
                WatchKind::SessionLost => return Ok(()),
                WatchKind::Deleted => {
                    self.leadership.set_fence(None);
                    self.create().await?;
                }
                _ => {}
            }
        }
    }

    /// Creates the leader's znode, if there is none.
    async fn create(&self) -> Result<(), CoordinationError> {
        let (path, id) = (&self.config.elect_path, self.leadership.id().as_bytes());
        match engine::create(self.session, path, id, CreateMode::Ephemeral).await {
            Err(CoordinationError::NodeExists) => Ok(()),
            done => done,
        }
    }

    /// Opens a new term, which ends the writes of all earlier ones.
    async fn fence(&self) -> Result<(), CoordinationError> {
        if self.config.variant != ControllerVariant::Fenced || self.leadership.fence().is_some() {
            return Ok(());
        }
        let path = epoch_path(self.config);
        let id = self.leadership.id().as_bytes();
        if self.session.exists(&path).await?.is_none() {
            match engine::create(self.session, &path, b"", CreateMode::Persistent).await {
                Ok(()) | Err(CoordinationError::NodeExists) => {}
                Err(error) => return Err(error),
            }
        }
        let stat = self.session.set(&path, id, None).await?;
        self.leadership.set_fence(Some(stat.version));
        Ok(())
    }
}
