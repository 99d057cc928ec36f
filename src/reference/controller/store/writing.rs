//! How metadata are written: where the variants differ.
//!
//! * as shipped: over whatever is there. The version in the document is compared before, so two controllers
//!   that read the same version both write, and the first one's change is lost.
//! * `cas`: only over the znode version that was read.
//! * `fenced`: the same, in one transaction with a check that the leader's znode is there and that no election
//!   came after its own: a deposed leader writes nothing, nor does a follower.
//! * `wall-clock-lease`: whoever holds the lease keeps the documents in mind and answers from there. It writes
//!   over the znode version that it wrote last; another one must come from a write of its own whose answer was
//!   lost, since nobody else may write, so it goes over that, too. The lease is judged after that version was
//!   read, and whoever takes the lease over writes every document anew before anything else. That is sound
//!   while all wall clocks agree. If they do not, then two hold the lease, and one overwrites the other: an
//!   acknowledged change vanishes, and one version has two contents.

use super::{Key, MODE, Store, is_taken, path_of};
use crate::cluster::{CoordinationError, MultiOp, MultiResult};
use crate::reference::ControllerVariant;
use crate::reference::controller::document::{Cluster, json};
use crate::reference::controller::election::epoch_path;
use crate::reference::controller::failure::Failure;
use crate::reference::host::Host;

/// A leader's znode is created and never changed.
const UNCHANGED: i32 = 0;

fn deposed() -> Failure {
    Failure::internal("this controller does not lead any more")
}

impl<H: Host> Store<H> {
    fn variant(&self) -> ControllerVariant {
        self.config.variant
    }

    /// The document as a writer of this variant knows it.
    pub(super) async fn recall(&self, key: &Key) -> Result<Cluster, Failure> {
        let by_lease = self.variant() == ControllerVariant::WallClockLease;
        if !by_lease || !self.leadership.is_leader() {
            return self.read(key).await;
        }
        if let Some(cluster) = self.memory.borrow().get(key) {
            return Ok(cluster.clone());
        }
        let cluster = self.read(key).await?;
        self.memory.borrow_mut().insert(key.clone(), cluster.clone());
        Ok(cluster)
    }

    pub(super) async fn write_new(&self, key: &Key, cluster: &Cluster) -> Result<(), Failure> {
        let (path, data) = (path_of(key), json(cluster).into_bytes());
        let created = match self.variant() {
            ControllerVariant::AsShipped => return Ok(self.engine.put(&path, &data).await?),
            ControllerVariant::Cas => self.engine.create(&path, &data, MODE).await,
            ControllerVariant::Fenced => {
                // Above it nothing is worth a fence.
                let above = super::clusters_path(&key.0);
                match self.engine.create(&above, b"", MODE).await {
                    Ok(()) | Err(CoordinationError::NodeExists) => {}
                    Err(error) => return Err(error.into()),
                }
                let part = MultiOp::Create { path, data, mode: MODE };
                return self.fenced(part).await.map(drop);
            }
            ControllerVariant::WallClockLease if !self.leadership.is_leader() => {
                return Err(deposed());
            }
            ControllerVariant::WallClockLease => self.engine.create(&path, &data, MODE).await,
        };
        match created {
            Err(error) if is_taken(&error) => Err(Failure::already_exists().of("cluster")),
            created => Ok(created?),
        }
    }

    pub(super) async fn write(&self, key: &Key, cluster: &mut Cluster) -> Result<(), Failure> {
        let (path, data) = (path_of(key), json(cluster).into_bytes());
        match self.variant() {
            ControllerVariant::AsShipped => Ok(self.engine.put(&path, &data).await?),
            ControllerVariant::Cas => {
                let written = self.engine.set(&path, &data, Some(cluster.znode_version)).await;
                cluster.znode_version = written.map_err(conflict)?.version;
                Ok(())
            }
            ControllerVariant::Fenced => {
                let version = Some(cluster.znode_version);
                cluster.znode_version = self.fenced(MultiOp::Set { path, data, version }).await?;
                Ok(())
            }
            ControllerVariant::WallClockLease => self.write_by_lease(key, cluster, &data).await,
        }
    }

    /// Does this in one transaction with the proof of its office; the version that a znode has then.
    async fn fenced(&self, part: MultiOp) -> Result<i32, Failure> {
        let fence = self.leadership.fence().filter(|_| self.leadership.is_leader());
        let Some(fence) = fence else { return Err(deposed()) };
        let office = self.config.elect_path.clone();
        let parts = vec![
            MultiOp::Check { path: office, version: UNCHANGED },
            MultiOp::Check { path: epoch_path(&self.config), version: fence },
            part,
        ];
        match self.engine.multi(parts).await {
            Ok(results) => Ok(match results.last() {
                Some(MultiResult::Set { stat }) => stat.version,
                _ => 0,
            }),
            Err((Some(0 | 1), _)) => Err(deposed()),
            Err((_, error)) if is_taken(&error) => Err(Failure::already_exists().of("cluster")),
            Err((_, error)) => Err(conflict(error)),
        }
    }

    async fn write_by_lease(
        &self,
        key: &Key,
        cluster: &mut Cluster,
        data: &[u8],
    ) -> Result<(), Failure> {
        let path = path_of(key);
        let mut expected = cluster.znode_version;
        loop {
            if !self.leadership.is_leader() {
                return Err(deposed());
            }
            match self.engine.set(&path, data, Some(expected)).await {
                Ok(stat) => {
                    cluster.znode_version = stat.version;
                    self.memory.borrow_mut().insert(key.clone(), cluster.clone());
                    return Ok(());
                }
                Err(CoordinationError::BadVersion) => {
                    let stat = self.engine.exists(&path).await?;
                    expected = stat.ok_or_else(|| Failure::not_found().of("cluster"))?.version;
                }
                Err(error) => {
                    // It may have been written: only ZooKeeper knows.
                    self.memory.borrow_mut().remove(key);
                    return Err(error.into());
                }
            }
        }
    }

    /// Before a new holder of the lease does anything: writes every document anew, so that no late write of
    /// an earlier holder can succeed.
    pub async fn take_possession(&self) -> Result<(), Failure> {
        self.memory.borrow_mut().clear();
        for key in self.all().await? {
            self.take_possession_of(&key).await?;
        }
        Ok(())
    }

    async fn take_possession_of(&self, key: &Key) -> Result<(), Failure> {
        loop {
            let path = path_of(key);
            let Some((data, stat)) = self.engine.get(&path).await? else { return Ok(()) };
            match self.engine.set(&path, &data, Some(stat.version)).await {
                Ok(_) | Err(CoordinationError::NoNode) => return Ok(()),
                Err(CoordinationError::BadVersion) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn conflict(error: CoordinationError) -> Failure {
    match error {
        CoordinationError::BadVersion => Failure::updated_by_others(),
        error => error.into(),
    }
}
